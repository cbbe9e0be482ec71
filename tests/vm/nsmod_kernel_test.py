# SPDX-License-Identifier: MIT
# The kernel's own records, in guests of every kernel: other modules' probes, presets, both sides in
# one trace.
import collections
import re
import shutil
import subprocess

import guest
import kernel_modules
import kernel_trace
import nsmod_guest

PLACES = 9  # number of probes in the example


# kinds FILE: kinds of the chunks in its first 8 MB, in order; a chunk begins with "NSLK" and its
# kind.
KINDS = """
kinds() { echo "kinds: $(head -c 8000000 $1 | od -A n -t x4 -v -w8 | grep 4b4c534e | cut -c 15-18 | tr '\\n' ' ')"; }
"""  # noqa: E501, shell text

# A variant in which the first use of a probe takes long to register its site.
SLOW_MEETING = [
    (
        "src/kernel/kernel_sites.c",
        "#include <linux/llist.h>",
        "#include <linux/delay.h>\n#include <linux/llist.h>",
    ),
    (
        "src/kernel/kernel_sites.c",
        "\t\tllist_add(&site->node, &fresh);",
        "\t{ mdelay(50); llist_add(&site->node, &fresh); }",
    ),
]


def setUpModule():
    nsmod_guest.build_modules("example")
    nsmod_guest.build_changed("slow_meeting", SLOW_MEETING, "meet_module")


def kinds_in(output):
    return [int(kind, 16) for kind in re.search(r"kinds: (.*)", output).group(1).split()]


def tool(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


class NsmodKernel(nsmod_guest.NsmodTest):
    programs = ("vm_writer", "vm_kernel_recorder")

    def with_example(self, machine):
        machine.add_built_module(nsmod_guest.BUILT[machine.kernel.name]["nsmod_example.ko"])

    def test_a_modules_own_slices_are_all_there_though_it_comes_and_goes_meanwhile(self):
        self.run_guests(
            kernel_trace.SHOW_FILE
            + """
            insmod /modules/nsmod_example.ko
            echo 10 >/sys/module/nsmod_example/parameters/run # nothing is recorded yet
            rmmod nsmod_example
            cat >meanwhile <<END
                insmod /modules/nsmod_example.ko
                echo 40 >/sys/module/nsmod_example/parameters/run
                rmmod nsmod_example
                insmod /modules/nsmod_example.ko
                echo 23 >/sys/module/nsmod_example/parameters/run
                echo 0x100000000 >/sys/module/nsmod_example/parameters/run
                true
END
            vm_kernel_recorder "" 0 -- sh meanwhile >trace.nsl
            rmmod nsmod_example && rmmod nsmod && echo unloaded
            nsdump check trace.nsl
            show_file trace.nsl
            """,
            self.check_example,
            self.with_example,
        )

    def check_example(self, result):
        self.check_words("write error: .*[Rr]ange", "unloaded\n", "trace.nsl: whole; ")(result)
        trace = kernel_trace.Trace(kernel_trace.from_console(result.output, "trace.nsl"))
        self.assertEqual(
            collections.Counter(one.name for one in trace.slices()),
            {"packet": 63, "handle": 63, "fill": 63, "check": 63},
        )
        self.assertEqual(
            {(one.name, one.inside) for one in trace.slices()},
            {("packet", None), ("handle", "packet"), ("fill", "handle"), ("check", "handle")},
        )
        self.assertEqual(
            sorted(trace.words("INIT", "packet")),
            sorted((number, 1, 1500) for number in [*range(40), *range(23)]),
        )
        self.assertEqual(len(trace.words("MARK", "checksum")), 63)
        self.assertEqual(len(set(trace.words("MARK", "checksum"))), 40)
        # Both instances of the module used the same ids.
        self.assertEqual(
            {file for _, _, file in trace.sites.values()}, {"nsmod_example/nsmod_example.c"}
        )
        self.assertEqual(len(trace.sites), PLACES)
        self.assertEqual((trace.issued, trace.drained, trace.lost), (PLACES * 63, PLACES * 63, 0))

    def with_meeting(self, machine):
        machine.add("tests/vm_late_site")
        for name in ("slow_meeting.ko", "meet.ko"):
            machine.add_built_module(nsmod_guest.BUILT[machine.kernel.name][name])

    def test_a_site_stands_before_its_first_record_though_it_is_still_being_announced(self):
        self.run_guests(
            kernel_trace.SHOW_FILE
            + KINDS
            + """
            rmmod nsmod && insmod /modules/slow_meeting.ko
            cat /dev/nsmod >late.nsl & vm_late_site; wait
            nsdump check late.nsl
            kinds late.nsl
            vm_kernel_recorder "" 0 -- insmod /modules/meet.ko >trace.nsl
            nsdump check trace.nsl
            show_file trace.nsl
            """,
            self.check_meeting,
            self.with_meeting,
        )

    def check_meeting(self, result):
        self.check_words("late.nsl: whole; 1 record,", "trace.nsl: whole; ")(result)
        self.assertEqual(
            kinds_in(result.output)[:3],
            [kernel_trace.INFO, kernel_trace.SITES, kernel_trace.RECORDS],
        )
        # rejects a record that precedes its site
        trace = kernel_trace.Trace(kernel_trace.from_console(result.output, "trace.nsl"))
        self.assertEqual({record.cpu for record in trace.records}, {0, 1})
        self.assertEqual((trace.count("MARK", "met"), trace.lost), (400, 0))

    def test_cat_records_the_session_and_the_kernel_in_one_trace(self):
        self.run_guests(
            kernel_trace.SHOW_FILE
            + KINDS
            + f"""
            groups=/sys/module/nsmod/parameters/groups
            ifconfig lo up
            mkdir -p /etc && echo "user:x:1000:1000::/:/bin/sh" >/etc/passwd
            chmod 666 /dev/nsmod
            for wrong in net_rx,nonsense net irq/rx; do echo $wrong >$groups; done 2>&1 | grep -c "Invalid argument"
            echo net_rx,softirq >$groups
            echo "groups: $(cat $groups), $(ls -l $groups | cut -c 1-10)"
            # trace RUN_BY: of a writer that stays, until the kernel's part has been seen and five packets have come twice
            trace() {{
                rm -f count
                $1 "cd /tmp; NETSLICE='recorder=nsmod calibration=no' PATH=/test:/bin exec vm_writer 500 count stay" &
                writer=$!
                {nsmod_guest.WRITES}
                $1 "exec cat /dev/nsmod" >trace.nsl &
                reader=$!
                until grep -q kernel.groups trace.nsl; do usleep 20000; done
                ping -c 5 -i 0.05 127.0.0.1 >/dev/null
                killall vm_writer
                wait $writer $reader
                nsdump check trace.nsl | tail -n 1
            }}
            trace "sh -c"
            cp trace.nsl both.nsl
            show_file both.nsl
            trace "su user -c"
            strings trace.nsl | grep kernel.groups
            nsdump stats --all trace.nsl 2>/dev/null | grep ^warning
            vm_kernel_recorder irq 600000 >/dev/null &
            recorder=$!
            sleep 1
            trace "sh -c"
            strings trace.nsl | grep kernel.groups
            kill $recorder; wait $recorder
            # A writer that does not stop: the kinds of the trace's chunks in their order.
            NETSLICE='recorder=nsmod calibration=no ring=256K' vm_writer 0 count & writer=$!
            {nsmod_guest.WRITES}
            cat /dev/nsmod >trace.nsl & reader=$!
            until [ $(stat -c %s trace.nsl) -gt 8000000 ]; do usleep 20000; done
            kill -9 $writer; wait $reader
            kinds trace.nsl
            echo >$groups
            (NETSLICE='recorder=nsmod calibration=no' vm_writer 10 & cat /dev/nsmod >trace.nsl; wait)
            echo "groups afterwards: $(strings trace.nsl | grep -c kernel.groups)"
            usleep 500000 # a session that is over goes at the module's next look
            rmmod nsmod && echo unloaded
            """,  # noqa: E501, shell text
            self.check_beside,
        )

    def check_beside(self, result):
        self.check_words(
            r"warning +the kernel's groups net_rx,softirq were not recorded: the reader lacks "
            r"CAP_PERFMON"
        )(result)
        self.check_words(
            "^3\ngroups: net_rx,softirq, -rw-------\n", "groups afterwards: 0\n", "unloaded\n"
        )(result)
        self.assertEqual(
            len(
                re.findall(r"trace.nsl: whole; \d+ records, every one accounted for", result.output)
            ),
            3,
            result.output,
        )
        self.assertEqual(
            re.findall(r"kernel\.groups\.refused.*$", result.output, re.M),
            [
                "kernel.groups.refused=net_rx,softirq",
                "kernel.groups.refused.reason=the reader lacks CAP_PERFMON",
                "kernel.groups.refused=net_rx,softirq",
                "kernel.groups.refused.reason=the kernel is already being recorded",
            ],
        )
        # While the kernel's probes are calibrated, the kernel's records wait, but the session's do
        # not.
        kinds = kinds_in(result.output)
        calibrated = kinds.index(kernel_trace.KERNEL_CALIBRATION)
        reported = max(place for place in range(calibrated) if kinds[place] == kernel_trace.INFO)
        self.assertIn(kernel_trace.RECORDS, kinds[reported:calibrated])
        self.assertNotIn(kernel_trace.KERNEL_RECORDS, kinds[:calibrated])
        trace = kernel_trace.Trace(kernel_trace.from_console(result.output, "both.nsl"))
        self.assertEqual(trace.info["kernel.groups"], "net_rx,softirq")
        self.assertEqual(trace.user_records, 1500)
        self.assertGreaterEqual(trace.count("MARK", "rx_bytes"), 10)
        self.assertGreaterEqual(trace.count("START", "softirq"), 10)
        self.assertEqual((trace.issued, trace.lost), (len(trace.records), 0))

    def test_every_packet_of_a_tcp_stream_is_a_unit_with_its_length_and_way(self):
        self.run_guests(
            kernel_trace.SHOW_FILE
            + nsmod_guest.STREAM
            + """
            ifconfig lo up
            head -c 400000 /dev/urandom >data
            device() { cat /sys/class/net/lo/statistics/tx_packets /sys/class/net/lo/statistics/tx_bytes | tr "\\n" " "; }
            retransmitted() { grep ^Tcp: /proc/net/snmp | tail -n 1 | cut -d " " -f 13; } # segments
            echo "before $(device)"
            vm_kernel_recorder tcp_send,tcp_recv 0 port=5000 -- sh stream 127.0.0.1 5000 >loopback.nsl
            echo "after $(device)"
            echo "retransmitted $(retransmitted)"
            cmp data got && echo same
            vm_kernel_recorder tcp_send,tcp_recv 0 port=5001 -- sh stream 127.0.0.1 5000 >other_port.nsl
            nsdump check loopback.nsl
            show_file loopback.nsl
            show_file other_port.nsl

            echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
            unshare -n sleep 1000 &
            other=$!
            ip link add near type veth && ip link set veth0 netns $other
            ifconfig near 10.1.0.1 netmask 255.255.255.0
            nsenter -t $other -n ifconfig veth0 10.1.0.2 netmask 255.255.255.0
            export SERVE="nsenter -t $other -n"
            vm_kernel_recorder tcp_send,tcp_recv 0 port=5000 -- sh stream 10.1.0.2 5000 >veth.nsl
            cmp data got && echo same
            echo "retransmitted $(retransmitted)"
            nsdump check veth.nsl
            show_file veth.nsl
            vm_slow_device near 20000 8 && echo slow
            vm_kernel_recorder tcp_send,tcp_recv 0 port=5000 -- sh -c "sh stream 10.1.0.2 5000; sleep 1" >lossy.nsl # flush what is still queued
            cmp data got && echo same
            nsdump check lossy.nsl
            show_file lossy.nsl
            kill $other
            rmmod nsmod && echo unloaded
            """,  # noqa: E501, shell text
            self.check_stream,
            self.with_network,
        )

    def with_network(self, machine):
        machine.add("tests/vm_slow_device")
        for name in ("veth", "sch_netem"):
            machine.add_module(name)

    def check_stream(self, result):
        self.check_words(
            "loopback.nsl: whole; ",
            "veth.nsl: whole; ",
            "\nslow\n",
            "lossy.nsl: whole; ",
            "unloaded\n",
        )(result)
        self.assertEqual(result.output.splitlines().count("same"), 3)
        device = [
            list(map(int, numbers))
            for numbers in re.findall(r"^(?:before|after) (\d+) (\d+) $", result.output, re.M)
        ]
        traces = {
            name: kernel_trace.Trace(kernel_trace.from_console(result.output, f"{name}.nsl"))
            for name in ("loopback", "veth", "lossy", "other_port")
        }
        retransmitted = [
            int(count) for count in re.findall(r"^retransmitted (\d+)$", result.output, re.M)
        ]
        sent = self.check_ways(traces["loopback"], retransmitted[0] > 0)
        self.assertEqual(len(sent), device[1][0] - device[0][0])
        self.assertEqual(sum(sent) - 14 * len(sent), device[1][1] - device[0][1])
        self.check_ways(traces["veth"], retransmitted[1] > retransmitted[0])
        self.check_lossy(traces["lossy"])
        self.assertEqual(traces["other_port"].records, [])

    def check_lossy(self, trace):
        """Packets of one side wait in a queue, and some are lost there; this leaves no unit or
        slice open."""
        self.assertEqual((trace.issued, trace.lost), (len(trace.records), 0))
        counts = collections.Counter(one.name for one in trace.slices())
        wire = [length for (length,) in trace.words("MARK", "wire_bytes")]
        self.assertGreaterEqual(counts["tcp_send"], len(wire))
        self.assertEqual((counts["queue"], counts["driver"]), (counts["tcp_send"], len(wire)))
        self.assertEqual(
            sorted(length for _, _, length in trace.words("INIT", "tcp_recv")), sorted(wire)
        )
        inside = {(one.name, one.inside) for one in trace.slices()}
        self.assertIn(("driver", "tcp_send"), inside)  # of the side that answers without delay
        # Of the other side, which the queue delays: few, because TCP sends fewer packets when
        # slowed down.
        self.assertGreater(
            sum(one.name == "driver" and one.inside != "tcp_send" for one in trace.slices()), 10
        )
        self.assertEqual(sum(bytes_ for (bytes_,) in trace.words("MARK", "copied")), 400000)

    def check_ways(self, trace, is_more):
        """A stream of 400000 bytes, or more if a busy guest made TCP retransmit some -> lengths of
        the packets that the driver got."""
        check_bytes = self.assertGreater if is_more else self.assertEqual
        self.assertEqual((trace.issued, trace.lost), (len(trace.records), 0))
        counts = collections.Counter(one.name for one in trace.slices())
        sent, received = (
            [one.words for one in trace.slices() if one.name == unit]
            for unit in ("tcp_send", "tcp_recv")
        )
        self.assertEqual(sorted(number for number, _, _ in sent), list(range(1, len(sent) + 1)))
        # Per packet: 14 bytes for the frame, 20 for IP, 20 for TCP and 12 for options; the two with
        # SYN have 8 more, and no data.
        check_bytes(sum(length - 66 for _, _, length in sent), 400000 + 2 * 8)
        # some were split and passed to the driver as segments
        wire = [length for (length,) in trace.words("MARK", "wire_bytes")]
        check_bytes(sum(length - 66 for length in wire), 400000 + 2 * 8)
        self.assertEqual(sorted(length for _, _, length in received), sorted(wire))
        self.assertEqual(
            (counts["queue"], counts["driver"], counts["ip"]), (len(sent), len(wire), len(wire))
        )
        inside = collections.defaultdict(collections.Counter)
        for one in trace.slices():
            inside[one.name][one.inside] += 1
        self.assertEqual(inside["driver"]["tcp_send"], len(sent))
        self.assertEqual(
            [set(inside[name]) for name in ("queue", "tcp_ip", "ip", "copy")],
            [{"tcp_send"}, {"send_call"}, {"tcp_recv"}, {"recv_call"}],
        )
        self.assertGreater(counts["tcp"], 0)
        self.assertGreaterEqual(counts["tcp_ip"], counts["send_call"])
        self.assertEqual(sum(bytes_ for (bytes_,) in trace.words("MARK", "copied")), 400000)
        if "sock_send_length" not in trace.info.get("kernel.missing.tcp_send", ""):
            self.assertEqual(sum(bytes_ for (bytes_,) in trace.words("MARK", "sent")), 400000)
        return wire

    def test_what_instructions_and_probes_cost_in_the_kernel_is_measured_on_request(self):
        self.run_guests(
            """
            for cpu in 0 1; do echo "<cpu $cpu>"; vm_measure $cpu 50; done
            echo "<busy>"
            vm_kernel_recorder "" 0 -- vm_measure 0 10 2>&1 >trace.nsl
            nsdump check trace.nsl
            echo "<wrong>"
            vm_measure 0 9; vm_measure 0 2001; vm_measure 99999 10; vm_measure 0 10 5
            mkdir -p /etc && echo "user:x:1000:1000::/:/bin/sh" >/etc/passwd
            chmod 666 /dev/nsmod
            su user -c "PATH=/test:/bin vm_measure 0 10"
            echo 0 >/sys/devices/system/cpu/cpu1/online
            vm_measure 1 10
            nscalibrate --paper --batches 50 --cpu 0 -w calibration.json >paper.txt
            cat paper.txt
            rmmod nsmod && echo unloaded
            """,
            self.check_measures,
            lambda machine: [machine.add(name) for name in ("tests/vm_measure", "bin/nscalibrate")],
        )

    def check_measures(self, result):
        free, rest = result.output.partition("<busy>")[::2]
        busy, rest = rest.partition("<wrong>")[::2]
        names = ["cpuid", "rdmsr", "rdpmc", "rdtsc", "lfence;rdtsc;lfence", "wrmsr"]
        macros = ["START+STOP", "START", "STOP", "MARK", "INIT", "EXIT"]
        for text in free.split("<cpu ")[1:]:
            lines = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
            self.assertEqual(list(lines), names + [f"idle {name}" for name in macros] + macros)
            self.assertRegex(lines.pop("rdpmc"), "^unavailable\tthis machine has no PMU")
            cost = {
                name: [int(field) for field in line.split("\t")] for name, line in lines.items()
            }
            self.assertEqual({batches for _, _, batches in cost.values()}, {30})
            for name in macros:
                self.assertGreater(cost[name][0], 1024, name)
            # two loops on an emulated CPU differ by tens of ticks, about as much as these cost
            # there
            for name in ["cpuid", "rdmsr", "wrmsr"]:
                self.assertLess(abs(cost[name][0]), 1000 * 1024, name)
            # A no-op compared with a clock read and a record.
            self.assertLess(cost["idle START+STOP"][0] * 3, cost["START+STOP"][0])
            self.assertGreater(cost["START+STOP"][0] * 1.5, cost["START"][0])
        self.assertEqual(busy.count("unavailable\tthe kernel is being recorded"), 2 * len(macros))
        self.assertIn("trace.nsl: whole; ", busy)
        self.assertEqual(rest.count("measure: Invalid argument"), 3)
        self.assertRegex(
            rest,
            r"cpuid<\d{3,} bytes>\n(.*\n)*measure: Operation not permitted\n(.*\n)*measure: No "
            r"such device",
        )
        self.assertRegex(rest, r"(?m)^wrmsr +220 +-?[0-9.]+ .* in the kernel$")
        self.assertRegex(rest, r"(?m)^NSA START and STOP +303 +[1-9][0-9.]* .* no recorder: ")
        self.assertRegex(rest, r"(?m)^rdpmc .*  this machine has no PMU \(most virtual machines\)$")
        self.assertIn("unloaded\n", rest)

    def test_a_place_costs_one_no_operation_while_nobody_records(self):
        for kernel, files in nsmod_guest.BUILT.items():
            with self.subTest(kernel=kernel):
                file = files["nsmod_example.ko"]
                table = (
                    tool("readelf", "-rW", file)
                    .partition("'.rela__jump_table'")[2]
                    .partition("Relocation section")[0]
                )
                places = re.findall(
                    r" \.text \+ ([0-9a-f]+)\n.* \.text \+ ([0-9a-f]+)\n.* nslice_kernel_key \+",
                    table,
                )
                self.assertEqual(len(places), PLACES)
                code = {
                    int(at, 16): (len(raw.split()), words)
                    for at, raw, words in re.findall(
                        r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t(.*)$",
                        tool("objdump", "-dw", "-j", ".text", file),
                        re.M,
                    )
                }
                for place, target in places:
                    length, words = code[int(place, 16)]
                    self.assertRegex(words, r"^nop|^xchg +%ax,%ax")
                    # As long as the jump that replaces it: two bytes suffice for near code.
                    self.assertIn(
                        length, (2, 5) if -127 < int(target, 16) - int(place, 16) < 130 else (5,)
                    )

    def test_nothing_of_a_probe_is_compiled_in_where_they_are_disabled(self):
        for kernel, files in nsmod_guest.BUILT.items():
            with self.subTest(kernel=kernel):
                folder = files["nsmod.ko"].parent
                # of an earlier run, because the folder is kept with the build
                shutil.rmtree(folder / "silent", ignore_errors=True)
                shutil.copytree(nsmod_guest.SOURCE / "example", folder / "silent")
                made, _ = kernel_modules.make(
                    folder / "silent",
                    guest.cache_folder("amd64") / "kernels" / kernel,
                    "amd64",
                    "KCFLAGS=-DNETSLICE_DISABLE",
                )
                said = tool("readelf", "-sSW", made["nsmod_example.ko"])
                self.assertIn("handle_packet", said)
                self.assertNotIn("nslice", said)
                self.assertNotIn("__jump_table", said)


if __name__ == "__main__":
    nsmod_guest.run_tests()
