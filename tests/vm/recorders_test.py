# SPDX-License-Identifier: MIT
# The kernel module and BPF programs record the same kernel: the same slices in the same order, and
# the same net times.
import re

import nsmod_guest
from nsmod_guest import STATS, build_modules as setUpModule, documents

EXCHANGES = 200

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
    nsdump show $1.nsl | awk '$4 == "STOP" { print $2, $3, $4, $5; next } NF > 4 { $1 = ""; print }' |
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
            ifconfig lo up
            for groups in {groups}; do
                start nsmod module $groups --port 5555
                start bpf programs $groups --port 5555
                vm_exchange {EXCHANGES} 5555
                kill -INT $module $programs; wait $module $programs
                for one in module programs; do
                    nsdump check $one.nsl | tail -n 1
                    events $one
                done
                wc -l <module.events
                cmp module.events programs.events && echo "$groups: same"
                cmp -s module.events programs.events || diff module.events programs.events | head -n 20
            done
            nsdump export programs.nsl --what stats --format json 2>/dev/null | grep -E "missing|missed"
            """,
            self.check_words(*(rf"(?m)^{one}: same" for one in groups.split())),
        )

    def test_net_times_agree(self):
        self.run_guests(
            STATS
            + START
            + f"""
            ifconfig lo up
            for round in 1 2; do
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
        for name in "queue driver ip tcp tcp_ip".split():
            values = {}
            for key in ("nsmod1", "bpf1", "nsmod2", "bpf2"):
                (one,) = (s for s in found[key]["slices"] if s["name"] == f"kernel:{name}")
                values[key] = one["values"][0]["net"]
                print(key, name, one["count"], {k: round(one["values"][0]["net"][k]) for k in ("mean", "ci95", "p50")})

    def test_both_take_the_same_from_a_programs_slices(self):
        self.run_guests(
            STATS
            + """
            for recorder in nsmod bpf; do
                nsdump record -k irq,softirq,sched --kernel-recorder $recorder -w $recorder.nsl -- vm_long_slices 100 10
                stats $recorder
            done
            """,  # noqa: E501, shell text
            self.check_own,
        )

    def check_own(self, result):
        found = documents(result.output)
        for key in ("nsmod", "bpf"):
            (own,) = (one for one in found[key]["slices"] if one["name"] == "long")
            print(key, own["interrupts"], own["taken_ticks"], own["values"][0]["raw"]["mean"], own["values"][0]["net"])


if __name__ == "__main__":
    nsmod_guest.run_tests()
