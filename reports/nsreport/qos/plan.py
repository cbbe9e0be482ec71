# SPDX-License-Identifier: MIT
# What `nsreport --qos` measures: figures 7 and 8 of 2004.
from dataclasses import dataclass

from ..traffic.stored import is_count, is_number, is_text

SCHEMA = "netslice-qos-1"
ENDS = (("near", "in"), ("out", "far"))  # source and node, node and sink
# Interfaces of the observation points.  Both are receiving ends: what mapi-gen sends past the
# queueing discipline, no program sees where it is sent.
FIRST, SECOND = "in", "far"
BIT_RATE, WIRE_BYTES = 10_000_000, 256
PACKETS_PER_S = BIT_RATE / 8 / WIRE_BYTES
COLLECTED = 10  # percent: reports at lower rates use a part of it
DELAY_RATES, LOSS_RATES = (5,), (1, 5, 10)
PART_S = 1.9  # begin and end of programs, for each step


@dataclass(frozen=True)
class Step:
    part: str  # "delay" or "loss"
    set: float  # milliseconds, or percent

    def impairment(self):
        """Options of mapi-impair."""
        return ("--delay", f"{self.set:g}ms") if self.part == "delay" else ("--loss", f"{self.set}")

    @property
    def rates(self):
        return DELAY_RATES if self.part == "delay" else LOSS_RATES


STEPS = (
    *(Step("delay", number / 20) for number in range(11)),
    *(Step("loss", 10 * number) for number in range(11)),
)


def steps(rounds):
    return rounds * len(STEPS)


def minutes(options):
    return steps(options.rounds) * (options.seconds + PART_S) / 60


def _is_interval(value):
    return value is None or (
        isinstance(value, list) and len(value) == 2 and all(map(is_number, value))
    )


_COUNTS = ("sent", "received", "lost", "duplicates", "reordered")
_NUMBERS = ("loss", "delay_ms", "delay_p50_ms", "jitter_ms")


def _is_report(row):
    return (
        isinstance(row, dict)
        and is_number(row.get("rate"), 0, 100)
        and all(is_count(row.get(key)) for key in _COUNTS)
        and all(row.get(key) is None or is_number(row[key]) for key in _NUMBERS)
        and all(_is_interval(row.get(key)) for key in ("loss_ci95", "delay_ci95_ms"))
    )


_NODE_COUNTS = ("packets", "sent", "lost", "full", "refused", "unsent", "too_long", "missed")
_NODE_NUMBERS = ("delay_ms", "delay_p50_ms", "late_ms", "most_late_ms")
_LOST_BY = ("sender_refused", "sender_behind", "sender_dropped", "first_lost", "second_lost")


def _is_node(node):
    return (
        isinstance(node, dict)
        and all(is_count(node.get(key)) for key in _NODE_COUNTS)
        and all(node.get(key) is None or is_number(node[key], 0) for key in _NODE_NUMBERS)
    )


def is_point(row):
    return (
        isinstance(row, dict)
        and row.get("part") in ("delay", "loss")
        and is_number(row.get("set"), 0, 100)
        and is_count(row.get("round"))
        and is_count(row.get("generated"))
        and all(is_count(row.get(key)) for key in _LOST_BY)
        and _is_node(row.get("node"))
        and isinstance(row.get("reports"), list)
        and all(map(_is_report, row["reports"]))
    )


MEMBERS = {
    "rounds": lambda value: is_count(value) and value > 0,
    "seconds": lambda value: is_number(value, 0, 1e6),
    "kernel": is_text,
    "cpu": is_text,
    "method": is_text,
    "points": lambda value: isinstance(value, list) and value and all(map(is_point, value)),
}
