# SPDX-License-Identifier: MIT
# load: time of a packet in softirq and in the process -> picture and table.
from .. import page
from ..charts import Panel, Row, stacked
from ..layout import PALETTE, top_px
from ..picture import Absent, Picture
from ..text import count, number
from ..traffic import figures, head
from . import plan
from .words import WORDS, systems

PARTS = (
    ("time in softirq, added to that of unwatched traffic", PALETTE[1]),
    ("CPU time of the process", PALETTE[0]),
)


def costs_of(document):
    return figures.Costs(document, "part", "size")


def _point(document, system, size, rate=None):
    return figures.rows(document, part="sweep", system=system, size=size, rate=rate)


def spreads(costs, rows):
    """Softirq, process and total in nanoseconds per packet; each median, least and greatest."""
    values = costs.softirq_ns, costs.process_ns, costs.total_ns
    return [figures.of_rounds(rows, value) for value in values]


def _row(costs, rows):
    softirq, process, total = spreads(costs, rows)
    if total is None:
        return Row([], "not measured")
    half = max(total[2] - total[0], total[0] - total[1])
    start = max(0.0, softirq[0])
    segments = [
        (min(0.0, softirq[0]), start, PARTS[0][1]),
        (start, start + max(0.0, process[0]), PARTS[1][1]),
    ]
    return Row(segments, f"{number(total[0])} \u00b1 {number(half)}", (total[0], half))


def picture(document):
    costs, there = costs_of(document), systems(document)
    topic = "Time of a packet, counted"
    if not there:
        return Absent("cpu_time", topic, "No system was measured.")
    panels = [
        Panel(
            f"ns per packet of {size} bytes",
            [_row(costs, _point(document, s, size)) for s in there],
        )
        for size in plan.SIZES
    ]
    height_px, variables, tables = stacked([WORDS[s] for s in there], panels)
    if not any(row.segments for panel in panels for row in panel.rows):
        return Absent("cpu_time", topic, "Time in softirq was not measured.")
    rows = [
        (size, WORDS[s], *(one and one[0] for one in spreads(costs, _point(document, s, size))))
        for size in plan.SIZES
        for s in there
    ]
    legend = list(PARTS)
    drawn = [row for s in there for size in plan.SIZES for row in _point(document, s, size)]
    return Picture(
        name="cpu_time",
        topic=topic,
        question="How much time in softirq and process does it take to count a packet?",
        script="function_cost.gp",
        height_px=top_px(legend) + height_px,
        variables=variables,
        tables=tables,
        data_header=("bytes", "system", "softirq_ns", "process_ns", "total_ns"),
        data_rows=rows,
        source=f"time in softirq: {figures.SOFTIRQ_SOURCE}; process: {figures.PROCESS_SOURCE}",
        samples=f"{head.samples(document)}, at the sender's top rate",
        losses=head.losses(drawn),
        reading="The value is the median of the sums of both parts, with the distance of the "
        "farthest round. Time in softirq below zero: the traffic costs less than unwatched, as "
        "its packets do not go on to the host.",
        notes=[_sentence(document, costs, there), *head.disturbed_note(drawn)],
        legend=legend,
    )


def _sentence(document, costs, there):
    size = plan.SIZES[0]
    totals = {s: spreads(costs, _point(document, s, size))[2] for s in there}
    totals = {s: total[0] for s, total in totals.items() if total}
    if not totals:
        return "No unwatched traffic to compare with."
    least = min(totals, key=totals.get)
    if totals[least] < 0:
        added = ", ".join(f"{WORDS[s]} {number(ns)} ns" for s, ns in totals.items() if ns >= 0)
        return (
            f"With {WORDS[least]} a packet of {size} bytes takes {number(-totals[least])} ns less "
            f"than without any reader, because the host does not process it; {added or 'none'} "
            "more."
        )
    others = ", ".join(f"{number(ns)} ns with {WORDS[s]}" for s, ns in totals.items() if s != least)
    return (
        f"Counting a packet of {size} bytes takes least time with {WORDS[least]}: "
        f"{number(totals[least])} ns, against {others}."
    )


def tables(document):
    costs = costs_of(document)
    columns = [("packets/s", True), ("bytes", True), ("system", False), ("in softirq, ns", True)]
    columns += [("process, ns", True), ("both, ns", True), ("least to greatest", True)]
    rows = []
    for size in plan.SIZES:
        for rate in plan.RATES:
            for system in systems(document):
                measured = _point(document, system, size, rate)
                softirq, process, total = spreads(costs, measured)
                if total:
                    shown = [number(one[0]) for one in (softirq, process, total)]
                    between = f"{number(total[1])} to {number(total[2])}"
                    name = "top rate" if rate is None else count(rate)
                    words = WORDS[system], head.marks(measured)
                    rows.append([name, count(size), words, *shown, between])
    heading = "Time per packet by rate: in softirq (added to unwatched traffic) and in the process"
    return [("cpu-figures", heading, page.table(columns, rows))]
