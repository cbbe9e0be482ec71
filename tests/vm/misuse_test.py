# SPDX-License-Identifier: MIT
# Every wrong use of the device: programs with tables of what was tried and what ought to come of it (cases/misuse*.c).
import re

import nsmod_guest
from nsmod_guest import build_modules as setUpModule

PROGRAMS = ("misuse", "misuse_memory", "misuse_users")


class Misuse(nsmod_guest.NsmodTest):
    programs = tuple(f"vm_{program}" for program in PROGRAMS)

    def test_every_wrong_use_is_told_by_its_error_and_does_no_harm(self):
        self.run_guests("""
            for program in misuse misuse_memory misuse_users; do
                timeout 100 vm_$program || echo "$program ended with $?"
            done
            usleep 500000
            rmmod nsmod && echo "unloaded"
            """, self.check_rows)

    def check_rows(self, result):
        tables = re.findall(r"^(\S+).*: (\d+) rows, 0 failed", result.output, re.M)
        self.assertEqual([name for name, _ in tables], ["misuse", "misuse_memory", "misuse_users", "misuse_users"], result.output)
        self.assertGreater(sum(int(count) for _, count in tables), 4000)
        self.assertNotIn("FAILED", result.output)
        self.assertIn("unloaded", result.output)


if __name__ == "__main__":
    nsmod_guest.run_tests()
