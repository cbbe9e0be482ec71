# SPDX-License-Identifier: MIT
# The measurements behind the page: their commands, and how long each takes.
import json
import os
import sys
from dataclasses import dataclass

from .. import source
from ..errors import EXIT_INPUT, EXIT_TOOL, ReportError, shown
from ..measured import REPORTS
from ..system import results as system_results, run as system_run
from . import budget, conducted, kernel_mapi, netslice, scampi, two_clocks

REPORT = "report"  # of a part, in its folder
SHORT, LONG = "short", "long"


@dataclass(frozen=True)
class Part:
    name: str
    words: str
    short_s: float  # about
    long_s: float
    results: str  # in its folder; of experiments, in the folder of each
    tables: dict  # item: what the results say on it
    option: str = ""  # of nsreport, if it makes the part


def _of(seed, tables):
    return {f"{seed}-{name}": table for name, table in tables.items()}


_RESULTS = f"{REPORT}/data/results.json"
_FIGURES = {f"figure-2-{n}": kernel_mapi.figure for n in range(1, 11)}
PARTS = (
    Part(
        *("calibrate", "clock reads, instructions and macro-instructions", 10, 60),
        results="calibration.json",
        tables=_of(
            "003",
            {
                "table-1": netslice.instructions,
                "table-2": netslice.macros,
                "figure-4": netslice.events,
            },
        ),
    ),
    Part(
        *("send", "the way of a TCP packet through the kernel", 6, 15),
        results="stats.json",
        tables=_of("003", {"example": netslice.tcp_send}),
    ),
    Part(
        *("system", "TCP over loopback with and without the kernel module", 50, 600),
        results=f"{REPORT}/data/results.txt",
        tables=_of(
            "003",
            {"table-3": netslice.system_cost, "figure-5": netslice.round_trips},
        ),
        option="--system",
    ),
    Part(
        *("cost", "the cost of packets and calls, on a capture", 100, 140),
        results="mapi-cost.json",
        tables=_of(
            "000",
            {
                "table-2": scampi.packet_cost,
                "table-3": scampi.call_cost,
                "table-4": scampi.flow_cost,
            },
        ),
    ),
    Part(
        *("load", "loss by rate, and the cost of packets as they arrive", 90, 500),
        results=_RESULTS,
        tables=_of("000", {"table-1": scampi.loss_by_rate, "table-2": scampi.live_cost}),
        option="--load",
    ),
    Part(
        *("sids", "load and loss by the number of rules", 45, 480),
        results=_RESULTS,
        tables=_of("000", {"figure-4": scampi.header_rules, "figure-5": scampi.pattern_rules}),
        option="--sids",
    ),
    Part(
        *("qos", "delay and loss through a node that makes them", 110, 500),
        results=_RESULTS,
        tables=_of("000", {"figure-7": scampi.delay, "figure-8": scampi.packet_loss}),
        option="--qos",
    ),
    Part(
        *("placement", "functions in the kernel, in programs, and libpcap", 130, 600),
        results=_RESULTS,
        tables=_of("001", _FIGURES),
        option="--placement",
    ),
    Part(
        *("ktime", "an XDP program's time by two clocks", 60, 3600),
        results=_RESULTS,
        tables=_of(
            "002",
            {
                "picture-1": two_clocks.both,
                "picture-2": two_clocks.without,
                "picture-3": two_clocks.trend,
                "picture-4": two_clocks.course,
                "csv": two_clocks.runs,
            },
        ),
        option="--ktime",
    ),
    Part(
        *("tcp", "TCP between namespaces, by nsconduct", 20, 700),
        results="results.json",
        tables=_of("004", {"baseline-tcp": conducted.baseline}),
    ),
    Part(
        *("packets", "packets a second between namespaces, by nsconduct", 25, 700),
        results="results.json",
        tables=_of("004", {"baseline-packets": conducted.baseline}),
    ),
    Part(
        *("ciphers", "TCP through IPsec by cipher, by nsconduct", 95, 1700),
        results="results.json",
        tables=_of("004", {"ciphers": conducted.ciphers}),
    ),
    Part(
        *("budget", "the cycles that a packet may cost at 100 Gbit/s", 75, 75),
        results=_RESULTS,
        tables=_of("004", {"budget": budget.budget}),
        option="--budget",
    ),
)
NAMES = tuple(part.name for part in PARTS)
EXPERIMENTS = ("tcp", "packets", "ciphers")


def seconds(part, form):
    return part.long_s if form == LONG else part.short_s


def document(part, folder):
    """Checked results of a part's folder; refuses any other."""
    if part.name in EXPERIMENTS:
        return _of_experiments(part, folder)
    path = os.path.join(folder, part.results)
    if part.name == "system":
        return system_results.parse(system_run.read(path), path)
    if part.option:
        report = REPORTS[part.option]
        return report.stored.read(path, report.plan)
    if part.name == "calibrate":
        return _json(path, "paper")
    return source.open_source(path, sys.argv[0], None).document


def _json(path, member):
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise ReportError(EXIT_INPUT, f"{shown(path)}: {error} (measure again)") from error
    if not isinstance(found, dict) or not isinstance(found.get(member), dict):
        raise ReportError(EXIT_INPUT, f"{shown(path)}: damaged: {member} (measure again)")
    return found


def _of_experiments(part, folder):
    found = {
        name: _json(path, "values")
        | {conducted.IMPLEMENTATIONS: conducted.implementations(os.path.join(folder, name))}
        for name in sorted(os.listdir(folder))
        if os.path.exists(path := os.path.join(folder, name, part.results))
    }
    if not found:
        raise ReportError(EXIT_TOOL, f"{part.name}: no experiment has results (measure again)")
    return found
