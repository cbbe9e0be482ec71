# SPDX-License-Identifier: MIT
# nsdump counters --verify: whatever the machine counts with, every available check passes; what is
# unavailable has a reason, and the exit code says which of the two it was.
import json
import os
import pathlib
import subprocess
import unittest

NSDUMP = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsdump"
CHECKS = ["exact", "migration", "preemption", "overflow", "processes"]
FACTS = (
    "nsdump cpu cpus kernel virtualised pmu register_bits perf_event_paranoid rdpmc nmi_watchdog"
)


def run(*words):
    return subprocess.run(
        [NSDUMP, "counters", *words], capture_output=True, text=True, check=False, timeout=200
    )


class Verify(unittest.TestCase):
    def test_the_machines_own_counters_pass_or_are_unavailable_with_the_reason(self):
        done = run("--verify", "--json")
        data = json.loads(done.stdout)
        self.assertEqual(data["schema"], "netslice-verify-1")
        self.assertEqual([source["name"] for source in data["sources"]], ["rdpmc", "perf-read"])
        works = [source for source in data["sources"] if source["works"]]
        self.assertEqual(data["verdict"], "passed" if works else "unavailable", done.stdout)
        self.assertEqual(done.returncode, 0 if works else 3, done.stdout)
        for source in data["sources"]:
            self.assertTrue(source["works"] or "instructions" in source["reason"])
        for name in FACTS.split():
            self.assertTrue(data["facts"][name], name)

    def test_without_a_pmu_the_text_says_so(self):
        done = run("--verify")
        if done.returncode != 3:
            self.skipTest("this machine has a PMU")
        self.assertRegex(done.stdout, r"(?m)^rdpmc +all checks +unavailable: counter ")
        self.assertRegex(done.stdout, r"(?m)^perf-read +all checks +unavailable: counter ")
        self.assertRegex(done.stdout, r"(?m)^verdict: unavailable: 0 passed, 0 failed, 10 unavail")

    def test_all_checks_pass_with_a_source_that_counts_exactly(self):
        done = run("--verify", "--source", "step", "--json")
        data = json.loads(done.stdout)
        (step,) = data["sources"]
        if not step["works"]:
            self.assertEqual(done.returncode, 3)
            self.skipTest(step["reason"])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual([check["name"] for check in step["checks"]], CHECKS)
        cpus = len(os.sched_getaffinity(0))
        for check in step["checks"]:
            lacks = check["name"] == "overflow" or (check["name"] == "migration" and cpus < 2)
            self.assertEqual(check["verdict"], "unavailable" if lacks else "passed", check)
            if not lacks:
                self.assertRegex(
                    check["text"], r"^\d+ slices of up to 1000 instructions, \d+ exact"
                )

    def test_options_without_effect_are_invalid_usage(self):
        for words in (
            ("--verify", "--all"),
            ("--verify", "cycles"),
            ("--source", "step"),
            ("--verify", "--source", "none"),
        ):
            self.assertEqual(run(*words).returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
