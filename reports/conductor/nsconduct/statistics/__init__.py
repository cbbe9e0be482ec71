# SPDX-License-Identifier: MIT
# Samples of trials -> summaries, intervals, comparisons; start at summary.py and compare.py.
