#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of many CPUs, of which two threads read one each."""

import json
import os
import unittest

from made_traces import TESTS, MadeTracesTest, needs
from probed_programs import NSDUMP


class ManyCpusTest(MadeTracesTest):
    def stats(self, trace, threads):
        """The statistics, and the peak of resident memory in KiB."""
        out = self.folder / f"by_{threads}.json"
        words = (NSDUMP, "stats", trace, "-q", "--format", "json", "--threads", threads, "-o", out)
        words = [str(word) for word in words]
        process = os.posix_spawn(words[0], words, os.environ)
        _, status, usage = os.wait4(process, 0)
        self.assertEqual(status, 0)
        return json.loads(out.read_text()), usage.ru_maxrss

    def test_those_that_are_read_while_another_one_takes_long_wait_in_little_memory(self):
        idle = 2500  # more do not fit into the footer
        trace = self.make(
            "idle", "--records", 3_000_000, "--counters", 2, "--cpus", 1, "--idle-cpus", idle
        )
        by_one, _ = self.stats(trace, 1)
        by_two, peak_kib = self.stats(trace, 2)
        self.assertEqual(by_two, by_one)
        self.assertGreater(by_one["units"][0]["units"], idle)
        self.assertLess(peak_kib, 90 << 10)


if __name__ == "__main__":
    if not (TESTS / "make_trace").exists():
        needs.skip("make_trace is not built")
    unittest.main()
