#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uftrace.py PROGRAM: uftrace's cost, and the number of calls in its report; a call is two
events."""

import re

import recording

program = recording.begin()
figure = recording.figure_of(
    recording.must(["uftrace", "record", "--no-pager", "--data=calls", *program])
)
report = recording.must(["uftrace", "report", "--no-pager", "--data=calls"])
calls = re.search(r"(\d+)\s+rival_event$", report, re.M)
recording.finish(figure, 2 * int(calls.group(1)) if calls else 0)
