# SPDX-License-Identifier: MIT
# Document -> times of a program at the first packet and at later ones, and their figures.
from . import statistics

RUN, CLOCK, GAP = "run_ns", "clock_ns", "gap_ns"  # statistics, bpf_ktime_get_ns(), difference
FIRST, WARM = "packet 1", "packets 2 to 100"


def by_execution(document, program, kind):
    """Packet 1 of each run, as a list for each execution."""
    return _of(document["programs"][program], kind)


def first(document, program, kind):
    return [value for values in by_execution(document, program, kind) for value in values]


def warm(document, program, kind):
    """Packets 2 to 100, as a list for each attachment."""
    return _of(document["warm"][program], kind)


def before(document, name, program, kind):
    """What a treatment precedes."""
    place = document["before"][name][program]
    return _of({RUN: [place[RUN]], CLOCK: [place[CLOCK]]}, kind)[0]


def _of(place, kind):
    if kind != GAP:
        return place[kind]
    pairs = zip(place[RUN], place[CLOCK])
    return [[run - clock for run, clock in zip(*pair)] for pair in pairs]


def mean_of_means(document, program, kind):
    """The document's figure: the mean of the means of the executions."""
    means = [statistics.mean(values).value for values in by_execution(document, program, kind)]
    return statistics.mean(means)


def of_execution(document, execution):
    """The document with packet 1 of one execution only."""
    programs = {
        program: {kind: [lists[execution]] for kind, lists in place.items()}
        for program, place in document["programs"].items()
    }
    return {**document, "programs": programs}


class Figures:
    """Trimmed means of a document, each computed once."""

    def __init__(self, document):
        self._document, self._known = document, {}

    def __call__(self, program, kind, at=FIRST):
        key = program, kind, at
        if key not in self._known:
            if at == FIRST:
                made = statistics.trimmed_mean(first(self._document, program, kind))
            else:
                made = statistics.of_clusters(warm(self._document, program, kind))
            self._known[key] = made
        return self._known[key]


def lost_share(document):
    """Interrupts and the hypervisor: the share of the time that they take from a program, with
    its standard error over the blocks that were watched."""
    shares = [lost / watched for watched, lost, _, _ in document["pauses"] if watched]
    return statistics.mean(shares)
