# SPDX-License-Identifier: MIT
# Budget of a packet, and what takes of it -> pictures.
from ..charts import AXIS_PX, ROW_PX, log_range, tics
from ..layout import GREY, MEASURED, PALETTE, PAPER, row_labels, top_px, width_px
from ..picture import Absent, Picture
from ..text import number, plural
from . import facts
from .line import COUNTED, SIZES, Line, line_text, rate_text, whole_cores

LINE_LABEL_PX = 64
HEIGHT_PX = 430
LEVEL_COLOUR = 0xD55E00
NO_RECORDS = "not applicable (no records)"
MOST_LINES = 7
MOST_ROWS = 30
LABEL_SHARE = 0.05  # of the axis: the height of a label


def _sizes(document):
    return sorted({*SIZES, document["frame_bytes"]})


def latency_labels(levels, x_high, y_low, y_high):
    """Levels that are too close for a label each share one, at the slowest of them."""
    labels, apart = [], (y_high / y_low) ** LABEL_SHARE
    for name, alone, _ in sorted(levels, key=lambda level: level[1]["ns"]):
        ns, text = float(alone["ns"]), f"{name}: {number(alone['ns'])} ns"
        if labels and ns < labels[-1][1] * apart:
            text = f"{labels.pop()[2]}, {text}"
        labels.append((float(x_high), ns, text))
    return labels


def budget(document):
    line, hz = facts.line_of(document), facts.hz_of(document)
    rates, sizes = facts.rates_of(document), _sizes(document)
    levels = facts.levels(document)
    curves = [[(float(n), Line(rate, n).ns) for n in sizes] for rate in rates]
    x_low, x_high = sizes[0] / 1.1, sizes[-1] * 1.1
    values = [ns for curve in curves for _, ns in curve] + [a["ns"] for _, a, _ in levels]
    y_low, y_high = log_range(values)
    names = [rate_text(rate) for rate in rates]
    text = f"{number(line.ns)} ns, {number(line.cycles(hz))} cycles"
    variables = {
        "right_px": width_px(names),
        "curves": len(curves),
        "chosen": rates.index(line.rate) + 1,
        "chosen_text": f"{line_text(line)}: {text}",
        "colour": [MEASURED if rate == line.rate else 0x777777 for rate in rates],
        "levels": len(levels),
        "level_ns": [float(alone["ns"]) for _, alone, _ in levels] or [0.0],
        "level_colour": LEVEL_COLOUR,
        "x_low": float(x_low),
        "x_high": float(x_high),
        "y_low": float(y_low),
        "y_high": float(y_high),
        "x_tics": " ".join(f"{n:,}={float(n):.3f}" for n in SIZES if n <= x_high),
        "y_tics": tics(y_low, y_high, True, 8),
        "size_label": "bytes of a frame, with its checksum (log axis)",
        "axis_label": "time for a packet, ns (log axis)",
    }
    tables = {f"curve_{n}": curve for n, curve in enumerate(curves, 1)}
    tables["ends"] = [(*curve[-1], name) for curve, name in zip(curves, names)]
    tables["levels"] = latency_labels(levels, x_high, y_low, y_high)
    tables["chosen"] = [(float(line.frame_bytes), line.ns)]
    return Picture(
        "budget",
        "Time of a packet",
        f"How much time is there for a packet at {rate_text(line.rate)}?",
        "budget.gp",
        top_px([]) + HEIGHT_PX,
        variables,
        tables,
        ("rate_bits_per_second", "frame_bytes", "wire_bytes", "packets_per_second", "ns", "cycles"),
        [
            (one.rate, n, one.wire_bytes, one.packets_per_second, one.ns, one.cycles(hz))
            for rate in rates
            for n in sizes
            for one in [Line(rate, n)]
        ],
        "lines: computed, N + 20 bytes on the line"
        + (f"; dashed lines: {facts.memory_source(document)}" if levels else ""),
        facts.memory_samples(document) + "; lines are not measured",
        NO_RECORDS,
        "Each line is a line rate; it shows the time from the beginning of one packet to that of "
        "the next when packets of that size follow each other without a pause. The dot is the "
        "chosen rate and size. Dashed lines are the measured time of one load from each cache and "
        "from memory: where a dashed line is above a line, one such load takes longer than there "
        "is for a packet on one core.",
        [COUNTED],
    )


def _core_counts(most_share):
    """1, 2, 4, ... cores, up to the first that is enough for everything."""
    counts = [1]
    while counts[-1] < most_share and len(counts) < MOST_LINES:
        counts.append(counts[-1] * 2)
    return counts


def _text_of(one, verdict, budget_cycles):
    text = f"{number(one.cycles)}: {facts.cores_text(one.cycles / budget_cycles)} cores"
    if not one.is_at_size:
        return f"{text}, at {one.measured}"
    return text + (" (within its error of one)" if verdict == facts.UNSURE else "")


def functions(document):
    topic, name = "What functions take of it", "functions"
    line, hz, found = facts.line_of(document), facts.hz_of(document), facts.verdicts(document)
    if not document["costs"]:
        return Absent(name, topic, "No costs were given (nsreport --budget COST.json -o DIR).")
    if not found:
        return Absent(name, topic, "The input has no cost of a packet in cycles.")
    found, rest = _largest(found)
    budget_cycles = line.cycles(hz)
    dots = [
        (one.cycles, i, max(one.cycles - (one.half or 0), one.cycles / 10), one.cycles + half)
        for i, (one, _) in enumerate(found, 1)
        for half in [one.half or 0]
        if one.cycles > half
    ]
    counts = _core_counts(max([d[0] for d in dots], default=1) / budget_cycles)
    low, high = log_range(
        [x for d in dots for x in (d[2], d[3])] + [n * budget_cycles for n in counts]
    )
    texts = [_text_of(one, verdict, budget_cycles) for one, verdict in found]
    label_rows, left_px = row_labels([one.name for one, _ in found])
    variables = {
        "panels": 1,
        "rows": len(found),
        "right_px": width_px(texts),
        "label_px": left_px,
        "bottom_px": AXIS_PX,
        "gap_px": 0,
        "line_px": LINE_LABEL_PX,
        "axis_label": ["net cycles per packet (log axis)"],
        "x_low": [float(low)],
        "x_high": [float(high)],
        "x_tics": [tics(low, high, True, 8)],
        "measured": MEASURED,
        "lines": len(counts),
        "line_rate": [float(n * budget_cycles) for n in counts],
        "line_name": [f"{n} core{'s' if n > 1 else ''}" for n in counts],
        "line_colour": [LEVEL_COLOUR if n == 1 else 0x999999 for n in counts],
        "line_dash": [int(n > 1) for n in counts],
    }
    costs = document["costs"]
    return Picture(
        name,
        topic,
        f"Which functions fit at {line_text(line)}?",
        "line_rate.gp",
        top_px([]) + LINE_LABEL_PX + ROW_PX * len(found) + AXIS_PX,
        variables,
        {
            "dots": [tuple(map(float, d)) for d in dots],
            "values": list(enumerate(texts, 1)),
            "rows": label_rows[0],
            "rows_small": label_rows[1],
        },
        *function_figures(document),
        costs["source"],
        costs["samples"],
        costs["losses"],
        f"The solid line is what one core has for a packet: {number(budget_cycles)} cycles. A dot "
        "to the left of it fits on one core; a dot to the right of it needs the number of cores of "
        "the next dashed line, if packets are spread evenly over them and the cores do not "
        "disturb each other. The figures at the right are the cycles, and the cores that they "
        "keep busy. Bars are 95 % confidence intervals. Functions of one program share the core: "
        "add their figures.",
        _function_notes(document, found, rest),
    )


def _largest(found):
    """The MOST_ROWS largest costs in their order, and how many others there are."""
    least = sorted((one.cycles for one, _ in found), reverse=True)[:MOST_ROWS][-1]
    kept = [pair for pair in found if pair[0].cycles >= least][:MOST_ROWS]
    return kept, len(found) - len(kept)


def _function_notes(document, found, rest):
    notes = [document["costs"]["meaning"]]
    notes += [f"{plural(rest, 'smaller cost')} only in the table."] if rest else []
    hidden = [one for one, _ in found if one.cycles <= (one.half or 0)]
    if hidden:
        said = "; ".join(f"{one.name}: {facts.cycles_text(one)}" for one in hidden)
        notes.append(f"Without a dot, because not above zero by more than their error: {said}.")
    if any(not one.is_at_size for one, _ in found):
        notes.append(
            "A function that was measured only at another size, which the row names, says little "
            "about this one if its cost depends on the size."
        )
    mean = document["costs"]["mean_bytes"]
    if mean and any(one.measured.startswith("packets as") for one, _ in found):
        notes.append(
            f"Rows without a size were measured with packets as they came, {number(mean)} bytes on "
            "average; their cost is taken as that at any size."
        )
    return notes


def function_figures(document):
    """Columns and rows, also of the table on the page."""
    header = (
        "function",
        "measured_at",
        "net_cycles",
        "ci95_cycles",
        "ns",
        "budget_cycles",
        "share_of_core",
        "whole_cores",
        "fits_one_core",
    )
    hz = facts.hz_of(document)
    limit = facts.line_of(document).cycles(hz)
    return header, [
        (
            one.name,
            one.measured,
            one.cycles,
            one.half,
            one.cycles / hz * 1e9,
            limit,
            one.cycles / limit,
            whole_cores(one.cycles / limit),
            verdict,
        )
        for one, verdict in facts.verdicts(document)
    ]


def _size_text(size):
    for shift, letter in ((30, "G"), (20, "M"), (10, "K")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift}{letter}"
    return f"{size:,}"


def _power_tics(low, high, step):
    """Marks at powers of two, every `step` of them."""
    values = [1 << e for e in range(0, 50, step) if low <= 1 << e <= high]
    return " ".join(f"{_size_text(v)}={float(v):.1f}" for v in values)


def _points(rows, at, kind):
    return [(float(r[at]), r[kind]["ns"], r[kind]["ns_low"], r[kind]["ns_high"]) for r in rows]


def _latency_picture(document, name, topic, question, x_label, series, marks, reading, notes, data):
    """series: (name, colour, marker, points); marks: a line at x or at y as (name, colour, (x, y)),
    the other of which is 0."""
    xs = [p[0] for _, _, _, points in series for p in points]
    ys = [y for _, _, _, points in series for p in points for y in p[1:] if y > 0]
    x_low, x_high = min(xs) / 1.3, max(xs) * 1.3
    y_low, y_high = log_range(ys + [ns for _, _, (_, ns) in marks if ns])
    tables, legend, colours, markers = {}, [], [], []
    for n, (label, colour, marker, points) in enumerate(series, 1):
        tables[f"series_1_{n}"] = points
        tables[f"fit_1_{n}"] = []
        legend.append((label, colour, marker))
        colours.append(colour)
        markers.append(marker)
    for n, (label, colour, (where, value)) in enumerate(marks, len(series) + 1):
        tables[f"series_1_{n}"] = []
        tables[f"fit_1_{n}"] = (
            [(float(where), y_low), (float(where), y_high)]
            if where
            else [(x_low, value), (x_high, value)]
        )
        legend += [(label, PAPER, 5)] if label else []
        colours.append(colour)
        markers.append(0)
    variables = {
        "panels": 1,
        "series": len(colours),
        "size_label": x_label,
        "x_log": 1,
        "x_low": x_low,
        "x_high": x_high,
        "x_tics": _power_tics(x_low, x_high, 2),
        "colour": colours,
        "marker": markers,
        "axis_label": ["ns of a load (log axis)"],
        "y_log": [1],
        "y_low": [float(y_low)],
        "y_high": [float(y_high)],
        "y_tics": [tics(y_low, y_high, True, 8)],
    }
    return Picture(
        name,
        topic,
        question,
        "packet_size.gp",
        top_px(legend) + HEIGHT_PX,
        variables,
        tables,
        *data,
        facts.memory_source(document),
        facts.memory_samples(document),
        NO_RECORDS,
        reading,
        notes,
        legend,
    )


MEDIAN = ("ns", "ns_low", "ns_high")


def _values(median):
    return [median[key] for key in MEDIAN]


def latency(document):
    topic, name = "Cost of a cache miss", "latency"
    found, line = document["memory"], facts.line_of(document)
    if not found["small"]:
        return Absent(name, topic, "The latencies have no point.")
    chains, small = found["method"]["chains_overlapped"], facts.small_page(document)
    best = found["huge"] or found["small"]
    series = [
        (
            f"one after another, {small} pages",
            PALETTE[5],
            7,
            _points(found["small"], "bytes", "alone"),
        )
    ]
    if found["huge"]:
        points = _points(found["huge"], "bytes", "alone")
        series.append(("one after another, 2 MiB pages", MEASURED, 5, points))
    label = f"{chains} at a time, {'2 MiB' if found['huge'] else small} pages"
    series.append((label, PALETTE[2], 9, _points(best, "bytes", "overlapped")))
    ends = ", ".join(f"L{c['level']} {_size_text(c['bytes'])}" for c in found["caches"])
    marks = [
        ("" if i else f"\u2506 size of {ends}", GREY, (cache["bytes"], 0))
        for i, cache in enumerate(found["caches"])
    ]
    marks.append((f"\u2504 time of a packet, {number(line.ns)} ns", LEVEL_COLOUR, (0, line.ns)))
    rows = [
        (pages, row["bytes"], *_values(row["alone"]), *_values(row["overlapped"]))
        for key, pages in (("small", small), ("huge", "2 MiB"))
        for row in found[key]
    ]
    return _latency_picture(
        document,
        name,
        topic,
        "How long does a load take, by the size of the memory in use?",
        "bytes in use (log axis)",
        series,
        marks,
        "Each dot is the median time of a load when the program uses that much memory, each line "
        "of it equally often and in random order; the bar is its 95 % interval. The address of a "
        "load is the result of the load before it, so that nothing overlaps, except for the "
        "series with several loads at a time. The vertical lines are the sizes of the caches as "
        "the machine reports them: to the right of each, loads miss that cache. The horizontal "
        "line is the time of a packet.",
        step_notes(document),
        (
            (
                "pages",
                "bytes",
                *MEDIAN,
                *(f"overlapped_{key}" for key in MEDIAN),
            ),
            rows,
        ),
    )


def step_notes(document):
    """Whether latencies rise where the machine says that its caches end."""
    said = []
    for level in document["memory"]["levels"]:
        if level["bytes"] is None:
            continue
        name, size = level["name"], _size_text(level["bytes"])
        if level["step_bytes"] is None:
            said.append(f"{name} ({size}): no step was found")
        else:
            where = _size_text(level["step_bytes"])
            agrees = "as expected" if level["step_agrees"] else "not where expected"
            said.append(f"{name} ({size}): loads are slower from {where} on, {agrees}")
    return [f"Reported size and measured step: {'; '.join(said)}."] if said else []


def pages(document):
    topic, name = "Cost of finding a page (TLB)", "pages"
    rows = document["memory"]["by_page"]
    if not rows:
        return Absent(name, topic, "Too little memory was used to measure it.")
    beside = {
        p["bytes"] // 64: p for p in (document["memory"]["huge"] or document["memory"]["small"])
    }
    dense = [{"pages": r["pages"], **beside[r["pages"]]} for r in rows if r["pages"] in beside]
    series = [
        (
            f"one line in each page of {facts.small_page(document)}",
            PALETTE[5],
            7,
            _points(rows, "pages", "alone"),
        ),
        ("as many lines side by side", MEASURED, 5, _points(dense, "pages", "alone")),
    ]
    largest = rows[-1]
    notes = []
    if largest["page_ns"] is not None:
        notes.append(
            f"With {largest['pages']:,} pages, finding the page adds {number(largest['page_ns'])} "
            "ns to a load. In a virtual machine the tables of the guest and those of the host are "
            "both searched."
        )
    return _latency_picture(
        document,
        name,
        topic,
        "What does it cost if the TLB does not know a page?",
        "lines in use (log axis)",
        [one for one in series if one[3]],
        [],
        "Both series use the same number of lines, so that they fit into the same caches. In one "
        "of them each line is in a page of its own. The distance between the series is the time to "
        "find the page; it grows where the TLB has no room for more pages. Huge pages avoid it.",
        notes,
        (
            ("pages", *MEDIAN, "page_ns"),
            [(r["pages"], *_values(r["alone"]), r["page_ns"]) for r in rows],
        ),
    )


def pictures(document):
    return [budget(document), functions(document), latency(document), pages(document)]
