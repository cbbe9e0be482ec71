# SPDX-License-Identifier: MIT
# What `nsreport --sids` measures: figures 4 and 5 of 2004.
from ..traffic import capture
from ..traffic.stored import is_count, is_number, is_text

SCHEMA = "netslice-sids-1"
NUMBERS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
QUICK_NUMBERS = (1, 10, 100, 1000)
FIGURES = {"headers": "4", "patterns": "5"}
# Whether functions of several flows run in one pass: the index of filters, one search for all.
VARIANTS = {"together": True, "alone": False}
PACKETS_PER_S = 80_000
WIRE_BYTES = 1500
STEP_S = 2.5  # begin and end of sids, for each measurement
ALL_ID = 1_000_000  # of the rule that counts what sids has read
_PORT, _FIRST_PORT = 5001, 20000  # of ttcp, and of rules: no packet has one of theirs
_TEXT = b"abcdefghijklmnopqrstuvwxyz"  # as ttcp sends


def packet():
    """As those of 2004: TCP to port 5001, with a constant text."""
    return capture.tcp_packet(WIRE_BYTES, _PORT, _TEXT)


def rules(figure, number):
    """The text of a file: so many rules that match no packet, and one that counts all."""
    one = {"headers": _header_rule, "patterns": _pattern_rule}[figure]
    lines = [one(i) for i in range(number)]
    return "\n".join([*lines, f"count tcp; id: {ALL_ID};"]) + "\n"


def _header_rule(i):
    return f"count tcp and dst port {_FIRST_PORT + i}; id: {i + 1};"


def _pattern_rule(i):
    return f"count; content: SIGNATURE-{i:04}/{i * 7919 % 10007:05}; id: {i + 1};"


def numbers(options):
    return QUICK_NUMBERS if options.quick else NUMBERS


def steps(options):
    return options.rounds * len(FIGURES) * len(VARIANTS) * len(numbers(options))


def minutes(options):
    return steps(options) * (options.seconds + STEP_S) / 60


_COUNTS = ("number", "round", "sent", "received", "behind", "refused", "sender_dropped")
_NUMBERS = ("seconds", "cpu_s", "wall_s", "idle_share", "start_s", "waited_s", "steal_s")


def is_point(row):
    return (
        isinstance(row, dict)
        and row.get("figure") in FIGURES
        and row.get("variant") in VARIANTS
        and all(is_count(row.get(key)) for key in _COUNTS)
        and all(is_number(row.get(key), 0) for key in _NUMBERS)
        and row["wall_s"] > 0
        and row["seconds"] > 0
    )


MEMBERS = {
    "rounds": lambda value: is_count(value) and value > 0,
    "seconds": lambda value: is_number(value, 0, 1e6),
    "rate": is_count,
    "bytes": is_count,
    "kernel": is_text,
    "cpu": is_text,
    "method": is_text,
    "points": lambda value: isinstance(value, list) and value and all(map(is_point, value)),
}
