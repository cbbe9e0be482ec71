#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump export: rows of slices against the report on the same trace."""

import unittest

from made_traces import TESTS, MadeTracesTest, needs
from probed_programs import NSDUMP, run

OPEN_AT_END = """
    NET_SLICE_START(outer);
    NET_SLICE_START(inner);
    NET_SLICE_STOP(outer);
"""


class Export(MadeTracesTest):
    def test_a_slice_with_an_inner_one_still_open_at_the_end_is_exported(self):
        trace = self.record("open", OPEN_AT_END, "--thin", "off")
        counts = {one["name"]: one["count"] for one in self.export(trace, "stats")["slices"]}
        self.assertEqual(counts["outer"], 1)
        self.assertEqual([one["name"] for one in self.export(trace, "slices")], ["outer"])

    def test_what_a_format_does_not_carry_is_refused(self):
        trace = self.record("refused", OPEN_AT_END)
        done = run(NSDUMP, "export", trace, "--what", "everything")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--what", done.stderr)

    def test_a_name_that_is_not_utf8_is_repaired_in_the_same_way_in_each_format(self):
        trace = self.folder / "names.nsl"  # has the name: parse "\\xff"
        run(TESTS / "make_timeline_trace", trace).check_returncode()
        formats = (
            *(("csv", "--what", what) for what in ("stats", "slices", "events")),
            *(("json", "--what", what) for what in ("stats", "slices", "events")),
            *((name,) for name in ("perfetto", "chrome", "folded", "speedscope", "flamegraph")),
            ("ctf",),
        )
        for name, *options in formats:
            with self.subTest(name, options=options):
                output = self.folder / f"names.{name}"
                done = run(NSDUMP, "export", trace, "--format", name, *options, "-o", output, "-q")
                self.assertIn(done.returncode, (0, 1), done.stderr)
                written = output / "metadata" if output.is_dir() else output
                text = written.read_bytes()
                self.assertRegex(text, "parse .{1,6}\ufffd".encode())
                self.assertNotRegex(text, rb"parse .{1,6}(\xff|\\xff)")


if __name__ == "__main__":
    if not (TESTS / "make_timeline_trace").exists():
        needs.skip("make_timeline_trace is not built")
    unittest.main()
