# SPDX-License-Identifier: MIT
# mapi-cost rows -> pictures: cost by function and scenario, comparison with 2004, probe overhead,
# losses; rates and sizes from rates.
from ..charts import AXIS_PX, GAP_PX, ROW_PX, Panel, Row, log_range, stacked, tics
from ..layout import GREY, MEASURED, PAPER_INTEL, PAPER_SCAMPI, Colours, row_labels, top_px
from ..loss_text import loss_line
from ..picture import Absent, Picture
from ..text import number, share, with_error
from ..trace.pictures import loss, share_picture, share_row
from . import rates
from .facts import (
    COMPARED,
    additional,
    compared,
    paper_figure,
    row_names,
    samples_text,
    source_text,
)

KINDS = ("instructions", "cycles")
UNITS = {"instructions": "instructions", "cycles": "TSC cycles"}
REST = "not broken down"
OWN_FLOWS = 0  # the table of the flows given by the user
_MARK = " The thin black bar is the 95 % confidence interval."
READING = {
    "function_cost": "Each row is a scenario; the colours are the functions applied to a packet, "
    "and the value is their sum, net of the probes. Reading packets from the "
    "device is not included." + _MARK,
    "flow_cost": "Each row is the cost that one more flow with the same functions adds to each "
    "packet, net of the probes. A value near zero means that the flows share the "
    "work." + _MARK,
    "call_cost": (
        "Each row is a call made by a client, net of the probes; its colour is the function called."
    )
    + _MARK,
}


def _cost_parts(row):
    """Parts of the row's figure; parts that mapi-cost reports separately (reading from the device)
    are left out."""
    return [part for part in row["parts"] or [] if part["in_cost"] is not False]


def _stack_row(row, kind, colours):
    measured = row[kind]
    if measured is None:
        return Row([], "not measured")
    start, segments = 0.0, []
    for part in _cost_parts(row):
        cost = part[kind]
        if cost:
            segments.append((start, start + cost, colours[part["name"]]))
            start += cost
    if measured["net"] - start > 0.005 * abs(measured["net"]):
        segments.append((start, measured["net"], GREY if segments else MEASURED))
    error = (measured["net"], measured["ci95"]) if measured["ci95"] is not None else None
    return Row(segments, with_error(measured["net"], measured["ci95"]), error)


def _present_kinds(rows):
    return [kind for kind in KINDS if any(row[kind] for row in rows)]


def _no_instructions(document):
    return (
        "No instruction panel: instructions were not measured, because this run had no source of "
        f"instruction counts (source: {document['sources']['instructions'] or 'none'})."
    )


def function_cost(document, colours, rows, name, topic, question, per="packet"):
    kinds = _present_kinds(rows)
    if not kinds:
        return Absent(name, topic, "No row of this kind has a measured cost.")
    panels = [
        Panel(f"net {UNITS[kind]} per {per}", [_stack_row(row, kind, colours) for row in rows])
        for kind in kinds
    ]
    height, variables, tables = stacked(row_names(rows), panels)
    drawn = list(dict.fromkeys(part["name"] for row in rows for part in _cost_parts(row)))
    legend = [(part, colours[part]) for part in drawn]
    if any(c == GREY for panel in panels for row in panel.rows for _, _, c in row.segments):
        legend.append((REST, GREY))
    notes = [] if "instructions" in kinds else [_no_instructions(document)]
    return Picture(
        name,
        topic,
        question,
        "function_cost.gp",
        top_px(legend) + height,
        variables,
        tables,
        ("table", "scenario", "packet_bytes", "part", "instructions", "cycles"),
        [
            (
                r["table"],
                r["scenario"],
                r["packet_bytes"],
                p["name"],
                p["instructions"],
                p["cycles"],
            )
            for r in rows
            for p in r["parts"] or []
        ],
        source_text(document, kinds),
        samples_text(document, rows),
        loss_line(document["losses"]),
        READING[name],
        notes,
        legend,
    )


def _dots(rows, kind):
    """Three series of (value, row, low, high): measured, SCAMPI, Intel; and the values that a log
    axis cannot show."""
    series, hidden = ([], [], []), []
    for i, row in enumerate(rows, 1):
        measured = row[kind]
        found = [(measured["net"], measured["ci95"] or 0.0) if measured else None]
        found += [
            (v, 0.0) if (v := paper_figure(row, card, kind)) is not None else None
            for card in ("scampi", "intel")
        ]
        for points, item, who in zip(series, found, ("this run", "SCAMPI 2004", "Intel 2004")):
            if item is None:
                continue
            value, half = item
            if value <= half or value <= 0:
                hidden.append(f"{row_names([row])[0]}, {who}: {number(value)} {UNITS[kind]}")
                continue
            points.append(
                (float(value), i, float(max(value - half, value / 10)), float(value + half))
            )
    return series, hidden


def _without_dot(value):
    if value is None:
        return "not measured"
    return f"{number(value)}  ({'within its error' if value > 0 else 'not above 0'})"


def _ratio_texts(rows, kind, low):
    """Text of each row: the cost in this run, and how many times less (or more) than SCAMPI that
    is."""
    texts = []
    for i, row in enumerate(rows, 1):
        old = [v for card in ("scampi", "intel") if (v := paper_figure(row, card, kind)) and v > 0]
        new, half = (row[kind]["net"], row[kind]["ci95"] or 0.0) if row[kind] else (None, 0.0)
        is_drawn = new is not None and new > half and new > 0
        ends = old + ([new + half] if is_drawn else [])
        if not ends:
            texts.append((float(low), i, _without_dot(new)))
            continue
        text = number(new) if is_drawn else _without_dot(new)
        if is_drawn and old:
            factor = old[0] / new
            text += (
                f"  ({number(factor)}\u00d7 less)"
                if factor >= 1
                else f"  ({number(1 / factor)}\u00d7 more)"
            )
        texts.append((float(max(ends)), i, text))
    return texts


def paper(document):
    topic, name = "Against 2004", "paper"
    rows = [
        r
        for r in document["rows"]
        if any(paper_figure(r, card, k) is not None for card in ("scampi", "intel") for k in KINDS)
    ]
    kinds = [
        k
        for k in KINDS
        if any(
            r[k]
            and (
                paper_figure(r, "scampi", k) is not None or paper_figure(r, "intel", k) is not None
            )
            for r in rows
        )
    ]
    if not kinds:
        return Absent(name, topic, "No measured row has a figure of 2004 to compare with.")
    tables, hidden, lists = {}, [], {"axis_label": [], "x_low": [], "x_high": [], "x_tics": []}
    label_rows, left_px = row_labels(row_names(rows))
    for p, kind in enumerate(kinds, 1):
        series, below = _dots(rows, kind)
        hidden += below
        for n, points in enumerate(series, 1):
            tables[f"dots_{p}_{n}"] = points
        everything = [x for points in series for x, _, low, high in points for x in (x, low, high)]
        tables[f"spans_{p}"] = [
            (min(xs), i, max(xs) - min(xs))
            for i in range(1, len(rows) + 1)
            if len(xs := [x for points in series for x, r, _, _ in points if r == i]) > 1
        ]
        low, high = log_range(everything or [1.0])
        tables[f"values_{p}"] = _ratio_texts(rows, kind, low)
        # room for the figures at the right
        high *= (high / low) ** (0.5 if len(kinds) > 1 else 0.2)
        for key, item in (
            ("axis_label", f"net {UNITS[kind]} per packet or call (log axis)"),
            ("x_low", float(low)),
            ("x_high", float(high)),
            ("x_tics", tics(low, high, True, 6 if len(kinds) > 1 else 10)),
        ):
            lists[key].append(item)
    tables["rows"], tables["rows_small"] = label_rows
    legend = [
        ("this run", MEASURED, 7),
        ("2004, SCAMPI adapter", PAPER_SCAMPI, 5),
        ("2004, Intel adapter", PAPER_INTEL, 8),
    ]
    notes = [] if "instructions" in kinds else [_no_instructions(document)]
    if hidden:
        notes.append(
            "Left out of the logarithmic axis, because not above zero by more than their error: "
            + "; ".join(hidden)
            + "."
        )
    variables = {
        "panels": len(kinds),
        "rows": len(rows),
        "label_px": left_px,
        "bottom_px": AXIS_PX,
        "gap_px": GAP_PX,
        "series": 3,
        "marker": [m for _, _, m in legend],
        "colour": [c for _, c, _ in legend],
        **lists,
    }
    return Picture(
        name,
        topic,
        "How does this run compare with the figures published in 2004?",
        "paper.gp",
        top_px(legend) + ROW_PX * len(rows) + AXIS_PX,
        variables,
        tables,
        ("table", "scenario", "packet_bytes", "kind", *COMPARED),
        [
            (r["table"], r["scenario"], r["packet_bytes"], k, *compared(r, k))
            for r in rows
            for k in kinds
        ],
        source_text(document, kinds) + "; 2004: D3.4, Tables 2 to 4",
        samples_text(document, rows),
        loss_line(document["losses"]),
        "Further left is cheaper; the axis is logarithmic. Figures of 2004 that included the cost "
        "of the PAPI reads (265 instructions, 700 cycles) have it taken out. The number is this "
        "run's cost and, in parentheses, how many times less that is than the SCAMPI figure. "
        "Cycles of 2004 are core cycles of another machine: compare instructions first.",
        notes,
        legend,
    )


def overhead(document):
    topic, name = "Probe overhead", "overhead"
    rows = [
        r for r in document["rows"] if r["cycles"] and r["cycles"]["raw"] and r["cycles"]["raw"] > 0
    ]
    if not rows:
        return Absent(name, topic, "No row has both a raw and a net figure.")
    bars = [share_row(row["cycles"]["raw"], row["cycles"]["net"]) for row in rows]
    probe = document["probe"] or {}
    left_out = [
        name
        for r, name in zip(document["rows"], row_names(document["rows"]))
        if r["cycles"] and not (r["cycles"]["raw"] or 0) > 0
    ]
    notes = (
        ["Left out, because the raw figure is not above zero: " + "; ".join(left_out) + "."]
        if left_out
        else []
    )
    if probe.get("raw_share") is not None:
        notes.append(
            f"Over the whole run the probes used {share(probe['raw_share'])} of the raw cycles; a "
            f"slice includes {number(probe.get('inner_ticks'))} cycles of probe cost, and a pair "
            f"adds {number(probe.get('outer_ticks'))} to the enclosing slice."
        )
    return share_picture(
        name,
        topic,
        "How much of the raw cycles did the probes themselves use?",
        row_names(rows),
        bars,
        ("scenario", "raw_cycles", "net_cycles"),
        [(n, r["cycles"]["raw"], r["cycles"]["net"]) for n, r in zip(row_names(rows), rows)],
        source_text(document, ["cycles"]),
        samples_text(document, rows, ["cycles"]),
        loss_line(document["losses"]),
        notes,
    )


def pictures(document):
    colours = Colours([part["name"] for row in document["rows"] for part in row["parts"] or []])
    packet_rows = [r for r in document["rows"] if r["table"] in (OWN_FLOWS, 2)]
    flow_rows = [r for r in document["rows"] if additional(r)]
    call_rows = [r for r in document["rows"] if r["table"] == 3]
    made = [
        function_cost(
            document,
            colours,
            packet_rows,
            "function_cost",
            "Cost by function",
            "Where does the cost of a packet go, in each scenario?",
        )
    ]
    if flow_rows:
        made.append(
            function_cost(
                document,
                colours,
                flow_rows,
                "flow_cost",
                "Cost of a further flow",
                "What does a further flow with the same functions add to each packet?",
            )
        )
    if call_rows:
        made.append(
            function_cost(
                document,
                colours,
                call_rows,
                "call_cost",
                "Cost of client calls",
                "What does a client's call cost?",
                "call",
            )
        )
    made += [
        paper(document),
        rates.packet_size(document),
        rates.line_rate(document),
        overhead(document),
        loss(
            document["losses"], "ring counters of the run", samples_text(document, document["rows"])
        ),
    ]
    return made
