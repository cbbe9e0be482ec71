#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump export --format ctf, read by babeltrace2: every event as nsdump itself has it."""

import os
import re
import signal
import subprocess
import unittest

from made_traces import TESTS, MadeTracesTest, needs
from probed_programs import NSDUMP, SOURCE, run

KINDS = {
    "func_entry": "START",
    "func_exit": "STOP",
    "mark": "MARK",
    "unit_init": "INIT",
    "unit_exit": "EXIT",
}
EVENT = re.compile(
    r"\[(?P<ticks>\d+)\] .*?:?(?P<event>\w+:\w+): \{ .*?cpu_id = (?P<cpu>\d+) \}, "
    r"\{ v?tid = (?P<thread>\d+) \}, "
    r'\{ addr = (?P<addr>\d+), name = \( (?P<names>".*?") : container = (?P<id>\d+) \), '
    r"words_length = (?P<length>\d+), words = \[(?P<words>.*)\] \}"
)


def read_back(folder):
    """Events as rows of `nsdump export --what events --json`, in order of time, and the number of
    events that the packets count as discarded."""
    done = run("babeltrace2", "--clock-cycles", "--no-delta", "--fields=trace:hostname", folder)
    assert done.returncode == 0, done.stderr
    found = []
    for line in done.stdout.splitlines():
        match = EVENT.search(line)
        assert match, line
        assert match["addr"] == match["id"], line
        kind = match["event"].split(":")[1]
        words = [int(word.split("=")[1]) for word in match["words"].split(",") if "=" in word]
        assert len(words) == int(match["length"]), line
        found.append(
            {
                "cpu": int(match["cpu"]),
                "thread": int(match["thread"]),
                "ticks": int(match["ticks"]),
                "kind": KINDS[kind],
                "name": match["names"].strip('"').replace('\\"', '"').replace("\\\\", "\\"),
                "words": words,
            }
        )
    discarded = sum(int(n) for n in re.findall(r"discarded (\d+) event", done.stderr))
    return found, discarded


def ordered(rows):
    return sorted(rows, key=lambda row: (row["ticks"], row["cpu"], repr(row)))


class Ctf(MadeTracesTest):
    def assert_same_events(self, trace):
        folder = self.folder / f"{trace.stem}-ctf"
        _, said = self.export_as(trace, "--format", "ctf", "-o", folder)
        found, discarded = read_back(folder)
        expected = self.export(trace, "events")
        self.assertGreater(len(expected), 0)
        self.assertEqual(ordered(found), ordered(expected))
        return discarded, said, folder

    def test_a_golden_trace_has_the_same_events(self):
        for name in ("two_cpus", "counters"):
            with self.subTest(name):
                self.assert_same_events(SOURCE / f"tests/format/golden/v1/{name}.nsl")

    def test_a_trace_of_four_cpus_with_counters_has_the_same_events(self):
        trace = self.make("four", "--records", 20000, "--cpus", 4, "--counters", 2)
        discarded, _, folder = self.assert_same_events(trace)
        self.assertEqual(discarded, 0)
        self.assertEqual(
            sorted(file.name for file in folder.iterdir()),
            ["cpu_0", "cpu_1", "cpu_2", "cpu_3", "metadata"],
        )

    def test_records_of_the_kernel_have_streams_of_their_own(self):
        trace = self.make("kernel", "--records", 5000, "--cpus", 2, "--kernel")
        _, _, folder = self.assert_same_events(trace)
        self.assertTrue((folder / "kernel_cpu_1").exists())

    def test_a_range_of_time_has_the_events_and_the_losses_in_it(self):
        trace = self.make("range", "--records", 20000, "--lose-every", 50, "--chunk-bytes", 4096)
        found, discarded = [], 0
        low, high = ("--from", "40000.4ns"), ("--to", "90us")
        ranges = (("--to", "40us"), (*low, *high), ("--from", "90000.4ns"))
        for place, options in enumerate(ranges):
            folder = self.folder / f"range-{place}"
            self.export_as(trace, "--format", "ctf", "-o", folder, *options)
            events, lost = read_back(folder)
            self.assertEqual(ordered(events), ordered(self.export(trace, "events", *options)))
            found += events
            discarded += lost
        self.assertEqual(ordered(found), ordered(self.export(trace, "events")))
        self.export_as(trace, "--format", "ctf", "-o", self.folder / "range-whole")
        # Those before the first event of a range are not in it.
        self.assertTrue(0 < discarded <= read_back(self.folder / "range-whole")[1])

    def test_losses_are_discarded_events_and_printed_by_cause(self):
        trace = self.make("lossy", "--records", 20000, "--lose-every", 50, "--chunk-bytes", 4096)
        discarded, said, folder = self.assert_same_events(trace)
        lost = re.search(r"lost_CAUSE: (\d+) full", said)
        self.assertIsNotNone(lost, said)
        self.assertEqual(discarded, int(lost[1]))
        self.assertIn(f"lost_full = {lost[1]};", (folder / "metadata").read_text())

    def test_a_damaged_trace_gives_a_folder_that_can_be_read(self):
        for kind, trace in self.damaged():
            folder = self.folder / f"damaged-{kind}"
            done = run(NSDUMP, "export", trace, "-q", "--format", "ctf", "-o", folder)
            with self.subTest(kind):
                self.assertIn(done.returncode, (0, 1, 3), done.stderr)
                self.assertEqual(folder.exists(), done.returncode != 3)
                if folder.exists():
                    read = run("babeltrace2", "--output-format=dummy", folder)
                    self.assertEqual(read.returncode, 0, read.stderr)

    def test_a_folder_that_cannot_be_written_is_an_error_and_nothing_is_left(self):
        trace = self.make("small", "--records", 1000)
        full = self.folder / "full"
        full.mkdir()
        (full / "file").write_text("kept")
        for path, words in (
            (full, "is not empty"),
            (full / "file", "is not a folder"),
            (self.folder / "nowhere/ctf", "cannot write"),
        ):
            _, said = self.export_as(trace, "--format", "ctf", "-o", path, code=4)
            self.assertIn(words, said)
        self.assertEqual([file.name for file in full.iterdir()], ["file"])
        self.assertEqual((full / "file").read_text(), "kept")
        _, said = self.export_as(trace, "--format", "ctf", code=2)
        self.assertIn("-o", said)
        _, said = self.export_as(trace, "--format", "ctf", "-o", "x", "-c", "3", code=2)
        self.assertIn("--count", said)

    def test_a_file_size_limit_leaves_nothing(self):
        trace = self.make("limited", "--records", 20000)
        place = self.folder / "limited"
        place.mkdir()
        done = run(
            "prlimit",
            "--fsize=100000",
            NSDUMP,
            "export",
            trace,
            "--format",
            "ctf",
            "-o",
            place / "ctf",
        )
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("cannot write", done.stderr)
        self.assertEqual(list(place.iterdir()), [])

    def test_an_interrupt_leaves_nothing(self):
        trace = self.make("long", "--records", 5_000_000)
        place = self.folder / "interrupted"
        place.mkdir()
        process = subprocess.Popen(
            [NSDUMP, "export", trace, "--format", "ctf", "-o", place / "ctf"],
            stderr=subprocess.PIPE,
            text=True,
        )
        while process.poll() is None and not any(place.glob(".netslice.*/cpu_0")):
            pass
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        if process.returncode == 0:
            self.skipTest("it was faster than the signal")
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("is not written", said)
        self.assertEqual(list(place.iterdir()), [])


if __name__ == "__main__":
    needs.tools("babeltrace2", "prlimit")
    if not (TESTS / "make_trace").exists():
        needs.skip("make_trace is not built")
    os.environ["TZ"] = "UTC"
    unittest.main()
