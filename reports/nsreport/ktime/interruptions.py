# SPDX-License-Identifier: MIT
# ktime: how often a program is interrupted, at packet 1, later, and by clock reads in a loop.
from dataclasses import dataclass

from . import plan, statistics, times

LONG_NS = 3500  # above the median of a program: more than cold code and data take


@dataclass(frozen=True)
class Interruptions:
    count: int
    per_ms: float  # of the time that programs took
    median_ns: float  # of what they add; None without any


def _of(lists):
    """lists: run_ns of one program each."""
    found, took_ns = [], 0.0
    for values in lists:
        middle = statistics.percentile(values, 0.5)
        longer = [value - middle for value in values if value > middle + LONG_NS]
        found += longer
        took_ns += sum(values) - sum(longer)
    median_ns = statistics.percentile(found, 0.5) if found else None
    return Interruptions(len(found), len(found) / took_ns * 1e6, median_ns)


def of_first(document):
    return _of([times.first(document, program, times.RUN) for program in plan.programs()])


def of_warm(document):
    return _of(
        [
            [value for one in times.warm(document, program, times.RUN) for value in one]
            for program in plan.programs()
        ]
    )


def of_reads(document):
    """Pauses between clock reads; their mean stands for the median."""
    watched, lost, pauses = (sum(block[i] for block in document["pauses"]) for i in range(3))
    return Interruptions(pauses, pauses / watched * 1e6, lost / pauses if pauses else None)
