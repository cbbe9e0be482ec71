#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dpdk.py PROGRAM: rte_trace's cost, and the number of events that rte_eal_cleanup() saved."""

import recording

program = recording.begin()
figure = recording.figure_of(recording.must(program))
recording.finish(figure, recording.events_in_ctf("."))
