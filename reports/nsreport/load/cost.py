# SPDX-License-Identifier: MIT
# load: cost of a packet by function on two devices -> picture and Table 2 beside that of 2004.
from .. import page
from ..charts import AXIS_PX, ROW_PX, log_range, tics
from ..layout import row_labels, top_px
from ..picture import Absent, Picture
from ..text import number
from ..traffic import figures, head
from . import plan
from .cpu import costs_of, spreads
from .published import ADAPTERS, COST, PAPI
from .words import COLOURS, MARKERS, WORDS

_CLOCK = (
    "time per packet, in softirq (added to unwatched traffic) and in the process, times the "
    "frequency of the time stamp counter (TSC)"
)
_TRAFFIC = (
    f"UDP packets that end with \u201c{plan.SEARCHED}\u201d, for which STR_SEARCH looks: it "
    "reads the whole packet. All packets pass BPF_FILTER, and SAMPLE_PACKETS of the chain; by "
    "itself it passes 5 %"
)
_PAPI = "figures of 2004 without the 265 instructions and 700 cycles of PAPI that they include"


def _rows(document, system, name):
    return figures.rows(document, part="cost", system=system, function=name)


def old(name, adapter, kind):
    """Net of PAPI; kind: 0 for instructions, 1 for cycles."""
    return COST[name][1 + ADAPTERS.index(adapter)][kind] - PAPI[kind]


def cycles(document, costs, system, name):
    """Median, least and greatest; None without a time stamp counter."""
    total = spreads(costs, _rows(document, system, name))[2]
    ticks_per_ns = (document.get("ticks_per_s") or 0) / figures.NS_PER_S
    return [v * ticks_per_ns for v in total] if total and ticks_per_ns else None


def _dots(document, costs):
    """Rows (value, row, low, high) of each series; dots not above 0 are left out."""
    series = {}
    for i, name in enumerate(COST, 1):
        for system in plan.COST_SYSTEMS:
            spread = cycles(document, costs, system, name)
            if spread and spread[0] > 0:
                low = max(spread[1], spread[0] / 10)
                dot = (float(spread[0]), i, float(low), float(spread[2]))
                series.setdefault(system, []).append(dot)
        for adapter in ADAPTERS:
            value = float(old(name, adapter, 1))
            if value > 0:
                series.setdefault(adapter, []).append((value, i, value, value))
    return series


def _tables(series):
    dots = [dot for points in series.values() for dot in points]
    label_rows, left_px = row_labels(list(COST))
    tables = {"rows": label_rows[0], "rows_small": label_rows[1], "spans_1": [], "values_1": []}
    for n, points in enumerate(series.values(), 1):
        tables[f"dots_1_{n}"] = points
    for i in range(1, len(COST) + 1):
        values = [value for value, row, _, _ in dots if row == i]
        if values:
            tables["spans_1"].append((min(values), i, max(values) - min(values)))
    low, high = log_range([end for dot in dots for end in dot[2:]])
    return tables, left_px, low, high


def picture(document):
    costs, topic = costs_of(document), "Cost of a packet by function (Table 2)"
    if not any(_rows(document, system, name) for system in plan.COST_SYSTEMS for name in COST):
        return Absent("function_cost", topic, "No function was measured.")
    series = _dots(document, costs)
    tables, left_px, low, high = _tables(series)
    names = {**{s: f"{WORDS[s]}, this run" for s in plan.COST_SYSTEMS}}
    legend = [(names.get(s, f"{s} 2004"), COLOURS[s], MARKERS[s]) for s in series]
    variables = {
        "panels": 1,
        "series": len(series),
        "rows": len(COST),
        "label_px": left_px,
        "bottom_px": AXIS_PX,
        "gap_px": 0,
        "axis_label": ["cycles per packet (log axis)"],
        "x_low": [low],
        "x_high": [high],
        "x_tics": [tics(low, high, True)],
        "colour": [COLOURS[s] for s in series],
        "marker": [MARKERS[s] for s in series],
    }
    rows = [(names.get(s, f"{s} 2004"), *dot) for s, dots in series.items() for dot in dots]
    drawn = [row for row in document["points"] if row["part"] == "cost" and row["place"]]
    return Picture(
        name="function_cost",
        topic=topic,
        question="What does a packet cost in each function, on each device?",
        script="paper.gp",
        height_px=top_px(legend) + ROW_PX * len(COST) + AXIS_PX,
        variables=variables,
        tables=tables,
        data_header=("series", "cycles", "row", "least", "greatest"),
        data_rows=rows,
        source=f"this run: {_TRAFFIC}; {_CLOCK}; 2004: SCAMPI D3.4, Table 2, {_PAPI}",
        samples=f"{head.samples(document)}, at the sender's top rate",
        losses=head.losses(drawn),
        reading="Each row is a function or a chain of functions. Figures of this run are all the "
        "time that capturing adds, with the way of the packet through the kernel; those of "
        "2004 are only the code inside mapid.",
        notes=[_sentence(document, costs), *head.disturbed_note(drawn)],
        legend=legend,
    )


def _sentence(document, costs):
    fewer = [
        (own[0], other[0])
        for name in COST
        if (own := cycles(document, costs, "xdp", name))
        and (other := cycles(document, costs, "plain", name))
    ]
    less = sum(own < other for own, other in fewer)
    return (
        f"In {less} of {len(fewer)} rows a packet takes fewer cycles on the xdp device than on the "
        "plain one; the table says where each function ran."
    )


def _instructions(document, costs, system, name):
    spread = figures.of_rounds(_rows(document, system, name), costs.instructions)
    why = document.get("no_instructions") or "its register was taken"
    return number(spread[0]) if spread else f"unavailable: {why}"


def _program_ns(document, system, name):
    """Inside the XDP program, by the kernel's run statistics."""
    rows = figures.rows(document, part="program", system=system, function=name)
    return figures.of_rounds(
        [row for row in rows if row["program_runs"]],
        lambda row: row["program_ns"] / row["program_runs"],
    )


def _cells(document, costs, system, name):
    rows = _rows(document, system, name)
    softirq, process, total = spreads(costs, rows)
    spread = cycles(document, costs, system, name)
    between = head.between([number(one) for one in spread[1:]]) if spread else ""
    ran = _program_ns(document, system, name)
    lost = figures.of_rounds(
        rows, lambda row: max(figures.lost(row), row["dropped"]) / max(1, row["sent"])
    )
    reached = figures.of_rounds(rows, _reached) if plan.flow_of(name) else None
    return [
        (number(spread and spread[0]), between),
        _instructions(document, costs, system, name),
        number(softirq and softirq[0]),
        number(process and process[0]),
        number(total and total[0]),
        number(ran and ran[0]),
        (_percent(lost), head.marks(rows)),
        _percent(reached),
        rows[0]["place"] if rows and rows[0]["place"] else number(None),
    ]


def _reached(row):
    """Share of the packets that its last function got."""
    if row.get("matched") is None or not row["sent"]:
        return None
    return row["matched"] / row["sent"]


def _percent(spread):
    return f"{100 * spread[0]:.3g} %" if spread else number(None)


def tables(document):
    costs = costs_of(document)
    columns = [("function", False), ("bytes", True), ("device", False), ("cycles", True)]
    columns += [("instructions", True), ("in softirq, ns", True), ("process, ns", True)]
    columns += [("both, ns", True), ("in the XDP program, ns", True), ("lost", True)]
    columns += [("reached the last function", True), ("ran in", False)]
    rows = []
    for name, (size, *_) in COST.items():
        for system in plan.COST_SYSTEMS:
            cells = _cells(document, costs, system, name)
            rows.append([name, number(size), WORDS[system], *cells])
        for adapter in ADAPTERS:
            both = [number(old(name, adapter, kind)) for kind in (1, 0)]
            rows.append([name, number(size), f"{adapter} 2004", *both, *[number(None)] * 7])
    return [
        (
            "table-2",
            f"Table 2: cost of a packet. Cycles of this run: {_CLOCK}, {_frequency(document)}; "
            f"{_PAPI}. Traffic: {_TRAFFIC}. In the XDP program: the kernel's run "
            "statistics, measured apart, because they take time themselves",
            page.table(columns, rows),
        )
    ]


def _frequency(document):
    return f"{(document.get('ticks_per_s') or 0) / 1e9:.3f} GHz"


_FIGURES = ("function", "bytes", "device", "cycles", "cycles_least", "cycles_greatest")
_FIGURES += ("instructions", "softirq_ns", "process_ns", "total_ns", "program_ns")
_FIGURES += ("lost_share", "reached_last_share", "ran_in")


def _middle(spread):
    return spread and spread[0]


def _figures(document, costs, system, name):
    rows = _rows(document, system, name)
    sums = [_middle(one) for one in spreads(costs, rows)]
    return [
        *(cycles(document, costs, system, name) or (None,) * 3),
        _middle(figures.of_rounds(rows, costs.instructions)),
        *sums,
        _middle(_program_ns(document, system, name)),
        _middle(figures.of_rounds(rows, figures.lost_share)),
        _middle(figures.of_rounds(rows, _reached)) if plan.flow_of(name) else None,
        rows[0]["place"] if rows else None,
    ]


def figures_of(document):
    """Columns and rows of Table 2."""
    costs, rows = costs_of(document), []
    for name, (size, *_) in COST.items():
        for system, device in plan.COST_SYSTEMS.items():
            rows.append([name, size, device, *_figures(document, costs, system, name)])
        for adapter in ADAPTERS:
            of_2004 = [old(name, adapter, 1), None, None, old(name, adapter, 0)]
            rows.append([name, size, f"{adapter} 2004", *of_2004, *[None] * 7])
    return _FIGURES, rows
