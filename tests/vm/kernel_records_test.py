# SPDX-License-Identifier: MIT
# What a request for kernel records chooses: a process, a port, fenced reads, counters.
import base64
import gzip
import os
import pathlib
import re
import tempfile
import unittest

import guest
import kernel_modules
import kernel_trace

KERNELS = tuple(os.environ.get("NETSLICE_KERNELS", "6.1 6.12").split())
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "nsmod"
INTERRUPT, SWITCH = 1, 2
MODULES = {}  # kernel -> its nsmod.ko
# Traffic of a process that is filtered for, and of another one.
SCRIPT = """
ifconfig lo up
record() {
    name=$1
    shift
    vm_kernel_recorder "$@" >$name.nsl 2>$name.err || echo "$name failed: $(cat $name.err)"
    [ -s $name.nsl ] && nsdump check $name.nsl
    echo "<$name"; gzip -c $name.nsl | base64; echo ">"
}
ping -i 0.01 127.0.0.1 >/dev/null &
ping=$!
ping -i 0.01 127.0.0.1 >/dev/null &
echo "ping is $ping"
record all net_rx,net_tx,irq,softirq,sched 300
record process net_rx,net_tx,irq,softirq,sched 500 pid=$ping ordered
unshare -p -f sh -c 'ping -i 0.01 127.0.0.1 >/dev/null & vm_kernel_recorder sched 300 pid=$! >inner.nsl 2>inner.err || cat inner.err; kill $!'
echo "<inner"; gzip -c inner.nsl | base64; echo ">"
record port net_tx 0 port=5555 -- sh -c "nc -l -p 5555 >/dev/null & usleep 200000; echo hello | nc 127.0.0.1 5555; wait"
record other-port net_tx 0 port=5556 -- sh -c "nc -l -p 5555 >/dev/null & usleep 200000; echo hello | nc 127.0.0.1 5555; wait"
kill $ping
wait $ping
record nobody sched 1 pid=$ping
record counted sched 1 counter=instructions:0:1
record software sched 1 counter=switches:1:3
record two-names sched 1 counter=a,b:0:1
rmmod nsmod && echo "unloaded"
"""


def setUpModule():
    folder = tempfile.TemporaryDirectory(prefix="netslice-records-")
    unittest.addModuleCleanup(folder.cleanup)
    for kernel in KERNELS:
        machine = guest.Amd64Guest(os.environ["NETSLICE_BUILD"], kernel=kernel)
        files, _said = kernel_modules.build(SOURCE, machine.kernel, machine.architecture, pathlib.Path(folder.name) / kernel, "W=1")
        MODULES[kernel] = files["nsmod.ko"]


def traces(output):
    found = re.findall(r"<([a-z-]+)\n([^>]*)>", output)
    return {name: kernel_trace.KernelTrace(gzip.decompress(base64.b64decode(packed))) for name, packed in found}


class KernelRecords(unittest.TestCase):
    def test_a_request_chooses_what_is_recorded_and_how(self):
        for kernel in KERNELS:
            with self.subTest(kernel=kernel):
                machine = guest.Amd64Guest(os.environ["NETSLICE_BUILD"], kernel=kernel, cpus=2)
                machine.add("bin/nsdump")
                machine.add("tests/vm_kernel_recorder")
                machine.add_built_module(MODULES[kernel])
                result = machine.run("insmod /modules/nsmod.ko\n" + SCRIPT)
                self.assertEqual(result.kernel_faults, [], result.output[-3000:])
                self.assertIn("unloaded", result.output)
                self.assertEqual(len(re.findall(r"\.nsl: whole; ", result.output)), 4, result.output[-3000:])
                found = traces(result.output)
                self.check_sites(found["all"])
                self.check_process(found, int(re.search(r"ping is (\d+)", result.output).group(1)))
                self.check_port(found)
                self.check_refusals(result.output)

    def check_sites(self, trace):
        flags = {(site.name, site.kind): site.flags for site in trace.sites.values()}
        self.assertEqual(flags["softirq", kernel_trace.START], INTERRUPT)
        self.assertEqual(flags["softirq", kernel_trace.STOP], INTERRUPT)
        self.assertEqual(flags["irq", kernel_trace.START], INTERRUPT)
        self.assertEqual(flags["softirq_vector", kernel_trace.MARK], 0)
        self.assertEqual(flags["sched_switch", kernel_trace.MARK], SWITCH)
        self.assertEqual(flags["xmit", kernel_trace.START], 0)

    def check_process(self, found, process):
        def is_of(record, thread):
            return record.thread == thread or (record.site.name == "sched_switch" and record.words[0] == thread)

        self.assertTrue(any(not is_of(one, process) for one in found["all"].records))
        self.assertEqual([one for one in found["process"].records if not is_of(one, process)], [])
        names = {one.site.name for one in found["process"].records}
        self.assertLessEqual({"sched_switch", "softirq", "tx_bytes", "xmit", "rx_bytes"}, names)
        self.assertTrue(any(one.thread != process for one in found["process"].records)) # a switch to it
        self.assertEqual(found["process"].info["kernel.filter.pid"], str(process))
        self.assertEqual([found[name].info["kernel.clock.mode"] for name in ("all", "process")], ["fast", "ordered"])
        self.assertEqual(found["process"].info["kernel.counters.source"], "none")
        inner = int(found["inner"].info["kernel.filter.pid"]) # 2 or 3 where it was asked for
        self.assertGreater(inner, process)
        self.assertTrue(any(one.thread == inner for one in found["inner"].records))

    def check_port(self, found):
        self.assertGreater(len([one for one in found["port"].records if one.site.name == "xmit"]), 6)
        self.assertEqual(found["other-port"].records, [])

    def check_refusals(self, output):
        for name, reason in {"nobody": "ESRCH", "counted": "ENOENT", "software": "EOPNOTSUPP", "two-names": "EINVAL"}.items():
            self.assertRegex(output, rf"{name} failed: kernel_recorder: .* \({reason}\)")


if __name__ == "__main__":
    guest.run_tests(guest.Amd64Guest)
