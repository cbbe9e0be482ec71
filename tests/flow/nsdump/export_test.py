#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump export: rows of slices against the report on the same trace."""

import unittest

from probed_programs import NSDUMP, ProbedProgramsTest, run

OPEN_AT_END = """
    NET_SLICE_START(outer);
    NET_SLICE_START(inner);
    NET_SLICE_STOP(outer);
"""


class Export(ProbedProgramsTest):
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


if __name__ == "__main__":
    unittest.main()
