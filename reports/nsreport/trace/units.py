# SPDX-License-Identifier: MIT
# Individual slices and units of a trace -> timeline of a typical unit, cost against packet size.
import itertools
import statistics
from dataclasses import dataclass

from ..charts import log_range, log_wanted, tics
from ..errors import EXIT_USAGE, ReportError, shown
from ..layout import MEASURED, PAPER, WIDTH_PX, row_labels, text_px, top_px
from ..loss_text import loss_line
from ..picture import Absent, Picture
from ..text import number, plural
from .facts import fields_of, samples_text, source_text

MAX_SLICES = 200_000  # slices read to find a typical unit
MAX_EVENTS = 600_000  # events read for the packet sizes of those units
MAX_BARS = 5_000  # bars in a timeline
SIZE_CLASSES = 14
MIN_SPREAD = 1.25  # minimum ratio of the largest to the smallest mean packet size
CLASS_UNITS = 10  # minimum units per group: fewer have no middle 80 percent


@dataclass
class Bar:
    name: str
    thread: str
    depth: int
    start: int
    stop: int
    net: float


def _number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _bar(row):
    try:
        return Bar(
            row["name"],
            row["thread"],
            int(row["depth"]),
            int(row["start_ticks"]),
            int(row["stop_ticks"]),
            _number(row["net_ticks"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def unit_costs(source):
    """(unit, number, thread) -> net ticks of its outermost slices, which may be inside a slice of
    no unit. Units that the limit may have truncated are left out."""
    costs, depths, last_of_thread, read = {}, {}, {}, 0
    for row in itertools.islice(source.rows("slices", "-c", str(MAX_SLICES)), MAX_SLICES):
        read += 1
        unit, net = row.get("unit"), _number(row.get("net_ticks"))
        if not unit or net is None or row.get("unit_number") in (None, ""):
            continue
        key = (unit, row["unit_number"], row.get("thread"))
        last_of_thread[key[2]] = key
        depth = _number(row.get("depth")) or 0
        if depth < depths.get(key, depth + 1):
            depths[key], costs[key] = depth, 0.0
        if depth == depths[key] and row.get("class") != "migrated":
            costs[key] += net
    if read == MAX_SLICES:
        for key in last_of_thread.values():
            costs.pop(key, None)
    return costs


def typical_unit(costs):
    middle = statistics.median_low(list(costs.values()))
    return next(unit for unit, cost in costs.items() if cost == middle)


def _bars_of_unit(source, number, unit=None, thread=None):
    """Each thread numbers its own units; without a thread, units of all threads are shown."""
    rows = (
        row
        for row in source.rows("slices", "--unit", str(number))
        if (unit is None or row.get("unit") == unit)
        and (thread is None or row.get("thread") == thread)
    )
    bars = [bar for row in itertools.islice(rows, MAX_BARS + 1) if (bar := _bar(row))]
    return bars[:MAX_BARS], len(bars) > MAX_BARS


def _lanes(bars):
    """(thread, depth) -> row number from the top, grouped by thread."""
    keys = sorted({(bar.thread, bar.depth) for bar in bars})
    threads = {thread for thread, _ in keys}
    depths = {
        depth: "outermost" if depth == 0 else "nested" if depth == 1 else f"{depth} deep"
        for _, depth in keys
    }
    names = [
        depths[depth] if len(threads) == 1 else f"thread {thread}, {depths[depth]}"
        for thread, depth in keys
    ]
    return {key: i for i, key in enumerate(keys, 1)}, names


def _dark_text(colour):
    red, green, blue = colour >> 16, colour >> 8 & 255, colour & 255
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140


def _timeline_tables(bars, colours, lanes, begin, length, plot_px):
    tables = {"bars": [], "inside": [], "inside_dark": []}
    for bar in sorted(bars, key=lambda b: (b.depth, b.start)):
        row, colour = lanes[(bar.thread, bar.depth)], colours[bar.name]
        low, high = float(bar.start - begin), float(bar.stop - begin)
        tables["bars"].append((low, high, row, colour))
        room = (high - low) / length * plot_px
        texts = [f"{bar.name}  {number(bar.net)}", bar.name]
        text = next((t for t in texts if 0.87 * text_px(t) + 6 < room), None)
        if text:
            tables["inside_dark" if _dark_text(colour) else "inside"].append(
                ((low + high) / 2, row, text)
            )
    return tables


def _known_units(costs):
    numbers = [int(number) for _, number, _ in costs if number.isdecimal()]
    if not numbers:
        return "the trace has no units (INIT and EXIT) with slices in them (omit --unit)"
    return (
        f"units among its first {MAX_SLICES:,} slices: {min(numbers)} to {max(numbers)} (give one "
        "of them with --unit or omit the option)"
    )


def timeline(document, colours, source, unit_number, costs):
    topic, name = "One unit", "timeline"
    asked = unit_number is not None
    if not asked:
        unit_name, unit_number, thread = typical_unit(costs)
        question = f"What happens inside one typical {unit_name}, and when?"
        chosen = (
            f"unit {unit_number} of {plural(len(costs), 'unit')} examined, the one with the "
            "median cost"
        )
        bars, cut = _bars_of_unit(source, unit_number, unit_name, thread)
    else:
        unit_name = next((u for u in costs if u[1] == str(unit_number)), ("unit",))[0]
        question = f"What happens inside {unit_name} {unit_number}, and when?"
        chosen = f"unit {unit_number}, as requested"
        bars, cut = _bars_of_unit(source, unit_number)
    if not bars:
        if asked:
            raise ReportError(
                EXIT_USAGE,
                f"{shown(source.trace_path)}: no unit {unit_number} with a complete slice; "
                f"{_known_units(costs)}",
            )
        return Absent(name, topic, f"Unit {unit_number} has no complete slice in this trace.")
    begin, end = min(b.start for b in bars), max(b.stop for b in bars)
    length = max(end - begin, 1)
    lanes, lane_names = _lanes(bars)
    label_rows, left_px = row_labels(lane_names)
    tables = _timeline_tables(bars, colours, lanes, begin, length, WIDTH_PX - left_px - 40)
    tables["rows"], tables["rows_small"] = label_rows
    hz = document["clock"]["hz"]
    scale, time_unit = (1e9, "ns") if hz and length / hz < 2e-5 else (1e6, "\u00b5s")
    legend = [
        (n, colours[n]) for n in dict.fromkeys(b.name for b in sorted(bars, key=lambda b: b.start))
    ][:24]
    unit_text = fields_of(document).get("ticks", "ticks")
    variables = {
        "rows": len(lanes),
        "label_px": left_px,
        "x_high": float(length),
        "has_time": int(bool(hz)),
        "time_factor": scale / hz if hz else 1.0,
        "time_label": f"time in {time_unit}",
        "x_tics": tics(0, length, False, 9),
        "x2_tics": tics(0, length * scale / hz, False, 9) if hz else "0=0",
        "axis_label": (
            f"{unit_text} since the start of the unit's first slice (raw, including probes; "
            "values in bars: net)"
        ),
    }
    notes = [f"Only the first {MAX_BARS:,} slices of the unit are drawn."] if cut else []
    return Picture(
        name,
        topic,
        question,
        "timeline.gp",
        top_px(legend) + 44 * len(lanes) + 136,
        variables,
        tables,
        ("name", "thread", "depth", "start_ticks", "stop_ticks", "net_ticks"),
        [(b.name, b.thread, b.depth, b.start - begin, b.stop - begin, b.net) for b in bars],
        source_text(document, {"ticks": unit_text}),
        f"{plural(len(bars), 'slice')} of {chosen}",
        loss_line(document["losses"]),
        "Time runs to the right. A bar is a slice from its START to its STOP; a bar below another "
        "is nested in it. The value in a bar is its net cost; the bar's length is the raw time, "
        "including the probes.",
        notes,
        legend,
    )


def unit_sizes(source, wanted):
    """(unit, number, thread) -> mean packet bytes and packets, from the words of the INIT events:
    number, packets, bytes."""
    sizes = {}
    for row in itertools.islice(source.rows("events", "-c", str(MAX_EVENTS)), MAX_EVENTS):
        if row.get("kind") != "INIT":
            continue
        packets, wire_bytes = _number(row.get("word1")), _number(row.get("word2"))
        key = (row.get("name"), row.get("word0"), row.get("thread"))
        if key in wanted and packets and wire_bytes:
            sizes[key] = (wire_bytes / packets, packets)
    return sizes


def _classes(points):
    """(size, cost) points -> up to SIZE_CLASSES groups of about equal count: size, median, low and
    high tenth, count. A few points are not grouped."""
    points = sorted(points)
    count = min(SIZE_CLASSES, len(points) // CLASS_UNITS)
    if count < 3:
        return [(size, cost, cost, cost, 1) for size, cost in points]
    edges = [len(points) * i // count for i in range(count + 1)]
    groups = []
    for start, end in zip(edges, edges[1:]):
        part = points[start:end]
        costs = sorted(c for _, c in part)
        tenth = len(costs) // 10
        groups.append(
            (
                statistics.median(s for s, _ in part),
                statistics.median(costs),
                costs[tenth],
                costs[-1 - tenth],
                len(part),
            )
        )
    return groups


def packet_size(document, source, costs):
    topic, name = "Cost against packet size", "packet_size"
    sizes = unit_sizes(source, costs)
    points = [(sizes[u][0], costs[u] / sizes[u][1]) for u in costs if u in sizes]
    if len({round(size) for size, _ in points}) < 3:
        return Absent(
            name,
            topic,
            "The units of this trace do not have three different mean packet sizes "
            "(sizes come from the byte count passed to INIT).",
        )
    smallest, largest = min(size for size, _ in points), max(size for size, _ in points)
    if largest < MIN_SPREAD * smallest:
        return Absent(
            name,
            topic,
            f"The units' mean packet sizes lie between {number(smallest)} and {number(largest)} "
            "bytes, too close together to compare.",
        )
    groups = _classes(points)
    unit_text = fields_of(document).get("ticks", "ticks")
    low, high = min(0.0, min(g[2] for g in groups)), max(g[3] for g in groups)
    log = min(g[2] for g in groups) > 0 and log_wanted(min(g[2] for g in groups), high)
    y_low, y_high = (
        log_range([x for g in groups for x in g[1:4]]) if log else (low, high * 1.08 or 1)
    )
    is_single = all(g[4] == 1 for g in groups)
    legend = (
        [("one unit", MEASURED, 7)]
        if is_single
        else [
            ("median of a group of units", MEASURED, 7),
            ("bar: the middle 80 percent of the group", PAPER, 5),
        ]
    )
    variables = {
        "panels": 1,
        "series": 1,
        "x_high": max(g[0] for g in groups) * 1.06,
        "y_log": [int(log)],
        "y_low": [float(y_low)],
        "y_high": [float(y_high)],
        "y_tics": [tics(y_low, y_high, log)],
        "x_tics": tics(0, max(g[0] for g in groups) * 1.06, False, 10),
        "size_label": "mean packet size of a unit in bytes",
        "axis_label": [f"net {unit_text} per packet" + (" (log axis)" if log else "")],
        "colour": [MEASURED],
        "marker": [7],
    }
    return Picture(
        name,
        topic,
        "Does a longer packet cost more?",
        "packet_size.gp",
        top_px(legend) + 380,
        variables,
        {"series_1_1": [tuple(float(x) for x in g[:4]) for g in groups], "fit_1_1": []},
        ("mean_packet_bytes", "median_net_ticks_per_packet", "tenth", "nine_tenths", "units"),
        groups,
        source_text(document, {"ticks": unit_text}),
        f"{plural(len(points), 'unit')} from the beginning of the trace, {samples_text(document)} "
        "in total",
        loss_line(document["losses"]),
        (
            "Each dot is one unit. "
            if is_single
            else (
                "Each dot is the median of a group of units with similar mean packet size; its "
                "bar spans the middle 80 percent. "
            )
        )
        + (
            "If the dots are level, cost does not depend on size. The cost includes all slices of "
            "the unit, also those that read packets."
        ),
        [],
        legend,
    )


def pictures(document, colours, source, unit_number):
    missing = None
    if source.trace_path is None:
        missing = (
            "The input is stats JSON, which has no individual slices. Run nsreport on the trace "
            "to get this picture."
        )
    costs = {} if missing else unit_costs(source)
    if not costs and not missing:
        missing = "The trace has no units (INIT and EXIT) with slices in them."
        if unit_number is not None:
            raise ReportError(
                EXIT_USAGE,
                f"{shown(source.trace_path)}: no unit {unit_number}; {_known_units(costs)}",
            )
    if missing:
        return [
            Absent("timeline", "One unit", missing),
            Absent("packet_size", "Cost against packet size", missing),
        ]
    return [
        timeline(document, colours, source, unit_number, costs),
        packet_size(document, source, costs),
    ]
