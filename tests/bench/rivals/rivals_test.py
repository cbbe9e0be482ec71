# SPDX-License-Identifier: MIT
"""rivals_test.py BIN: each rival that is built runs with few events, follows the protocol, and
leaves nothing behind."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BENCH))

from bench_list import parse  # noqa: E402, the path is set above
from bench_program import Skipped, run  # noqa: E402

BIN = pathlib.Path(sys.argv.pop()).resolve()
SOURCE = BENCH.parents[1]
FEW = ["--rounds", "3", "--batch", "100"]
COLUMNS = ["rival", "x rdtsc", "lost", "of", "left"]
INSTANCES = "mount -t tracefs none /sys/kernel/tracing && ls /sys/kernel/tracing/instances"


def rivals():
    return [bench for bench in parse(BENCH / "benches.txt") if bench.group == "rivals"]


def figures_of(bench):
    bench.command += FEW
    return {figure["figure"]: figure for figure in run(bench, BIN, SOURCE)}


def shared_memory():
    return {
        name
        for name in os.listdir("/dev/shm")
        if name.startswith(("lttng", "uftrace", "netslice-rival"))
    }


class Rivals(unittest.TestCase):
    def for_each(self, check):
        ran = 0
        for bench in rivals():
            with self.subTest(rival=bench.name):
                try:
                    figures = figures_of(bench)
                except Skipped as reason:
                    print(f"{bench.name}: not run, {reason}")
                    continue
                check(bench, figures)
                ran += 1
        self.assertGreater(ran, 0, "no rival can be run")

    def test_each_prints_the_figures_it_promises_with_a_row_and_all_that_was_issued_arrives(self):
        def check(bench, figures):
            self.assertEqual(set(figures), set(bench.figures))
            for figure in figures.values():
                if "skipped" in figure:
                    self.assertGreater(len(figure["skipped"]), 10)
                    continue
                raw, row = figure["raw"], figure["row"]
                self.assertEqual(
                    (list(row), figure["unit"], raw["batch_means"]), (COLUMNS, "ns/event", 6)
                )
                self.assertLessEqual(raw["event_ns_p10"], raw["event_ns_p90"])
                # So few events fit into every buffer: a missing one was not counted.
                self.assertEqual(
                    (raw.get("arrived", raw["issued"]), row["lost"]),
                    (raw["issued"], 0 if "arrived" in raw else "-"),
                )

        before = shared_memory()
        self.for_each(check)
        self.assertLessEqual(shared_memory(), before)

    @unittest.skipUnless(os.geteuid() == 0, "tracefs requires root")
    def test_an_interrupted_trace_marker_takes_its_instance_away(self):
        marker = subprocess.Popen(
            [BIN.parent / "tests/rival_trace_marker", "--rounds", "100000"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        limit_s = time.monotonic() + 20
        while (
            "netslice_bench" not in self.instances()
            and marker.poll() is None
            and time.monotonic() < limit_s
        ):
            time.sleep(0.05)
        if marker.poll() == 77:
            self.skipTest(marker.stderr.read().strip())
        self.assertIn("netslice_bench", self.instances())
        marker.send_signal(signal.SIGINT)
        self.assertEqual(marker.wait(timeout=20), 128 + signal.SIGINT)
        marker.stderr.close()
        self.assertNotIn("netslice_bench", self.instances())

    def instances(self):
        seen = subprocess.run(
            ["unshare", "--mount", "sh", "-c", INSTANCES], capture_output=True, text=True
        )
        return seen.stdout.split()


unittest.main()
