# SPDX-License-Identifier: MIT
# Random thinning of BPF programs: a program with a slice inside another, run many times -> epochs
# in which the inner one was off, and what it costs there.
import os
import pathlib
import sys
import tempfile
import unittest

import needs
from nsbpf_library import (
    BPF,
    CLANG,
    NESTED,
    NSDUMP,
    Pins,
    Recording,
    compile_program,
    run,
    stats_of,
    stop,
)

RUNS = 200
REPEATS = 50  # of the program in a run
# Run by nsdump: as often as the rings have room.
RUN = """
import subprocess, sys, time
for _ in range(int(sys.argv[1])):
    subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
    time.sleep(0.005)
"""


class Thinning(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        files = tempfile.TemporaryDirectory()
        cls.addClassCleanup(files.cleanup)
        cls.files = pathlib.Path(files.name)
        cls.pins = Pins(cls.files)
        cls.addClassCleanup(cls.pins.end)
        cls.pinned = cls.pins.load(compile_program(NESTED, cls.files), "nested")

    def record(self, *options):
        trace = self.files / "t.nsl"
        trace.unlink(missing_ok=True)
        done = run(
            *(NSDUMP, "record", "-q", "-k", "programs", BPF, *options, "-w", trace, "--"),
            *self.run_words(),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run(NSDUMP, "check", trace).returncode, 0)
        return stats_of(trace), trace

    def run_words(self):
        return (sys.executable, "-c", RUN, RUNS, *self.pins.run_words(self.pinned, REPEATS))

    def slices_of(self, stats):
        return {one["name"].removeprefix("kernel:"): one for one in stats["slices"]}

    def test_the_inner_slice_is_off_at_random_and_its_cost_is_measured(self):
        stats, trace = self.record("--thin", "auto")
        slices = self.slices_of(stats)
        self.assertGreater(stats["program_thinning"]["epochs"], 50)
        self.assertEqual(slices["outer"]["count"], RUNS * REPEATS)
        self.assertLess(slices["inner"]["count"], 0.9 * RUNS * REPEATS)
        self.assertGreater(slices["inner"]["count"], 0.4 * RUNS * REPEATS)
        thinning = slices["outer"]["thinning"]
        self.assertIn(thinning["used"], ("thinning", "both"), thinning)
        (inner,) = thinning["costs"]
        self.assertEqual(inner["name"], "kernel:inner")
        self.assertGreater(inner["per_record"], 0)
        explained = run(NSDUMP, "explain", trace, "kernel:outer")
        self.assertIn("off: kernel:inner:", explained.stdout, explained.stderr)

    def test_programs_that_others_run_are_thinned_as_well(self):
        recording = Recording(self.files / "t.nsl", "programs", "--thin", "auto")
        self.addCleanup(stop, recording.process)
        done = run(*self.run_words())
        self.assertEqual(done.returncode, 0, done.stderr)
        stats = recording.end()
        slices = self.slices_of(stats)
        self.assertGreater(stats["program_thinning"]["epochs"], 50)
        self.assertEqual(slices["outer"]["count"], RUNS * REPEATS)
        self.assertLess(slices["inner"]["count"], 0.9 * RUNS * REPEATS)

    def test_thinning_is_refused_where_it_would_have_no_effect_or_is_no_share(self):
        for groups, share, reason in (
            ("sched", "auto", "--thin requires the group programs"),
            ("programs,sched", "1.5", '"1.5" is not auto, off or a share from 0 to 1'),
        ):
            done = run(NSDUMP, "kernel", groups, "--thin", share, "-w", self.files / "t.nsl")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(reason, done.stderr)

    def test_units_of_the_program_are_compared_between_epochs(self):
        stats, _ = self.record("--thin", "1")
        (unit,) = stats["program_thinning"]["units"]
        self.assertEqual(unit["name"], "kernel:packet")
        self.assertGreater(unit["epochs_off"], 20)

    def test_without_the_option_nothing_is_off(self):
        stats, _ = self.record()
        self.assertNotIn("program_thinning", stats)
        self.assertEqual(self.slices_of(stats)["inner"]["count"], RUNS * REPEATS)


needs.tools("bpftool")
if os.geteuid() != 0:
    needs.skip("requires root")
if not pathlib.Path("/sys/kernel/btf/vmlinux").exists() or not CLANG:
    needs.skip("no BTF, or no clang")
if __name__ == "__main__":
    unittest.main()
