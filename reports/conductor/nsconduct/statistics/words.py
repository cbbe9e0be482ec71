# SPDX-License-Identifier: MIT
# A comparison's figures -> the sentence that says whether a difference is real.
import re

# a rate or an amount in a given time: more is faster; a time or what an operation takes: less is
RATE = re.compile(r"/\s*(s|sec|second|us|ms|ns)$|^[kmgt]?(pps|bps|bit/s|iops)$", re.I)
TIME = re.compile(
    r"^(s|sec|seconds?|ms|us|ns|minutes?|h|cycles|instructions|ticks)(\s*/.*)?$", re.I
)
FASTER, SLOWER = ("faster", "slower"), ("slower", "faster")


def _adjectives(unit):
    """(of more, of less): what a greater and a smaller value mean in this unit."""
    unit = (unit or "").strip()
    if RATE.search(unit):
        return FASTER
    if TIME.match(unit):
        return SLOWER
    return "higher", "lower"


def number(value):
    return f"{value:.4g}"


def _interval(low, high, scale, unit):
    low, high = sorted((low * scale, high * scale))
    return f"95 % interval {number(low)} to {number(high)} {unit}"


def difference(found, unit):
    """The two variants differ: by how much, the second as seen from the first."""
    more, less = _adjectives(unit)
    sign = 1 if found["difference"] > 0 else -1
    word = more if sign > 0 else less
    if found["relative"] is None:
        size = f"{number(abs(found['difference']))} {unit}"
        interval = _interval(*found["ci95"], sign, unit)
    else:
        size = f"{number(100 * abs(found['relative']))} %"
        interval = _interval(*found["relative_ci95"], 100 * sign, "%")
    return f"{found['b']} is {word} than {found['a']} by {size} ({interval})"


def no_difference(found, unit):
    """What the samples leave possible, so that few samples do not look like equality."""
    low, high, scale, of = *found["ci95"], 1, unit
    if found["relative"] is not None:
        low, high, scale, of = *found["relative_ci95"], 100, "%"
    possible = f"{number(low * scale)} and {number(high * scale)} {of}"
    return f"no difference shown: {found['b']} minus {found['a']} is between {possible}"


def not_comparable(why):
    return f"not comparable: {why}"
