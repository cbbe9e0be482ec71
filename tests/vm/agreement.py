# SPDX-License-Identifier: MIT
"""Rounds by the kernel module and by BPF programs -> whether both say the same within their errors.
A value is a pair: the number and its half width."""

import re
import statistics

RECORDERS = ("nsmod", "bpf")

ROUNDS = 10
# Ranks from either end, of 10 numbers, between which their median lies with 98 %.
RANK = 1

# Shell: `taken RECORDER NAME ROUND` prints what is subtracted from each slice of this name in
# RECORDER.nsl, for taken().
TAKEN = """
taken() {
    nsdump export $1.nsl --what slices --format csv 2>/dev/null |
        awk -F, -v recorder=$1 -v name=$2 -v round=$3 \\
            '$1 == name && $NF != "spans-loss" {
                printf "taken by %s in %d: %d\\n", recorder, round, $9 - $10
            }'
}
"""


def pooled(rounds):
    """The value of all rounds, weighted by their widths.  Rounds share the errors of constants, so
    the half width does not shrink with their number."""
    rounds = list(rounds)
    weights = [half_width**-2 for _, half_width in rounds]
    return tuple(
        sum(weight * one[i] for weight, one in zip(weights, rounds)) / sum(weights) for i in (0, 1)
    )


def taken(text):
    """Output of a guest -> what is subtracted from a slice, by recorder: the median of the rounds'
    lower quartiles.  A busy host, which stops the emulated guest within interrupts, only adds."""
    return {
        recorder: _median(
            [
                statistics.quantiles(
                    map(int, re.findall(rf"(?m)^taken by {recorder} in {i}: (-?\d+)", text)), n=4
                )[0]
                for i in range(1, ROUNDS + 1)
            ]
        )
        for recorder in RECORDERS
    }


def _median(rounds):
    ordered = sorted(rounds)
    return statistics.median(ordered), (ordered[-1 - RANK] - ordered[RANK]) / 2


def half_widths(values):
    return sum(values[recorder][1] for recorder in RECORDERS)


def difference(values):
    """In half widths of both: up to 1, the intervals overlap."""
    return abs(values["nsmod"][0] - values["bpf"][0]) / half_widths(values)
