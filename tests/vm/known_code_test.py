# SPDX-License-Identifier: MIT
# Corrected instruction counts of known code on a machine that counts exactly, by every way to read
# a counter: no errors.
import functools
import os
import unittest

import guest

CLOCKS = ("fast", "ordered")
# PAPI supports only CPUs that its libpfm4 knows.  On a CPU without single-instruction atomics,
# glibc's read(), which PAPI calls, has a loop of 5 instructions (ldaxr ... stxr) that an interrupt
# makes repeat: then a count is 5 off, caused by PAPI itself.
PAPI_CPU = "neoverse-n1"
# User-space reads; PAPI for users at this paranoid level.
BEGIN = """
echo 1 >/proc/sys/kernel/perf_user_access
echo 1 >/proc/sys/kernel/perf_event_paranoid
"""
# A case of known_code; "all": those that it runs without a name.
CASE = """
for source in {sources}; do
    for clock in {clocks}; do
        known_code $source $clock {name}
        echo "<$source $clock {case} ended with $?>"
    done
done
"""
CROWDED = """
sh -c "while :; do :; done" &
{case}
kill $!
"""

VERIFY = """
echo 1 >/proc/sys/kernel/perf_user_access
nsdump counters --verify
echo "<verified with $?>"
grep pmu /proc/interrupts
"""


@functools.cache
def outcome(sources, cpus, cpu_model, cases):
    """All cases of one machine, in one guest."""
    machine = guest.Arm64Guest(os.environ["NETSLICE_BUILD"], cpus=cpus, cpu_model=cpu_model)
    machine.add("tests/known_code")
    if "papi" in sources:
        machine.add_library("libpapi.so.7.0")
    script = BEGIN
    for case in cases:
        lines = CASE.format(
            sources=" ".join(sources),
            clocks=" ".join(CLOCKS),
            case=case,
            name="" if case == "all" else case,
        )
        script += CROWDED.format(case=lines) if case == "crowded" else lines
    return machine.run(script)


class KnownCode(unittest.TestCase):
    def check(self, machine, case):
        result = outcome(*machine)
        for source in machine[0]:
            for clock in CLOCKS:
                with self.subTest(source=source, clock=clock, case=case):
                    is_exact = (
                        f"{source} {clock}: 0 off\n<{source} {clock} {case} ended with 0>"
                        in result.output
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

    ONE_CPU = (("rdpmc", "perf-read"), 1, "max", ("all",))
    # The emulator has a single instruction count for both CPUs, so the other one must be idle.
    TWO_CPUS = (("rdpmc", "perf-read"), 2, "max", ("migration",))
    # Registers of 32 bits.
    PAPI_ONE_CPU = (
        ("papi", "perf-read", "rdpmc"),
        1,
        PAPI_CPU,
        ("all", "retries", "mark-retries", "crowded"),
    )
    PAPI_TWO_CPUS = (("papi", "rdpmc"), 2, PAPI_CPU, ("migration",))

    def test_counts_are_exact_on_one_cpu(self):
        self.check(self.ONE_CPU, "all")

    def test_counts_are_exact_across_a_migration_between_two_cpus(self):
        self.check(self.TWO_CPUS, "migration")

    def test_papi_and_registers_of_32_bits_count_exactly_across_a_migration(self):
        self.check(self.PAPI_TWO_CPUS, "migration")

    def test_papi_counts_exactly_and_so_do_registers_of_32_bits(self):
        self.check(self.PAPI_ONE_CPU, "all")

    # Through C and through the assembly; a timer tick rarely aborts an attempt, but a full ring
    # often does.
    def test_records_that_are_tried_again_count_as_any_other(self):
        self.check(self.PAPI_ONE_CPU, "retries")

    def test_marks_and_units_that_are_tried_again_leave_nothing_in_the_slice_around(self):
        self.check(self.PAPI_ONE_CPU, "mark-retries")

    def test_counts_are_exact_where_another_program_wants_the_cpu(self):
        self.check(self.PAPI_ONE_CPU, "crowded")

    # Alone in its guest, for over a second of the guest's time for each way and clock.
    THINNED = (("rdpmc", "perf-read"), 1, "max", ("thin",))

    def test_counts_are_exact_while_probes_inside_are_switched_off_at_random(self):
        self.check(self.THINNED, "thin")

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
