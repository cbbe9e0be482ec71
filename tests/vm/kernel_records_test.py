# SPDX-License-Identifier: MIT
# What a request for kernel records can select: a process, a port, fenced reads, counters.
import re

import kernel_trace
import nsmod_guest
from nsmod_guest import build_modules as setUpModule

INTERRUPT, SWITCH = 1, 2
# Traffic of a process that is selected, and of another one.
SCRIPT = (
    kernel_trace.SHOW_FILE
    + nsmod_guest.STREAM
    + """
ifconfig lo up
echo hello >data
record() {
    name=$1
    shift
    vm_kernel_recorder "$@" >$name.nsl 2>$name.err || echo "$name failed: $(cat $name.err)"
    [ -s $name.nsl ] && nsdump check $name.nsl
    show_file $name.nsl
}
ping -i 0.01 127.0.0.1 >/dev/null &
ping=$!
ping -i 0.01 127.0.0.1 >/dev/null &
echo "ping is $ping"
record all net_rx,net_tx,irq,softirq,sched 300
record process net_rx,net_tx,irq,softirq,sched 500 pid=$ping ordered
unshare -p -f sh -c 'ping -i 0.01 127.0.0.1 >/dev/null & vm_kernel_recorder sched 300 pid=$! >inner.nsl 2>inner.err || cat inner.err; kill $!'
show_file inner.nsl
record port net_tx 0 port=5555 -- sh stream 127.0.0.1 5555
record other-port net_tx 0 port=5556 -- sh stream 127.0.0.1 5555
kill $ping
wait $ping
record no-process sched 1 pid=$ping
record counted sched 1 counter=instructions:0:1
record software sched 1 counter=switches:1:3
record two-names sched 1 counter=a,b:0:1
rmmod nsmod && echo "unloaded"
"""  # noqa: E501, shell text
)


class KernelRecords(nsmod_guest.NsmodTest):
    programs = ("vm_kernel_recorder",)
    timeout_s = 180

    def test_a_request_chooses_what_is_recorded_and_how(self):
        self.run_guests(SCRIPT, self.check)

    def check(self, result):
        self.assertIn("unloaded", result.output)
        self.assertEqual(
            len(re.findall(r"\.nsl: whole; ", result.output)), 4, result.output[-3000:]
        )
        found = {
            name: kernel_trace.Trace(kernel_trace.from_console(result.output, f"{name}.nsl"))
            for name in ("all", "process", "inner", "port", "other-port")
        }
        self.check_sites(found["all"])
        self.check_calibration(found["all"])
        self.check_process(found, int(re.search(r"ping is (\d+)", result.output).group(1)))
        self.check_port(found)
        self.check_refusals(result.output)

    def check_sites(self, trace):
        flags = trace.flags
        self.assertEqual(flags["softirq", "START"], INTERRUPT)
        self.assertEqual(flags["softirq", "STOP"], INTERRUPT)
        self.assertEqual(flags["irq", "START"], INTERRUPT)
        self.assertEqual(flags["softirq_vector", "MARK"], 0)
        self.assertEqual(flags["sched_switch", "MARK"], SWITCH)
        self.assertEqual(flags["xmit", "START"], 0)

    def check_calibration(self, trace):
        """Both ends, both CPUs, START pair, MARK, INIT, EXIT; only the clock."""
        self.assertEqual(
            {(one.phase, one.cpu, one.kind, one.field) for one in trace.calibration},
            {
                (phase, cpu, kind, 0)
                for phase in (1, 2)
                for cpu in (0, 1)
                for kind in ("START", "MARK", "INIT", "EXIT")
            },
        )
        for one in trace.calibration:
            self.assertGreater(one.batches, 1)
            self.assertGreater(one.outer, 0)
            self.assertTrue(
                0 < one.inner < one.outer if one.kind == "START" else one.inner == 0, one
            )

    def check_process(self, found, process):
        def is_of(record, thread):
            return record.thread == thread or (
                record.name == "sched_switch" and record.words[0] == thread
            )

        self.assertTrue(any(not is_of(one, process) for one in found["all"].records))
        self.assertEqual([one for one in found["process"].records if not is_of(one, process)], [])
        names = {one.name for one in found["process"].records}
        self.assertLessEqual({"sched_switch", "softirq", "tx_bytes", "xmit", "rx_bytes"}, names)
        # a switch to it
        self.assertTrue(any(one.thread != process for one in found["process"].records))
        self.assertEqual(found["process"].info["kernel.filter.pid"], str(process))
        self.assertEqual(
            [found[name].info["kernel.clock.mode"] for name in ("all", "process")],
            ["fast", "ordered"],
        )
        self.assertEqual(found["process"].info["kernel.counters.source"], "none")
        inner = int(found["inner"].info["kernel.filter.pid"])  # 2 or 3 if it was requested
        self.assertGreater(inner, process)
        self.assertTrue(any(one.thread == inner for one in found["inner"].records))

    def check_port(self, found):
        self.assertGreater(len([one for one in found["port"].records if one.name == "xmit"]), 6)
        self.assertEqual(found["other-port"].records, [])

    def check_refusals(self, output):
        for name, reason in {
            "no-process": "ESRCH",
            "counted": "ENOENT",
            "software": "EOPNOTSUPP",
            "two-names": "EINVAL",
        }.items():
            self.assertRegex(output, rf"{name} failed: kernel_recorder: .* \({reason}\)")


if __name__ == "__main__":
    nsmod_guest.run_tests()
