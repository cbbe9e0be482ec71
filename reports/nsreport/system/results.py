# SPDX-License-Identifier: MIT
# Output of system_measure.sh -> document: measured values by kind, message size, variant and round;
# and `size` of programs.
import json
import re

from ..errors import EXIT_INPUT, EXIT_SCHEMA, ReportError, shown

VARIANTS = ("without", "idle", "recording")
KINDS = ("round_trip", "throughput")
_MARK = re.compile(r"^== (\w+)(?: (.*))?$")
_MEDIAN_US = re.compile(r"percentile 50\.000 = +([0-9.]+)")


class Unreadable(Exception):
    """A tool's output without a result; the text is the reason if the tool gave one."""


def sockperf_us(text):
    """Median round trip in microseconds."""
    found = _MEDIAN_US.search(text)
    if not found or not float(found.group(1)) > 0:
        raise Unreadable(_last_line(text))
    return float(found.group(1))


def iperf3_gbit(text):
    """Rate at the receiver in Gbit per second."""
    try:
        document = json.loads(text[text.index("{") :])
        rate = document["end"]["sum_received"]["bits_per_second"]
    except (ValueError, KeyError, TypeError):
        said = re.search(r'"error":\s*"([^"]*)"', text)
        raise Unreadable(said.group(1) if said else _last_line(text)) from None
    if not isinstance(rate, (int, float)) or not rate > 0:
        raise Unreadable(f"a rate of {rate}")
    return rate / 1e9


def _last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return shown(lines[-1])[:200] if lines else "no output"


READERS = {"round_trip": ("sockperf", sockperf_us), "throughput": ("iperf3", iperf3_gbit)}


def _sections(text):
    """(word, rest, text up to the next mark) of each mark."""
    word = rest = None
    lines = []
    for line in text.splitlines():
        mark = _MARK.match(line)
        if not mark:
            lines.append(line)
            continue
        if word:
            yield word, rest, "\n".join(lines)
        word, rest, lines = mark.group(1), mark.group(2) or "", []
    if word:
        yield word, rest, "\n".join(lines)


def _size_row(rest):
    """FILE-BYTES TEXT DATA BSS NAME"""
    words = rest.split(" ", 4)
    return {
        "file_bytes": int(words[0]),
        "text": int(words[1]),
        "data": int(words[2]),
        "bss": int(words[3]),
        "name": words[4],
    }


def _measured(document, word, rest, body):
    variant, size, turn = rest.split()
    if variant not in VARIANTS:
        raise ValueError(variant)
    tool, reader = READERS[word]
    try:
        value = reader(body)
    except Unreadable as error:
        document["failed"].append(f"{tool}, variant {variant}, {size} bytes, round {turn}: {error}")
        return
    document["values"][word].setdefault(int(size), {}).setdefault(variant, {})[int(turn)] = value


def parse(text, name):
    """Returns the document; refuses any other text."""
    document = {
        "kernel": None,
        "cpu": None,
        "groups": None,
        "seconds": None,
        "missing": {},
        "lacking": [],
        "faults": [],
        "failed": [],
        "recorded_bytes": [],
        "sizes": [],
        "is_whole": False,
        "values": {kind: {} for kind in KINDS},
    }
    is_known = False
    try:
        for word, rest, body in _sections(text):
            if word in ("kernel", "cpu", "groups", "seconds"):
                document[word] = rest
            elif word == "missing":
                variant, _, reason = rest.partition(" ")
                document["missing"][variant] = reason
            elif word == "lacking":
                document["lacking"].append(rest)
            elif word == "fault":
                document["faults"].append(rest)
            elif word == "recorded":
                document["recorded_bytes"].append(int(rest.split()[0]))
            elif word == "size":
                document["sizes"].append(_size_row(rest))
            elif word in KINDS:
                _measured(document, word, rest, body)
            elif word == "results":
                is_known = rest == "netslice-system-1"
            elif word == "end":
                document["is_whole"] = True
    except (ValueError, IndexError) as error:
        raise ReportError(
            EXIT_INPUT, f"{shown(name)}: damaged: {shown(error)} (measure again)"
        ) from error
    if not is_known:
        raise ReportError(
            EXIT_SCHEMA,
            f"{shown(name)}: not a result of `nsreport --system` or system_measure.sh, "
            "netslice-system-1 (give data/results.txt of an earlier measurement)",
        )
    return document
