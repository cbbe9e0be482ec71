# SPDX-License-Identifier: MIT
# Every misuse of the device: programs with tables of attempts and expected results
# (cases/misuse*.c).
import re

import nsmod_guest
from nsmod_guest import build_modules as setUpModule

PROGRAMS = ("misuse", "misuse_memory", "misuse_users", "misuse_limits")


class Misuse(nsmod_guest.NsmodTest):
    programs = ("vm_writer", *(f"vm_{program}" for program in PROGRAMS))

    def test_every_wrong_use_is_reported_by_its_error_and_does_no_harm(self):
        self.run_guests(
            f"""
            for program in {" ".join(PROGRAMS)}; do
                timeout 100 vm_$program || echo "$program ended with $?"
                usleep 500000
                rmmod nsmod && insmod /modules/nsmod.ko && echo "loaded again"
            done
            rmmod nsmod && echo "unloaded"
            # parameters that make no sense: refused, or taken for the nearest that does
            for wrong in max_sessions=-1 keep_sessions=many drain_us= queue_mib=99999999999 no_such=1; do
                insmod /modules/nsmod.ko $wrong 2>/dev/null && [ $wrong != no_such=1 ] && echo "took $wrong" && break
            done
            rmmod nsmod 2>/dev/null
            for odd in "drain_us=0 queue_mib=0" "drain_us=4294967295 queue_mib=4294967295 keep_sessions=4294967295"; do
                insmod /modules/nsmod.ko $odd
                NETSLICE="recorder=nsmod calibration=no" vm_writer 5000 & timeout 20 cat /dev/nsmod >trace.nsl
                wait
                nsdump check trace.nsl | sed "s/^/$odd: /"
                rmmod nsmod
            done
            insmod /modules/nsmod.ko max_sessions=0 && NETSLICE=recorder=nsmod vm_writer 1
            rmmod nsmod
            """,  # noqa: E501, shell text
            self.check_rows,
        )

    def check_rows(self, result):
        tables = re.findall(r"^(\S+).*: (\d+) rows, 0 failed", result.output, re.M)
        self.assertEqual(
            [name for name, _ in tables],
            ["misuse", "misuse_memory", "misuse_users", "misuse_users", "misuse_limits"],
            result.output,
        )
        self.assertGreater(sum(int(count) for _, count in tables), 4000)
        self.assertNotIn("FAILED", result.output)
        self.assertEqual(result.output.count("loaded again"), len(PROGRAMS), result.output)
        self.assertIn("unloaded", result.output)
        self.assertNotIn("took ", result.output)
        self.assertEqual(
            len(re.findall(r"queue_mib=.*: trace.nsl: whole; \d+ records", result.output)),
            2,
            result.output,
        )
        self.assertIn("the kernel module nsmod has reached its limit of sessions", result.output)


if __name__ == "__main__":
    nsmod_guest.run_tests()
