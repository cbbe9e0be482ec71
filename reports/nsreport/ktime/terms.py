# SPDX-License-Identifier: MIT
# Figures of programs without checksums -> the terms of the gap between the two clocks.
#
# The gap of a run is run_time_ns of the statistics minus the time by bpf_ktime_get_ns().  The
# statistics read their clock before the program begins and after it ends; the program's own reads
# lie inside, so that the gap is what happens before the first and after the second of them:
#
#   statistics   their own two reads, and entering and leaving the program    none
#   event        the structure that is initialised before the first read     first' - full'
#   helper       of the two calls, what lies outside of the reads             clock - none - first'
#   map          the update                                                   map - none - event
#
# A name stands for run_time_ns of that variant without checksums, and with ' for its time by
# bpf_ktime_get_ns().  full' is the part of the two calls between the reads; first' is the same with
# the structure's initialisation.  The variants clock and map also initialise the structure.  No
# program with checksums, and no gap, is in a term.
from collections import Counter
from dataclasses import dataclass

from . import statistics
from .times import CLOCK, FIRST, GAP, RUN, WARM

ABSOLUTE_NS, RELATIVE = 20.0, 0.05  # what may be left unexplained

_NONE, _MAP, _HELPERS = ("none_0", RUN), ("map_0", RUN), ("clock_0", RUN)
_INSIDE, _INSIDE_WITH_EVENT = ("full_0", CLOCK), ("first_0", CLOCK)
_EVENT = {_INSIDE_WITH_EVENT: 1, _INSIDE: -1}
PARTS = {
    "statistics": {_NONE: 1},
    "helper": {_HELPERS: 1, _NONE: -1, _INSIDE_WITH_EVENT: -1},
    "map": {_MAP: 1, _NONE: -1, _INSIDE_WITH_EVENT: -1, _INSIDE: 1},
    "event": _EVENT,
}


@dataclass(frozen=True)
class Term:
    part: str
    is_cold: bool  # what packet 1 takes in addition to packets 2 to 100

    def coefficients(self):
        """Of figures (program, kind, packets)."""
        found = Counter()
        for (program, kind), factor in PARTS[self.part].items():
            if self.is_cold:
                found[program, kind, FIRST] += factor
                found[program, kind, WARM] -= factor
            else:
                found[program, kind, WARM] += factor
        return found


TERMS = [Term(part, is_cold) for is_cold in (False, True) for part in PARTS]


def value(figures, *terms):
    """Sum of terms; a figure that several of them have counts once in the error."""
    total = Counter()
    for term in terms:
        for key, factor in term.coefficients().items():
            total[key] += factor
    return statistics.combined([(factor, figures(*key)) for key, factor in total.items() if factor])


@dataclass(frozen=True)
class Explained:
    """The gap at one number of checksums; all in ns, of packet 1 or of packets 2 to 100."""

    gap: statistics.Figure
    terms: statistics.Figure

    @property
    def left(self):
        return statistics.combined([(1, self.gap), (-1, self.terms)])

    def share(self):
        return abs(self.left.value) / self.gap.value

    def bar_ns(self):
        return max(ABSOLUTE_NS, RELATIVE * self.gap.value)

    def is_met(self):
        return abs(self.left.value) <= self.bar_ns()


def explained(figures, number, at=FIRST):
    """packets 2 to 100 have no cold terms."""
    there = [term for term in TERMS if at == FIRST or not term.is_cold]
    return Explained(figures(f"full_{number}", GAP, at), value(figures, *there))


def in_place(figures, number, at=FIRST):
    """The same parts by leaving one of them out of the program with checksums, as a check; they
    have the program's own figures, which therefore partly cancel in their sum."""
    full, clock, none = (f"{name}_{number}" for name in ("full", "clock", "none"))
    parts = {
        "statistics": {_NONE: 1},
        "helper": {(clock, RUN): 1, (none, RUN): -1, _INSIDE_WITH_EVENT: -1},
        "map": {(full, RUN): 1, (clock, RUN): -1},
        "event": _EVENT,
    }
    made = {}
    for part, factors in parts.items():
        made[part] = statistics.combined([(f, figures(*key, at)) for key, f in factors.items()])
    return made


def event_by_order(figures, number, at=FIRST):
    """What initialising the event before the first read adds to the gap: with the read before it
    instead, the same work lies between the reads."""
    return statistics.combined(
        [(1, figures(f"full_{number}", GAP, at)), (-1, figures(f"first_{number}", GAP, at))]
    )


def remaining(figures, number, at=FIRST):
    """The document's difference of about 2000 ns: run_time_ns of the program with neither clock nor
    map, minus the time by bpf_ktime_get_ns() of the program with both."""
    return statistics.combined(
        [(1, figures(f"none_{number}", RUN, at)), (-1, figures(f"full_{number}", CLOCK, at))]
    )


def remaining_explained(figures, at=FIRST):
    """The same from programs without checksums: what the statistics measure of an empty program,
    minus the part of the clock's calls that lies between the reads."""
    return statistics.combined([(1, figures(*_NONE, at)), (-1, figures(*_INSIDE, at))])


def interrupts(share, gap):
    """What interrupts and the hypervisor add to the plain mean of a gap: they take the watched
    share of any time.  Trimmed means leave such runs out."""
    return statistics.Figure(share.value * gap.value, share.error * gap.value, share.degrees)
