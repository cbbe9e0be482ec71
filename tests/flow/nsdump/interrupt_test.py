#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ctrl-C while nsdump reads a trace: a file of an older run stays, and nothing else is left."""

import signal
import subprocess
import time
import unittest

from made_traces import TESTS, MadeTracesTest, needs
from probed_programs import NSDUMP

OLD = "of an older run\n"
COMMANDS = (
    ("show",),
    ("check",),
    ("stats", "--threads=1"),
    ("stats", "--threads=1", "--json"),
    ("explain", "--slice=lookup"),
    ("export", "--what=stats"),
    ("export", "--what=slices"),
    ("export", "--what=slices", "--json"),
    ("export", "--what=events"),
    ("export", "--format=perfetto"),
    ("export", "--format=chrome"),
    ("export", "--format=folded"),
    ("export", "--format=speedscope"),
    ("export", "--format=flamegraph"),
)
ATTEMPTS = 20  # on a busy machine, a command may end before the signal


class Interrupts(MadeTracesTest):
    def interrupted(self, place, *words):
        """Starts the command, and interrupts it once it has begun to write; its messages."""
        for _ in range(ATTEMPTS):
            with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
                while process.poll() is None and not any(place.glob(".netslice.*")):
                    time.sleep(0.0005)
                process.send_signal(signal.SIGINT)
                said = process.communicate()[1]
            if process.returncode == 130:
                return said
            self.assertEqual(process.returncode, 0, said)
        return self.fail(f"ended before the signal: {words}")

    def test_a_file_of_an_older_run_stays_and_nothing_else_is_left(self):
        trace = self.make("long", "--records", 5_000_000)
        place = self.folder / "place"
        place.mkdir()
        old = place / "old"
        for command, *options in COMMANDS:
            with self.subTest(command=command, options=options):
                old.write_text(OLD)
                said = self.interrupted(place, NSDUMP, command, trace, *options, "-o", old)
                self.assertEqual(old.read_text(), OLD)
                self.assertEqual(list(place.iterdir()), [old])
                self.assertIn(f"interrupted; {old} is not written", said)

    def test_standard_output_ends_with_a_whole_line(self):
        trace = self.make("streamed", "--records", 1_000_000)
        for command, *options in COMMANDS:
            if command == "show" or "--what=slices" in options or "--what=events" in options:
                with self.subTest(command=command, options=options):
                    words = [NSDUMP, command, trace, *options]
                    with subprocess.Popen(
                        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                    ) as process:
                        # It waits for its reader, and so cannot end before the signal.
                        first = process.stdout.readline()
                        process.send_signal(signal.SIGINT)
                        text, said = process.communicate()
                    self.assertEqual(process.returncode, 130)
                    self.assertTrue((first + text).endswith("\n"))
                    self.assertIn("interrupted; the output is incomplete", said)

    def test_a_quiet_check_prints_nothing(self):
        trace = self.make("quiet", "--records", 5_000_000)
        for attempt in range(1, 3 * ATTEMPTS):
            with subprocess.Popen(
                [NSDUMP, "check", "-q", trace],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as process:
                time.sleep(0.01 * attempt)
                process.send_signal(signal.SIGINT)
                printed = process.communicate()
            if process.returncode == 130:
                self.assertEqual(printed, ("", ""))
                return
        self.fail("not interrupted while it read")


if __name__ == "__main__":
    if not (TESTS / "make_trace").exists():
        needs.skip("make_trace is not built")
    unittest.main()
