# SPDX-License-Identifier: MIT
# Processes that corrupt their own session's memory (cases/hostile.c): a reader of it finishes, and
# other sessions are unaffected.
import re

import nsmod_guest
from nsmod_guest import build_modules as setUpModule

# Shell: runs a reader with a time limit and prints its exit code, which is 143 if `timeout` had to
# end it.
READS = """
reads() { # NAME COMMAND...
    name=$1; shift
    timeout $((60 * SLOW)) "$@" >$name.nsl; echo "$name: reader ended with $?"
}
available() { sed -n 's/^MemAvailable: *\\([0-9]*\\).*/\\1/p' /proc/meminfo; }
"""


class Hostile(nsmod_guest.NsmodTest):
    programs = ("vm_writer", "vm_hostile", "vm_reader")
    timeout_s = 240

    def test_what_a_process_does_to_its_memory_harms_no_reader_and_no_other_session(self):
        self.run_guests(
            READS
            + """
            # a queue without a reader stays within its limit
            vm_hostile announcements 12 &
            hostile=$!
            usleep 500000
            before=$(available)
            sleep 30 </dev/null >/dev/null & sleeper=$!
            vm_reader newest 9000 >/dev/full 2>/dev/null & reader=$!
            sleep 8
            echo "announcements: took $((($(available) - before) / -1024)) MiB"
            kill -9 $hostile $reader $sleeper
            wait
            rmmod nsmod && insmod /modules/nsmod.ko # processing the rest of the queue would take a minute

            vm_hostile zeros 3 &
            reads zeros vm_reader 0
            wait

            vm_hostile endless $((120 * SLOW)) & hostile=$!
            usleep 500000
            reads endless vm_reader 0
            kill -9 $hostile; wait

            vm_hostile tails $((120 * SLOW)) & hostile=$!
            usleep 500000
            reads tails vm_reader 0
            kill -9 $hostile; wait

            # a reader ends on request, however fast the session's process writes
            NETSLICE="recorder=nsmod calibration=no" vm_writer 0 count & writer=$!
            """  # noqa: E501, shell text
            + nsmod_guest.WRITES
            + """
            reads asked vm_reader newest 500
            nsdump check asked.nsl | tail -n 1
            reads next vm_reader newest 500 # the next reader gets its own trace
            nsdump check next.nsl | tail -n 1
            timeout -s KILL 1 cat /dev/nsmod >/dev/null # a reader that is killed
            reads last vm_reader newest 500
            nsdump check last.nsl | tail -n 1

            # next to one that scribbles
            vm_hostile scribble $((6 * SLOW)) & hostile=$!
            usleep 300000
            reads scribble vm_reader newest 3000
            reads beside vm_reader 0 500
            nsdump check beside.nsl | tail -n 1
            kill -9 $writer $hostile
            wait
            timeout 5 cat /dev/nsmod >/dev/null; timeout 5 cat /dev/nsmod >/dev/null
            rmmod nsmod && echo "unloaded"
            """,
            self.check_hostile,
        )

    def check_hostile(self, result):
        self.assertLess(int(re.search(r"took (-?\d+) MiB", result.output)[1]), 80)
        ended = dict(re.findall(r"(\w+): reader ended with (\d+)", result.output))
        self.assertEqual(
            ended,
            {
                name: "0"
                for name in (
                    "zeros",
                    "endless",
                    "tails",
                    "asked",
                    "next",
                    "last",
                    "scribble",
                    "beside",
                )
            },
            result.output,
        )
        for name in ("asked", "next", "last", "beside"):
            self.assertRegex(
                result.output, rf"{name}.nsl: whole; \d\d+ records, every one accounted for"
            )
        self.assertIn("unloaded", result.output)

    def test_memory_of_ended_sessions_is_given_back_before_anybody_is_killed_for_it(self):
        self.run_guests(
            """
            total=$(sed -n 's/^MemTotal: *\\([0-9]*\\).*/\\1/p' /proc/meminfo)
            for i in 1 2 3; do
                vm_hostile memory 60
                echo "hog $i ended with $?"
            done
            # memory left in the last session is available to a program that needs it
            tail -c $((total * 1024 / 2)) </dev/zero >/dev/null & hungry=$!
            sleep 5
            kill $hungry
            NETSLICE=recorder=nsmod vm_writer 1000 & cat /dev/nsmod >first.nsl
            cat /dev/nsmod >trace.nsl & reader=$!
            sleep 1
            kill $reader
            nsdump check first.nsl
            echo "dropped $(cat /sys/module/nsmod/parameters/sessions_dropped)"
            """,
            self.check_memory,
        )

    def check_memory(self, result):
        self.assertEqual(
            re.findall(r"hog (\d) ended with 137", result.output), ["1", "2", "3"], result.output
        )
        self.assertRegex(result.output, "dropped [1-9]")

    def test_snapshots_of_a_flight_recorder_are_whole_each_time(self):
        self.run_guests(
            """
            for kind in rseq atomic; do for ring in 4K 64K 1M; do
                rm -f count
                NETSLICE="recorder=nsmod calibration=no full=overwrite kind=$kind ring=$ring" vm_writer 0 count & writer=$!
                until [ -s count ] && [ "$(od -A n -t u8 count | tr -d " ")" -gt 0 ]; do usleep 5000; done
                for i in $(seq 15); do
                    vm_reader snapshot newest >snapshot.nsl || echo "no snapshot"
                    nsdump check snapshot.nsl | tail -n 1
                done
                kill -9 $writer
                wait
                cat /dev/nsmod >end.nsl
                nsdump check end.nsl | tail -n 1
            done; done
            """,  # noqa: E501, shell text
            self.check_snapshots,
        )

    def check_snapshots(self, result):
        self.assertNotIn("no snapshot", result.output)
        self.assertEqual(
            len(
                re.findall(
                    r"snapshot.nsl: whole; \d+ records, every one accounted for", result.output
                )
            ),
            90,
            result.output,
        )
        self.assertEqual(
            len(
                re.findall(r"end.nsl: whole; \d\d+ records, every one accounted for", result.output)
            ),
            6,
            result.output,
        )


if __name__ == "__main__":
    nsmod_guest.run_tests()
