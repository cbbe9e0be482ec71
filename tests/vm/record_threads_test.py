# SPDX-License-Identifier: MIT
# nsdump record with the kernel module: attribution of kernel records to threads, for a short
# program from its start; unknown for a container.
import nsmod_guest
from nsmod_guest import build_modules as setUpModule
from record_kernel_test import STATS, documents


class RecordThreads(nsmod_guest.NsmodTest):
    programs = ("vm_writer",)

    def test_a_short_program_is_recorded_and_a_containers_slices_keep_unreported_costs(self):
        self.run_guests(
            STATS
            + """
            nsdump record -k sched --kernel-own -w short.nsl -- true; echo "short: $?"
            stats short
            nsdump record -k sched --kernel-own -w none.nsl -- ./no-such-program; echo "none: $?"
            nsdump record -k irq,softirq,sched -w inside.nsl -- unshare -p -f vm_writer 20000
            stats inside
            nsdump stats --all inside.nsl | grep "pid namespace"
            """,
            self.check,
        )

    def check(self, result):
        found = documents(result.output)
        self.assertIn("short: 0", result.output)
        marks = {one["name"]: one["count"] for one in found["short"]["marks"]}
        self.assertGreater(
            marks.get("kernel:sched_switch", 0), 0, "it had ended before the kernel's part began"
        )
        self.assertRegex(result.output, r"./no-such-program: cannot start(.|\n)*none: 3")
        inside = found["inside"]
        self.assertRegex(inside["info"]["program.pid_namespace"], r"^\d+$")
        self.assertIn("a program ran in a pid namespace of its own", result.output)
        for one in inside["slices"]:
            if not one["kernel"]:
                self.assertEqual((one["interrupts"], one["switches"]), (0, 0), one)
        self.assertTrue(any(one["kernel"] and one["count"] > 0 for one in inside["slices"]))


if __name__ == "__main__":
    nsmod_guest.run_tests()
