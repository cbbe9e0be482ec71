# SPDX-License-Identifier: MIT
# Points -> losses, time by source, medians of rounds.
from ..system.figures import spread
from .bench import NONE

NS_PER_S = 1e9
REACHED = 0.95  # of the rate asked for; a sender that reached less was too slow
SOFTIRQ_SOURCE = (
    "wall-clock time between the tracepoints softirq_entry and softirq_exit of NET_RX, on all "
    "CPUs, with steal, hard interrupts and other packets of the machine in it, minus that of the "
    "same traffic unwatched"
)
PROCESS_SOURCE = (
    "CLOCK_PROCESS_CPUTIME_ID of the reader, all threads, minus what it uses without packets, by "
    "packets sent"
)


def rows(document, **wanted):
    return [
        row
        for row in document["points"]
        if all(row.get(key) == value for key, value in wanted.items())
    ]


def lost(row):
    """If the kernel filters packets before they are read, only the reported drops are known."""
    if row.get("is_filtered") and not row["received"]:
        return row["dropped"]
    return max(0, row["sent"] - row["received"])


def rate(row):
    """The rate that the sender reached."""
    return row["sent"] / row["seconds"]


def dropped(row):
    return min(row["dropped"], lost(row))


def late(row):
    """Not dropped, but not processed when the reader's time was over."""
    return lost(row) - dropped(row)


def lost_share(row, lost_of=lost):
    """None if nothing was sent."""
    return lost_of(row) / row["sent"] if row["sent"] else None


def process_ns(row):
    """CPU time for packets: an idle reader's is left out."""
    idle_s = row.get("idle_share", 0) * row.get("reader_s", row["seconds"])
    return row["reader_ns"] - idle_s * NS_PER_S


def demand(row):
    """CPU time of the process by the time of sending, in percent: above 100 it does not keep up."""
    return 100 * process_ns(row) / (row["seconds"] * NS_PER_S)


class Costs:
    """Time relative to the same traffic unwatched, in the same round."""

    def __init__(self, document, *same):
        """same: the keys in which a point and its unwatched one agree."""
        self._same = (*same, "rate", "round")
        self._unwatched = {self._key(row): row for row in rows(document, system=NONE)}

    def _key(self, row):
        return tuple(row.get(key) for key in self._same)

    def _added(self, row, key):
        """Per packet, relative to unwatched traffic; None if either is not measured."""
        base = self._unwatched.get(self._key(row))
        if base is None or row[key] is None or base[key] is None:
            return None
        return row[key] / max(1, row["sent"]) - base[key] / max(1, base["sent"])

    def softirq_ns(self, row):
        return self._added(row, "softirq_ns")

    def process_ns(self, row):
        return process_ns(row) / max(1, row["sent"])

    def instructions(self, row):
        """Of kernel and programs, on all CPUs."""
        return self._added(row, "instructions")

    def total_ns(self, row):
        softirq_ns = self.softirq_ns(row)
        return None if softirq_ns is None else softirq_ns + self.process_ns(row)

    def share(self, row):
        """Softirq and process by the time of sending, in percent of one CPU."""
        softirq_ns = self.softirq_ns(row)
        if softirq_ns is None:
            return None
        return 100 * softirq_ns * row["sent"] / row["seconds"] / NS_PER_S + demand(row)


def of_rounds(found, value):
    """Median, least and greatest of a value over rows; None if there are none."""
    return spread(v for v in map(value, found) if v is not None)
