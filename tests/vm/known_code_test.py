# SPDX-License-Identifier: MIT
# Corrected instruction counts of known code on a machine that counts exactly, by every way to read
# a counter: no errors.
import os
import unittest

import guest

CLOCKS = ("fast", "ordered")
# PAPI supports only CPUs that its libpfm4 knows.  On a CPU without single-instruction atomics,
# glibc's read(), which PAPI calls, has a loop of 5 instructions (ldaxr ... stxr) that an interrupt
# makes repeat: then a count is 5 off, caused by PAPI itself.
PAPI_CPU = "neoverse-n1"
BUSY_PROGRAM = 'sh -c "while :; do :; done" &'
# User-space reads; PAPI for users at this paranoid level.
SCRIPT = """
{before}
echo 1 >/proc/sys/kernel/perf_user_access
echo 1 >/proc/sys/kernel/perf_event_paranoid
for source in {sources}; do
    for clock in {clocks}; do
        known_code $source $clock {case}
        echo "<$source $clock ended with $?>"
    done
done
"""

VERIFY = """
echo 1 >/proc/sys/kernel/perf_user_access
nsdump counters --verify
echo "<verified with $?>"
grep pmu /proc/interrupts
"""


class KnownCode(unittest.TestCase):
    def check(self, sources, cpus, cpu_model, case="", before=""):
        machine = guest.Arm64Guest(os.environ["NETSLICE_BUILD"], cpus=cpus, cpu_model=cpu_model)
        machine.add("tests/known_code")
        if "papi" in sources:
            machine.add_library("libpapi.so.7.0")
        result = machine.run(
            SCRIPT.format(
                sources=" ".join(sources), clocks=" ".join(CLOCKS), case=case, before=before
            )
        )
        for source in sources:
            for clock in CLOCKS:
                with self.subTest(source=source, clock=clock, cpus=cpus):
                    is_exact = (
                        f"{source} {clock}: 0 off\n<{source} {clock} ended with 0>" in result.output
                    )
                    self.assertTrue(
                        is_exact,
                        "\n".join(
                            line
                            for line in result.output.splitlines()
                            if "OFF" in line or "known_code:" in line or " ended with " in line
                        ),
                    )
        self.assertEqual(result.kernel_faults, [])

    def test_counts_are_exact_on_one_cpu(self):
        self.check(("rdpmc", "perf-read"), cpus=1, cpu_model="max")

    # The emulator has a single instruction count for both CPUs, so the other one must be idle.
    def test_counts_are_exact_across_a_migration_between_two_cpus(self):
        self.check(("rdpmc", "perf-read"), cpus=2, cpu_model="max", case="migration")

    def test_papi_and_registers_of_32_bits_count_exactly_across_a_migration(self):
        self.check(("papi", "rdpmc"), cpus=2, cpu_model=PAPI_CPU, case="migration")

    def test_papi_counts_exactly_and_so_do_registers_of_32_bits(self):
        self.check(("papi", "rdpmc"), cpus=1, cpu_model=PAPI_CPU)

    # Through C and through the assembly; a timer tick rarely aborts an attempt, but a full ring
    # often does.
    def test_records_that_are_tried_again_count_as_any_other(self):
        self.check(("papi", "perf-read", "rdpmc"), cpus=1, cpu_model=PAPI_CPU, case="retries")

    def test_marks_and_units_that_are_tried_again_leave_nothing_in_the_slice_around(self):
        self.check(("papi", "perf-read", "rdpmc"), cpus=1, cpu_model=PAPI_CPU, case="mark-retries")

    def test_counts_are_exact_where_another_program_wants_the_cpu(self):
        self.check(
            ("papi", "perf-read", "rdpmc"),
            cpus=1,
            cpu_model=PAPI_CPU,
            case="crowded",
            before=BUSY_PROGRAM,
        )

    # Counts and disturbances are as on a machine with a PMU, except that the emulator counts both
    # CPUs together.
    def test_nsdump_verifies_the_counters_of_a_machine_that_has_them(self):
        machine = guest.Arm64Guest(os.environ["NETSLICE_BUILD"])
        machine.add("bin/nsdump")
        result = machine.run(VERIFY)
        for source in ("rdpmc", "perf-read"):
            for check in ("exact", "preemption", "overflow", "processes"):
                with self.subTest(source=source, check=check):
                    self.assertRegex(result.output, rf"(?m)^{source} +{check} +passed: ")
            self.assertRegex(result.output, rf"(?m)^{source} +migration +unavailable: requires two")
        self.assertIn("verdict: passed: 8 passed, 0 failed, 2 unavailable", result.output)
        self.assertIn("<verified with 0>", result.output)
        # of registers that overflow, which nothing else in the guest does
        self.assertRegex(result.output, r"(?m)^ *\d+: +[1-9]\d{2,} .*pmu")
        self.assertEqual(result.kernel_faults, [])


if __name__ == "__main__":
    guest.run_tests()
