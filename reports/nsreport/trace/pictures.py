# SPDX-License-Identifier: MIT
# Stats of a trace -> pictures: cost by function, probe overhead, losses; the others come from
# distribution and units.
from ..charts import AXIS_PX, ROW_PX, Panel, Row, stacked, tics
from ..layout import GREY, INK, MEASURED, OVERLAPPED, PROBE, Colours, row_labels, top_px, width_px
from ..loss_text import cause_text, equation_text, loss_line, lost_total
from ..picture import Absent, Picture
from ..text import count, number, share, with_error
from . import distribution, units
from .facts import (
    OVERLAP,
    by_cost,
    fields_of,
    is_beyond,
    is_trimmed,
    net_mean,
    raw_mean,
    samples_text,
    self_cost,
    source_text,
    value_of,
)

MAX_ROWS = 24
MOST_PERCENT = 200  # longer bars of net in percent of raw are cut


def _waterfall(document, fields, per_packet):
    """The MAX_ROWS slices with the largest self cost, the largest first but programs before the
    kernel, and the rest, which share one row."""
    entries = [
        e
        for e in by_cost(document)
        if any(self_cost(value_of(e, f), per_packet)[0] is not None for f in fields)
    ]
    first = next(iter(fields))

    def own(entry):
        return self_cost(value_of(entry, first), per_packet)[0] or 0

    kept = sorted(entries, key=lambda e: -abs(own(e)))[:MAX_ROWS]
    kept_ids = {id(e) for e in kept}
    shown = sorted(kept, key=lambda e: (bool(e["kernel"]), -own(e)))
    rest = [e for e in entries if id(e) not in kept_ids]
    return shown, rest


def _cost_panel(document, field, unit, shown, rest, per_packet, colours):
    total = sum(self_cost(value_of(e, field), per_packet)[0] or 0 for e in shown + rest)
    panel = Panel(f"net {unit} per packet" if per_packet else f"net {unit}, all slices together")
    start = 0.0
    for entry in shown:
        own, half = self_cost(value_of(entry, field), per_packet)
        if own is None:
            panel.rows.append(Row([], "not counted"))
            continue
        error = (start + own, half) if half is not None else None
        text = with_error(own, half)
        if total > 0:
            text += f"  ({share(own / total)})"
        panel.rows.append(Row([(start, start + own, colours[entry["name"]])], text, error))
        start += own
    if rest:
        own = sum(self_cost(value_of(e, field), per_packet)[0] or 0 for e in rest)
        panel.rows.append(Row([(start, start + own, GREY)], number(own)))
    panel.rows.append(Row([(0.0, total, INK)], number(total)))
    return panel


def function_cost(document, colours):
    topic, name = "Cost by function", "function_cost"
    fields = fields_of(document)
    per_packet = any(
        (v["per_packet"] or {}).get("self") is not None
        for e in document["slices"]
        for v in e["values"]
    )
    shown, rest = _waterfall(document, fields, per_packet) if fields else ([], [])
    if not shown:
        return Absent(name, topic, "No slice of this trace has a net self cost.")
    names = (
        [e["name"] for e in shown]
        + ([f"{len(rest)} other slices"] if rest else [])
        + ["all together"]
    )
    panels = [
        _cost_panel(document, f, u, shown, rest, per_packet, colours)
        for f, u in list(fields.items())[:3]
    ]
    height, variables, tables = stacked(names, panels)
    notes = []
    if not document["counters"]["names"]:
        notes.append(
            "No instruction panel: instructions were not measured, because the session had no "
            f"counters (counter source: {document['counters']['source']})."
        )
    if len(fields) > 3:
        notes.append(
            "Two counters are drawn; the table has the others: " + ", ".join(list(fields)[3:]) + "."
        )
    if not per_packet:
        notes.append(
            "The trace has no units (INIT and EXIT), so the cost per packet is unknown; bars show "
            "totals of the whole trace."
        )
    if is_trimmed(document):
        notes.append(
            "Functions that call no other are drawn with their trimmed mean, without the 5 % of "
            "the slices at either end, such as preempted ones"
            + ("" if per_packet else ", times the number of slices")
            + "; for those that call others, only the mean of all slices is known."
        )
    what = "a packet" if per_packet else "the whole trace"
    return Picture(
        name,
        topic,
        f"Where does the cost of {what} go?",
        "function_cost.gp",
        top_px([]) + height,
        variables,
        tables,
        (
            "name",
            "field",
            "self_per_packet",
            "net_per_packet",
            "net_ci95",
            "self_total",
            "drawn",
            "drawn_ci95",
        ),
        [
            (
                e["name"],
                v["field"],
                (v["per_packet"] or {}).get("self"),
                (v["per_packet"] or {}).get("net"),
                (v["per_packet"] or {}).get("net_ci95"),
                (v["self"] or {}).get("total"),
                *self_cost(v, per_packet),
            )
            for e in by_cost(document)
            for v in e["values"]
        ],
        source_text(document, dict(list(fields.items())[:3])),
        samples_text(document),
        loss_line(document["losses"]),
        "Each bar begins where the one above ends, so the last bar is the sum; a bar is the cost "
        "of the function itself, without the functions that it calls and without the probes. Thin "
        "black bars are 95 % confidence intervals, shown for functions that call no other.",
        notes,
    )


def share_row(raw, net):
    """Net and the probes in percent of raw, which must be above zero. Net beyond raw has a part of
    its own."""
    kept = 100.0 * max(0.0, net / raw)
    if is_beyond(net, raw):
        end = min(kept, float(MOST_PERCENT))
        text = f"+{share(net / raw - 1)}: reads overlap"
        return Row([(0.0, 100.0, MEASURED), (100.0, end, OVERLAPPED)], text)
    kept = min(kept, 100.0)
    text = share(1 - kept / 100) if net >= 0 else "below noise"
    return Row([(0.0, kept, MEASURED), (kept, 100.0, PROBE)], text)


def overhead(document):
    topic, name = "Probe overhead", "overhead"
    found = []
    for entry in by_cost(document):
        value = value_of(entry, "ticks")
        if value and raw_mean(value) > 0:
            found.append((entry, value, share_row(raw_mean(value), net_mean(value)[0])))
    if not found:
        return Absent(
            name, topic, "No slice of this trace has raw and net clock readings to compare."
        )
    kept = sorted(found, key=lambda f: -(f[1]["raw"]["total"] or 0))[:MAX_ROWS]
    kept_ids = {id(e) for e, _, _ in kept}
    drawn = [f for f in found if id(f[0]) in kept_ids]
    notes = []
    if len(drawn) < len(found):
        notes.append(
            f"{len(drawn)} of {len(found)} slices are drawn, those with the largest raw total; "
            "the table has all."
        )
    return share_picture(
        name,
        topic,
        "How much of the raw cycles did the probes themselves use?",
        [e["name"] for e, _, _ in drawn],
        [r for _, _, r in drawn],
        ("name", "raw", "net", "raw_total", "net_total"),
        [
            (
                e["name"],
                raw_mean(v),
                net_mean(v)[0],
                v["raw"]["total"],
                v["net"]["total"],
            )
            for e, v, _ in found
        ],
        source_text(
            document, {"ticks": "TSC cycles" if document["clock"]["source"] == "tsc" else "ticks"}
        ),
        samples_text(document),
        loss_line(document["losses"]),
        notes,
    )


def share_picture(name, topic, question, names, rows, header, data, source, samples, losses, notes):
    """Rows with the net and probe shares in percent of raw."""
    legend = [
        ("net: the program's own cost", MEASURED),
        ("share of the probes (the number), not in net", PROBE),
    ]
    end = max([100.0] + [b for row in rows for _, b, _ in row.segments])
    if end > 100:
        legend.append(("net beyond raw: the two clock reads of a slice overlap", OVERLAPPED))
        notes = [*notes, OVERLAP]
    if end == MOST_PERCENT:
        notes = [*notes, f"Bars end at {MOST_PERCENT} %."]
    label_rows, left_px = row_labels(names)
    tables = {
        "rows": label_rows[0],
        "rows_small": label_rows[1],
        "bars_1": [(i, a, b, c) for i, r in enumerate(rows, 1) for a, b, c in r.segments if b > a],
        "values_1": [(0, i, r.text) for i, r in enumerate(rows, 1)],
    }
    variables = {
        "panels": 1,
        "rows": len(names),
        "label_px": left_px,
        "bottom_px": AXIS_PX,
        "gap_px": 0,
        "right_px": width_px([r.text for r in rows], 60),
        "axis_label": ["share of the raw cycles"],
        "x_high": [end],
        "x_tics": [tics(0, end, False, 10, "%")],
    }
    return Picture(
        name,
        topic,
        question,
        "overhead.gp",
        top_px(legend) + ROW_PX * len(names) + AXIS_PX,
        variables,
        tables,
        header,
        data,
        source,
        samples,
        losses,
        "100 % is the raw figure; the blue part remains after the probes' measured cost is "
        "subtracted. The number is the probes' share: the larger it is, the more the net figure "
        "depends on the calibration.",
        notes,
        legend,
    )


def loss(losses, source, samples):
    lost = losses["lost"] or {}
    if losses["issued"] == 0 and lost_total(losses) == 0:
        return Absent("loss", "Losses", "No records were issued, so none could be lost.")
    rows = [
        ("issued by the probes", losses["issued"], MEASURED),
        ("drained into the trace", losses["drained"], 0x56B4E9),
    ]
    rows += [(f"lost: {cause_text(cause)}", n, PROBE) for cause, n in lost.items()]
    biggest = max([n for _, n, _ in rows if n is not None] + [1])
    label_rows, left_px = row_labels([text for text, _, _ in rows])
    tables = {
        "rows": label_rows[0],
        "rows_small": label_rows[1],
        "bars_1": [(i, 0.5, float(n), c) for i, (_, n, c) in enumerate(rows, 1) if n],
        "values_1": [
            (float(max(n or 0, 0.5)), i, count(n) if n is not None else "unknown")
            for i, (_, n, _) in enumerate(rows, 1)
        ],
    }
    variables = {
        "panels": 1,
        "rows": len(rows),
        "label_px": left_px,
        "bottom_px": AXIS_PX,
        "gap_px": 0,
        "axis_label": ["records (log axis)"],
        "x_tics": [tics(1, biggest * 30, True, 10)],
        "x_high": [float(biggest) * 30],
    }
    question = "Were records lost, and why?"
    if lost_total(losses) == 0 and losses["equation_holds"]:
        question = "Were records lost? No."
    return Picture(
        "loss",
        "Losses",
        question,
        "loss.gp",
        top_px([]) + ROW_PX * len(rows) + AXIS_PX,
        variables,
        tables,
        ("what", "records"),
        [(text, n) for text, n, _ in rows],
        source,
        samples,
        loss_line(losses),
        (
            "Every record that a probe issued is either drained into the trace or lost with a "
            "cause; the axis is logarithmic. "
        )
        + equation_text(losses),
    )


def pictures(document, source, unit_number):
    """All pictures of a trace, in the order of the page."""
    colours = Colours([e["name"] for e in document["slices"]])
    made = [function_cost(document, colours)]
    made += distribution.pictures(document, colours)
    made += units.pictures(document, colours, source, unit_number)
    made += [
        overhead(document),
        loss(
            document["losses"],
            "ring counters of the trace's footer and chunks",
            samples_text(document),
        ),
    ]
    return made
