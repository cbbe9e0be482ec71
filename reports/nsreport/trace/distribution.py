# SPDX-License-Identifier: MIT
# Histograms of a trace's slices -> picture of the histograms, picture of the cumulative
# distribution.
import math

from ..charts import log_range, log_wanted, tics
from ..layout import PAPER, WIDTH_PX, text_px, top_px
from ..loss_text import loss_line
from ..picture import Absent, Picture
from ..text import label, number, plural
from .facts import by_cost, fields_of, samples_text, source_text, value_of

MAX_PANELS = 12
MAX_LINES = 8
MAX_HIDDEN = 0.05  # fraction of the slices that a log axis may leave out
TARGET_BARS = 60
LEAST_BARS = 12
HALF_LINE = ("\u2502 half of the slices are left of the solid line", PAPER, 5)
MOST_LINE = ("\u2506 99 of 100 are left of the dashed line", PAPER, 5)
PERCENTILES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999))


def _bins(value):
    return [
        (low, high, n) for low, high, n in sorted(value["histogram"] or []) if n > 0 and high >= low
    ]


def _drawn_entries(document, field, limit):
    """The `limit` slices with the largest net total that have a histogram, and how many have
    one."""
    found = [(e, v) for e in by_cost(document) if (v := value_of(e, field)) and _bins(v)]
    kept = sorted(found, key=lambda f: -abs(f[1]["net"]["total"] or 0))[:limit]
    names = {id(e) for e, _ in kept}
    return [f for f in found if id(f[0]) in names], len(found)


def _step(document, field):
    return (document["clock"]["step_ticks"] or 1.0) if field == "ticks" else 1.0


def merged(bins, log):
    """Bars of equal width, no narrower than the widest bin or the median step between values; a bin
    counts where its middle is."""
    position, value = (math.log, math.exp) if log else (float, float)
    start, end = position(bins[0][0]), position(bins[-1][1])
    widest = max(position(high) - position(low) for low, high, _ in bins)
    steps = sorted(position(b[0]) - position(a[0]) for a, b in zip(bins, bins[1:]))
    step = steps[len(steps) // 2] if steps else 0.0
    if step > (end - start) / LEAST_BARS:  # a few values far apart have no typical step
        step = 0.0
    width = max((end - start) / TARGET_BARS, widest, step)
    if step > 0 and not log:  # whole steps per bar, or some bars would hold more values than others
        width = step * math.ceil(width / step - 1e-9)
    if width > 2 * widest:  # single values far apart: centre each bar on its value
        start -= width / 2
    counts = {}
    for low, high, n in bins:
        cell = int(((position(low) + position(high)) / 2 - start) / width)
        counts[cell] = counts.get(cell, 0) + n
    return [
        (value(start + width * cell), value(start + width * (cell + 1)), n)
        for cell, n in sorted(counts.items())
    ]


def _widened(bars, low, high, log):
    """Gives bins of a single value, which have no width, a visible width."""
    if log:
        factor = (high / low) ** 0.003
        return [(a / factor, b * factor, n) if b / a < factor else (a, b, n) for a, b, n in bars]
    pad = (high - low) * 0.003
    return [(a - pad, b + pad, n) if b - a < pad else (a, b, n) for a, b, n in bars]


def _histogram_panel(value, step):
    """One slice -> (bars in percent, range, log?, number of slices left out because they are at or
    near zero)."""
    bins = _bins(value)
    total = sum(n for _, _, n in bins)
    median = value["net"]["p50"] if value["net"]["p50"] is not None else bins[len(bins) // 2][0]
    top = bins[-1][1]
    below, floor = 0, max(median / 100, 0.5)
    hidden = sum(n for low, _, n in bins if low < floor)
    # A log axis means little within a few steps of the clock, and the slices that it cannot show
    # must be rare.
    is_far = median > max(4.0, 2 * step) or top > 1e4 * max(1.0, step)
    log = is_far and log_wanted(median, top) and hidden <= MAX_HIDDEN * total
    if log:
        below = hidden
        bins = [b for b in bins if b[0] >= floor] or bins[-1:]
    low, high = bins[0][0], bins[-1][1]
    if log and low <= 0:
        log = False
    bars = merged(bins, log) if high > low else bins
    if log:
        x_low, x_high = low / (high / low) ** 0.05, high * (high / low) ** 0.05
    else:
        low, high = min(low, bars[0][0]), max(high, bars[-1][1])
        pad = (high - low) * 0.06 or max(1.0, abs(high) * 0.05)
        x_low, x_high = low - pad, high + pad
    bars = _widened(bars, x_low, x_high, log)
    return (
        [(float(a), float(b), 100.0 * n / total) for a, b, n in bars],
        (float(x_low), float(x_high)),
        log,
        below,
    )


def _panel_title(name, value, columns):
    """Without percentiles that the slices do not determine."""
    p50, p99 = value["net"]["p50"], value["net"]["p99"]
    slices = plural(value["count"], "slice")
    median = f", median {number(p50)}" if p50 is not None else ""
    most = f", 99 % < {number(p99)}" if p99 is not None else ""
    title = f"{label(name, 34 if columns == 2 else 70)}: {slices}{median}{most}"
    if columns == 2 and text_px(title) > WIDTH_PX / 2 - 76:
        title = f"{label(name, 20)}: {slices}{most or median}"
    return title


def histogram(document, field, unit, colours):
    suffix = (
        ""
        if field == "ticks"
        else "_" + "".join(c if c.isascii() and c.isalnum() else "-" for c in field)
    )
    topic, name = f"Distribution ({unit})", "latency_hist" + suffix
    drawn, found = _drawn_entries(document, field, MAX_PANELS)
    if not drawn:
        return Absent(name, topic, "No slice of this trace has a histogram.")
    columns = 1 if len(drawn) == 1 else 2
    row_px = 360 if columns == 1 else 262
    notes = (
        [
            f"{len(drawn)} of {found} slices are drawn, those with the largest total; the table "
            "has all."
        ]
        if len(drawn) < found
        else []
    )
    variables = {"panels": len(drawn), "columns": columns, "row_px": row_px}
    lists = {
        key: []
        for key in (
            "axis_label",
            "panel_title",
            "x_log",
            "x_low",
            "x_high",
            "y_high",
            "x_tics",
            "y_tics",
            "colour",
        )
    }
    tables = {}
    for n, (entry, value) in enumerate(drawn, 1):
        bars, (low, high), log, below = _histogram_panel(value, _step(document, field))
        if below:
            notes.append(
                f"{label(entry['name'], 60)}: {plural(below, 'slice')} at or near zero (below the "
                "measurable minimum) are left of the range shown."
            )
        p50, p99 = value["net"]["p50"], value["net"]["p99"]
        tables[f"hist_{n}"], y_high = bars, 1.12 * max(b[2] for b in bars)
        for stem, x in (("half", p50), ("most", p99)):
            tables[f"{stem}_{n}"] = [(float(x), 0.0), (float(x), y_high)] if x is not None else []
        title = _panel_title(entry["name"], value, columns)
        for key, item in (
            ("axis_label", f"{unit} (net, without the probes{'; log axis' if log else ''})"),
            ("panel_title", title),
            ("x_log", int(log)),
            ("x_low", low),
            ("x_high", high),
            ("y_high", y_high),
            ("x_tics", tics(low, high, log, 6 if columns == 2 else 10)),
            ("y_tics", tics(0, y_high, False, 5, "%")),
            ("colour", colours[entry["name"]]),
        ):
            lists[key].append(item)
    rows = -(-len(drawn) // columns)
    lines = [HALF_LINE]
    if any(v["net"]["p99"] is not None for _, v in drawn):
        lines.append(MOST_LINE)
    return Picture(
        name,
        topic,
        f"How many {unit} does a slice take, and how often?",
        "latency_hist.gp",
        top_px(lines) + row_px * rows,
        {**variables, **lists},
        tables,
        ("name", "low", "high", "slices"),
        [(e["name"], low, high, n) for e, v in drawn for low, high, n in _bins(v)],
        source_text(document, {field: unit}),
        samples_text(document, field),
        loss_line(document["losses"]),
        "The higher a bar, the more slices took that long. Half of the slices are left of the "
        "solid line, and 99 of 100 are left of the dashed line, which takes 100 slices to "
        "determine. A long tail to the right shows rare slow cases. Each panel has its own axis, "
        "which is logarithmic if the values spread widely.",
        notes,
        lines,
    )


def _nines(part):
    return -math.log10(max(1 - part, 1e-12))


def _line(bins):
    """Steps: the share of slices up to each bin's upper edge. The share above the last slice would
    be zero; half a slice is used instead."""
    total, seen, points = sum(n for _, _, n in bins), 0, [(float(bins[0][0]), 0.0)]
    for low, high, n in bins:
        if low > points[-1][0]:
            points.append((float(low), points[-1][1]))
        seen += n
        points.append((float(high), _nines(min(seen / total, 1 - 0.5 / total))))
    return points


def _marks(drawn, colours):
    marks = []
    with_text = len(drawn) <= 2
    for entry, value in drawn:
        for key, part in PERCENTILES:
            x = value["net"][key]
            if x is not None and part <= 1 - 0.5 / sum(n for _, _, n in _bins(value)):
                marks.append(
                    (
                        float(x),
                        _nines(part),
                        colours[entry["name"]],
                        number(x) if with_text else " ",
                    )
                )
    return marks


def cumulative(document, field, unit, colours):
    topic, name = "Percentiles", "latency_cdf"
    drawn, found = _drawn_entries(document, field, MAX_LINES)
    if not drawn:
        return Absent(name, topic, "No slice of this trace has a histogram.")
    lines = [_line(_bins(v)) for _, v in drawn]
    marks = _marks(drawn, colours)
    xs = [x for line in lines for x, _ in line] + [m[0] for m in marks]
    positive = [x for x in xs if x > 0]
    notes = (
        [
            f"{len(drawn)} of {found} slices are drawn, those with the largest total; the table "
            "has all."
        ]
        if len(drawn) < found
        else []
    )
    floor = max(0.5, _step(document, field) / 2)  # smaller values cannot be distinguished from zero
    log = bool(positive) and log_wanted(max(min(positive), floor), max(positive))
    if log:
        low, high = log_range([max(min(positive), floor), max(positive)])
        lines = [[(max(x, low), y) for x, y in line] for line in lines]
        marks = [(max(m[0], low), *m[1:]) for m in marks]
    else:
        pad = (max(xs) - min(xs)) * 0.05 or 1.0
        low, high = min(xs) - pad, max(xs) + 2 * pad
    tables = {f"line_{n}": line for n, line in enumerate(lines, 1)}
    legend = [(e["name"], colours[e["name"]]) for e, _ in drawn]
    at_edge = sum(1 for line in tables.values() if log and any(x <= low and y > 0 for x, y in line))
    if at_edge:
        notes.append(
            f"{plural(at_edge, 'line')} at the left edge: slices at or below zero (below the "
            "measurable minimum) cannot be shown on a log axis."
        )
    variables = {
        "lines": len(lines),
        "x_log": int(log),
        "x_low": float(low),
        "x_high": float(high),
        "y_high": max(1.2, max(y for line in lines for _, y in line) * 1.06),
        "x_tics": tics(low, high, log, 10),
        "axis_label": f"{unit} (net, without the probes{'; log axis' if log else ''})",
        "colour": [c for _, c in legend],
    }
    return Picture(
        name,
        topic,
        f"How many slices finish within a given number of {unit}?",
        "latency_cdf.gp",
        top_px(legend) + 420,
        variables,
        {**tables, "marks": marks},
        ("name", "p50", "p90", "p99", "p99.9"),
        [(e["name"], *(v["net"][key] for key, _ in PERCENTILES)) for e, v in drawn],
        source_text(document, {field: unit}),
        samples_text(document, field),
        loss_line(document["losses"]),
        "Choose a value on the horizontal axis, go up to a line, then left: that share of the "
        "slices took less. The upper part is stretched to show rare slow cases (99.9 % is all but "
        "1 in 1,000). Dots mark 50, 90, 99 and 99.9 percent, where there are enough slices to "
        "determine them.",
        notes,
        legend,
    )


def pictures(document, colours):
    fields = fields_of(document)
    if "ticks" not in fields:
        return [Absent("latency_hist", "Distribution", "The stats have no clock readings.")]
    made = [
        histogram(document, "ticks", fields["ticks"], colours),
        cumulative(document, "ticks", fields["ticks"], colours),
    ]
    counter = next((f for f, u in fields.items() if u == "instructions"), None)
    if counter:
        made.insert(1, histogram(document, counter, "instructions", colours))
    return made
