# SPDX-License-Identifier: MIT
"""Traces that make_trace writes, and what nsdump exports of them."""

import os
import pathlib
import sys

from probed_programs import NSDUMP, SOURCE, ProbedProgramsTest, run

sys.path.insert(0, str(SOURCE / "tests/flow"))
import needs  # noqa: E402, F401 (for the tests)

TESTS = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "tests"


class MadeTracesTest(ProbedProgramsTest):
    def make(self, name, *options):
        trace = self.folder / f"{name}.nsl"
        done = run(TESTS / "make_trace", trace, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return trace

    def damaged(self):
        """Yields the kinds of damage, each with a trace that has it."""
        traces = sorted((SOURCE / "tests/format/damaged").glob("*.nsl"))
        self.assertGreater(len(traces), 10)
        for trace in traces:
            yield trace.stem, trace

    def export_as(self, trace, *options, code=0):
        """Standard output and standard error."""
        done = run(NSDUMP, "export", trace, "-q", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr
