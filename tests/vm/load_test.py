# SPDX-License-Identifier: MIT
# The module under load: kills, full rings, floods of packets, CPU hotplug.  Every record is there
# or counted as lost.
import re

import guest
import nsmod_guest
from nsmod_guest import build_modules as setUpModule

KILLS = 40 if nsmod_guest.GUEST is guest.Arm64Guest else 200  # over all kernels

# A pair of devices, the second named by the kernel or by `ip`, and packets from one to the other by
# the kernel.
FLOOD = """
ip link add near type veth peer name veth0
ifconfig near up; ifconfig veth0 up
flood() { # PACKETS
    echo "rem_device_all" >/proc/net/pktgen/kpktgend_0
    echo "add_device near" >/proc/net/pktgen/kpktgend_0
    for setting in "count $1" "pkt_size 60" "delay 0" "dst 10.9.9.9" "dst_mac $(cat /sys/class/net/veth0/address)"; do
        echo "$setting" >/proc/net/pktgen/near
    done
    echo start >/proc/net/pktgen/pgctrl
    grep -o "pkts-sofar: [1-9][0-9]*" /proc/net/pktgen/near
}
"""  # noqa: E501, shell text


class Load(nsmod_guest.NsmodTest):
    programs = ("vm_writer", "vm_unblocked", "vm_kernel_load", "vm_kills")
    modules = ("veth", "pktgen")
    timeout_s = 240

    def test_no_record_that_a_killed_process_had_committed_is_missing(self):
        self.run_guests(
            f"vm_kills {-(-KILLS // len(self.kernels()))}",
            self.check_words(r"kills: \d\d+, 0 failed; \d{5,} records, [1-9]\d* lost and counted"),
        )

    def test_the_kernels_records_are_there_or_counted(self):
        self.run_guests(
            FLOOD
            + """
            groups=net_rx,net_tx,napi,irq,softirq,sched,sock
            for full in discard overwrite; do
                for how in read splice late; do
                    flood 1000000000 >flood_says & flooder=$!
                    vm_kernel_load $groups 1500 4096 $full $how
                    echo stop >/proc/net/pktgen/pgctrl
                    wait $flooder; cat flood_says
                done
            done
            flood $((20000 / SLOW)) & vm_kernel_load $groups 1500 1048576 discard read; wait

            # CPU 1 goes and comes, with user and kernel records on it
            [ -e /sys/devices/system/cpu/cpu1/online ] || { echo "no CPU goes here"; exit; }
            NETSLICE="recorder=nsmod calibration=no" vm_writer 0 & one=$!
            NETSLICE="recorder=nsmod calibration=no full=overwrite kind=atomic" vm_writer 0 & two=$!
            vm_kernel_load $groups 5000 65536 discard read & load=$!
            for i in $(seq 8); do
                echo 0 >/sys/devices/system/cpu/cpu1/online && usleep 200000
                echo 1 >/sys/devices/system/cpu/cpu1/online && usleep 200000
            done
            echo "CPU 1 came back $i times"
            wait $load
            kill -9 $one $two
            usleep 100000
            for trace in one two; do cat /dev/nsmod >$trace.nsl; nsdump check $trace.nsl | tail -n 1; done
            """,  # noqa: E501, shell text
            self.check_kernel,
        )

    def check_kernel(self, result):
        runs = re.findall(
            r"kernel (\w+) (\w+): sound; (\d+) issued, (\d+) records, (\d+) lost", result.output
        )
        self.assertEqual(
            [run[:2] for run in runs[:7]],
            [(full, how) for full in ("discard", "overwrite") for how in ("read", "splice", "late")]
            + [("discard", "read")],
            result.output,
        )
        for full, how, _, records, lost in runs[:6]:
            self.assertGreater(int(records), 50, (full, how))
            self.assertGreater(int(lost), 0, (full, how))  # these rings are meant to overflow
        if "no CPU goes here" not in result.output:
            self.assertEqual(len(runs), 8, result.output)
            self.assertIn("CPU 1 came back 8 times", result.output)
            self.assertEqual(
                len(
                    re.findall(
                        r"(?:one|two).nsl: whole; \d+ records, every one accounted for",
                        result.output,
                    )
                ),
                2,
                result.output,
            )

    def test_a_recording_ends_while_a_kernel_thread_never_rests(self):
        # A preemptive kernel has no other reason to switch away from pktgen's thread, which does
        # not pause between packets.
        def preempt(machine):
            machine.kernel_options += " preempt=full"

        self.run_guests(
            FLOOD
            + """
            flood 1000000000 >flood_says & flooder=$!
            vm_kernel_load net_tx 500 65536 discard read
            [ -s flood_says ] || echo "still sending"
            echo stop >/proc/net/pktgen/pgctrl
            wait $flooder; cat flood_says
            """,
            self.check_words(
                r"kernel discard read: sound; \d+ issued[^\n]*\nstill sending\npkts-sofar: \d+"
            ),
            preempt,
        )

    def test_two_writers_at_full_rate_are_not_made_to_wait(self):
        self.run_guests(
            """
            now() { sed 's/ .*//' /proc/uptime; }
            run() { # NAME: two writers; what they took, until their readers had the end, records lost
                begin=$(now)
                NETSLICE="recorder=nsmod calibration=no ring=1M" vm_unblocked 400000 0 & one=$!
                NETSLICE="recorder=nsmod calibration=no ring=1M" vm_unblocked 400000 1 & two=$!
                wait $one $two
                echo "$1: written $begin $(now)"
            }
            uname -r
            echo 1 >/sys/module/nsmod/parameters/queue_mib
            run unread
            cat /dev/nsmod >/dev/null; cat /dev/nsmod >/dev/null
            cat /dev/nsmod >one.nsl & cat /dev/nsmod >two.nsl &
            run drained
            wait
            echo "drained: read 0 $(now)"
            for trace in one two; do
                nsdump check $trace.nsl | tail -n 1
                nsdump export $trace.nsl --what stats --format json 2>/dev/null | tr -d ' \\n' | grep -o '"losses":{[^}]*}'
            done
            # readers that stand still: queue and rings fill, the writers go on
            cat /dev/nsmod >/dev/null & first=$!
            cat /dev/nsmod >/dev/null & second=$!
            usleep 200000
            kill -STOP $first $second
            run stopped
            kill -CONT $first $second
            wait
            """,  # noqa: E501, shell text
            self.check_writers,
        )

    def check_writers(self, result):
        seconds = {
            name: float(end) - float(begin)
            for name, begin, end in re.findall(r"(\w+): written (\S+) (\S+)", result.output)
        }
        self.assertEqual(set(seconds), {"unread", "drained", "stopped"}, result.output)
        self.assertEqual(
            len(re.findall(r"whole; \d+ records, every one accounted for", result.output)),
            2,
            result.output,
        )
        issued = re.findall(r'"issued":(\d+)', result.output)
        self.assertEqual(issued, ["1200000", "1200000"], result.output)
        drained = sum(map(int, re.findall(r'"drained":(\d+)', result.output)))
        print(
            f"2 writers, {2 * 1200000} records: {2 * 1200000 / seconds['drained'] / 1e6:.2f} "
            f"million records/s written, {drained} drained, {2 * 1200000 - drained} lost; "
            f"{2 * 1200000 / seconds['unread'] / 1e6:.2f} million/s with no reader",
            flush=True,
        )
        # A drain only takes CPU time from this guest's writers, which enter the kernel only when
        # they are interrupted.
        waits = re.findall(
            r"unblocked on CPU ([01]): (\d+) waits, (\d+) page faults; preempted \d+ times; "
            r"system calls (.*)",
            result.output,
        )
        self.assertEqual(
            sorted(one[:3] for one in waits),
            3 * [("0", "0", "0")] + 3 * [("1", "0", "0")],
            result.output,
        )
        if "netslice-debug" not in result.output:
            self.assertEqual({one[3] for one in waits}, {"were forbidden"})


if __name__ == "__main__":
    nsmod_guest.run_tests()
