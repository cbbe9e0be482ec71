# SPDX-License-Identifier: MIT
# The kernel module and BPF programs record the same kernel: the same slices in the same order, and
# the same net times.
import re
import unittest

import agreement
import guest
import nsmod_guest
from nsmod_guest import GUEST, STATS, build_modules as setUpModule, documents

EXCHANGES = 200
INSTRUCTIONS_OF_TICK = 16  # of an arm64 guest
ROUNDS = 3  # by each recorder in turn
PHASES = 4  # of a CPU that goes and comes

# RECORDER NAME GROUPS OPTION...: records NAME.nsl in the background, and does so when this returns.
START = """
start() {
    rm -f $2.nsl
    nsdump kernel $3 --kernel-recorder $1 -q -w $2.nsl $4 $5 & eval "$2=\\$!"
    for i in $(seq 200); do
        grep -q kernel.groups $2.nsl 2>/dev/null && return
        usleep 20000
    done
    echo "$2 does not start"
}
# By CPU, without times: two recorders read their clocks at different moments.
events() {
    nsdump show $1.nsl |
        awk '$4 == "STOP" { print $2, $3, $4, $5; next } NF > 4 { $1 = ""; print }' |
        sed 's/^ *//' | sort -s -n -k1,1 >$1.events
}
"""


class Recorders(nsmod_guest.NsmodTest):
    timeout_s = 240
    programs = ("vm_exchange", "vm_long_slices")

    def test_both_at_once_record_the_same_events_in_the_same_order(self):
        groups = "net_rx net_tx tcp_send tcp_recv"
        self.run_guests(
            STATS
            + START
            + f"""
            echo "$(uname -sr)"
            ifconfig lo up
            for groups in {groups}; do
                start nsmod module $groups --port 5555
                start bpf programs $groups --port 5555
                vm_exchange {EXCHANGES} 5555
                kill -INT $module $programs; wait $module $programs
                for one in module programs; do
                    nsdump check $one.nsl | tail -n 1
                    events $one
                    nsdump stats --all $one.nsl | grep "has no tracepoint" >$one.missing
                done
                for what in events missing; do
                    cmp module.$what programs.$what && echo "$groups: same $what"
                    cmp -s module.$what programs.$what || diff module.$what programs.$what | head -n 20
                done
                echo "$groups: $(wc -l <programs.events) events"
                cat programs.missing
            done
            """,  # noqa: E501, shell text
            lambda result: self.check_same(result, groups.split()),
        )

    def check_same(self, result, groups):
        for group in groups:
            for what in "events", "missing":
                self.assertRegex(result.output, rf"(?m)^{group}: same {what}$")
            (events,) = re.findall(rf"(?m)^{group}: (\d+) events$", result.output)
            self.assertGreater(int(events), 4 * EXCHANGES)
        self.assertEqual(result.output.count(": whole; "), 2 * len(groups))
        if "Linux 6.1." in result.output:  # these tracepoints are newer
            for group, tracepoint in (
                ("tcp_send", "sock_send_length"),
                ("tcp_recv", "sk_data_ready"),
            ):
                self.assertRegex(
                    result.output, rf"group {group}: .* has no tracepoint {tracepoint}"
                )

    def test_net_times_agree(self):
        self.run_guests(
            STATS
            + START
            + f"""
            ifconfig lo up
            for round in $(seq {ROUNDS}); do
                for recorder in nsmod bpf; do
                    start $recorder process tcp_send,tcp_recv --port 5555
                    vm_exchange {EXCHANGES} 5555
                    kill -INT $process; wait $process
                    mv process.nsl $recorder$round.nsl
                    stats $recorder$round
                done
            done
            """,
            self.check_times,
        )

    def check_times(self, result):
        found = documents(result.output)
        for recorder in "nsmod", "bpf":
            info = found[f"{recorder}1"]["info"]
            self.assertEqual(info["kernel.recorder"], recorder)
            self.assertEqual(info["kernel.recorder.reason"], "requested")
        for name in "queue driver ip tcp tcp_ip".split():
            of = {
                key: next(one for one in stats["slices"] if one["name"] == f"kernel:{name}")
                for key, stats in found.items()
            }
            # Not exact: TCP sends again, or acknowledges alone, if the host stops the guest.
            numbers = [one["count"] for one in of.values()]
            self.assertLess(max(numbers), 1.1 * min(numbers), numbers)
            net = {key: one["values"][0]["net"] for key, one in of.items()}
            # A busy host stops the emulated guest at any time, which the intervals show.
            pooled = {
                recorder: agreement.pooled(
                    (net[f"{recorder}{i}"]["mean"], net[f"{recorder}{i}"]["ci95"])
                    for i in range(1, ROUNDS + 1)
                )
                for recorder in agreement.RECORDERS
            }
            self.assertLessEqual(agreement.difference(pooled), 1, (name, pooled, net))
            medians = [
                min(net[f"{recorder}{i}"]["p50"] for i in range(1, ROUNDS + 1))
                for recorder in ("nsmod", "bpf")
            ]
            self.assertLess(max(medians), 3 * min(medians), (name, net))

    def test_both_take_the_same_from_a_programs_slices(self):
        self.run_guests(
            STATS
            + agreement.TAKEN
            + f"""
            for round in $(seq {agreement.ROUNDS}); do
                for recorder in nsmod bpf; do
                    nsdump record -k irq,softirq,sched --kernel-recorder $recorder -w $recorder.nsl -- vm_long_slices 30 10
                    taken $recorder long $round
                done
            done
            """,  # noqa: E501, shell text
            self.check_own,
        )

    # The slices last the same time by the clock.
    def check_own(self, result):
        taken = agreement.taken(result.output)
        # Otherwise nothing, or twice as much, would be within the errors, too.
        least = min(value for value, _ in taken.values())
        self.assertLess(agreement.half_widths(taken), least, taken)
        self.assertLessEqual(agreement.difference(taken), 1, taken)

    def test_records_by_programs_are_accounted_for_while_a_cpu_goes_and_comes(self):
        self.run_guests(
            STATS
            + START
            + f"""
            online=/sys/devices/system/cpu/cpu1/online
            ifconfig lo up
            start bpf hotplug irq,softirq,sched,net_rx,net_tx,tcp_send,tcp_recv --kernel-ring 4K
            for i in $(seq {PHASES}); do
                taskset 2 vm_exchange {EXCHANGES} 5555
                echo 0 >$online && echo "CPUs: $(cat /sys/devices/system/cpu/online)"
                vm_exchange 20 5555
                echo 1 >$online && echo "CPUs: $(cat /sys/devices/system/cpu/online)"
            done
            taskset 2 vm_exchange {EXCHANGES} 5555
            kill -INT $hotplug; wait $hotplug && echo "ended with 0"
            stats hotplug
            echo "shown: $(nsdump show hotplug.nsl | awk 'NF > 4' | wc -l)"
            """,
            self.check_hotplug,
        )

    def check_hotplug(self, result):
        self.assertIn("ended with 0", result.output)
        self.assertIn("hotplug.nsl: whole; ", result.output)
        self.assertEqual(
            re.findall(r"(?m)^CPUs: (\S+)$", result.output), ["0", "0-1"] * PHASES, result.output
        )
        losses = documents(result.output)["hotplug"]["losses"]
        self.assertTrue(losses["equation_holds"])
        self.assertEqual({row["cpu"] for row in losses["by_cpu"]}, {0, 1})
        for row in losses["by_cpu"]:
            self.assertEqual(row["issued"], row["drained"] + sum(row["lost"].values()), row)
            self.assertGreater(row["drained"], 100)
        self.assertGreater(losses["lost"]["full"], 0)


@unittest.skipUnless(GUEST is guest.Arm64Guest, "only guests of arm64 have a PMU")
class Counters(nsmod_guest.NsmodTest):
    """An instruction takes a nanosecond there, and the clock's tick 16."""

    timeout_s = 240
    programs = ("vm_exchange",)

    def test_instructions_by_programs_are_those_that_the_clock_shows(self):
        self.run_guests(
            STATS
            + START
            + f"""
            ifconfig lo up
            start bpf counted tcp_send,tcp_recv --port=5555 --kernel-counters=instructions,cycles
            vm_exchange {EXCHANGES} 5555
            kill -INT $counted; wait $counted
            stats counted
            """,
            self.check_counts,
        )

    def check_counts(self, result):
        stats = documents(result.output)["counted"]
        self.assertEqual(stats["kernel_counters"], ["instructions", "cycles"])
        self.assertEqual(stats["info"]["kernel.counters.source"], "helper")
        self.assertEqual(stats["classes"]["uncounted"], 0)
        for name in "send_call recv_call queue driver ip tcp tcp_ip".split():
            (one,) = (one for one in stats["slices"] if one["name"] == f"kernel:{name}")
            raw = {value["field"]: value["raw"]["trimmed_mean"] for value in one["values"]}
            self.assertGreater(one["count"], EXCHANGES)
            for field in "instructions", "cycles":
                difference = raw[field] / INSTRUCTIONS_OF_TICK - raw["ticks"]
                self.assertLess(abs(difference), 1, (name, raw))

    def test_a_cpu_that_comes_back_has_its_counters_again_and_a_busy_pmu_is_named(self):
        six = ",".join(["instructions"] * 6)
        self.run_guests(
            STATS
            + START
            + f"""
            online=/sys/devices/system/cpu/cpu1/online
            ifconfig lo up
            start bpf back tcp_send,softirq,sched --kernel-counters=instructions
            echo 0 >$online; echo 1 >$online
            taskset 2 vm_exchange {EXCHANGES} 5555
            usleep 300000 # the recorder notices
            taskset 2 vm_exchange {EXCHANGES} 5555
            kill -INT $back; wait $back
            stats back
            start nsmod holder sched --kernel-counters={six}
            nsdump kernel sched --kernel-recorder bpf --kernel-counters {six} -d 1 -w no.nsl
            echo "refused with $?"
            kill -INT $holder; wait $holder
            """,
            self.check_back,
        )

    def check_back(self, result):
        stats = documents(result.output)["back"]
        self.assertTrue(stats["losses"]["equation_holds"])
        (calls,) = (one for one in stats["slices"] if one["name"] == "kernel:send_call")
        self.assertEqual(calls["count"], 4 * EXCHANGES)
        # The first half, until the recorder noticed; of the second one, calls that are interrupted.
        self.assertLess(calls["uncounted"], 3 * EXCHANGES)
        self.assertIn('counter "instructions": no hardware counter is free', result.output)
        self.assertIn("refused with 3", result.output)


if __name__ == "__main__":
    nsmod_guest.run_tests()
