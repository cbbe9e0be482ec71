# SPDX-License-Identifier: MIT
# System run -> pictures, head and tables of its page: Table 3 and Figure 5 of the paper, measured
# here.
from .. import page
from ..charts import log_range, log_wanted, tics
from ..layout import top_px
from ..papers import published
from ..picture import Absent, Picture
from ..text import count, number, plural
from .figures import UNITS, coverage, point, ratio, rounds, sizes
from .results import KINDS, READERS, VARIANTS

COLOURS = {"without": 0x0072B2, "idle": 0xE69F00, "recording": 0x009E73}
MARKERS = {"without": 7, "idle": 5, "recording": 9}
WORDS = {"without": "without module", "idle": "module loaded, idle", "recording": "recording"}
TOPICS = {
    "round_trip": ("TCP round trip", "round trip over loopback in microseconds"),
    "throughput": ("TCP throughput", "Gbit per second over loopback"),
}
_TABLE_3 = next(item for item in published.read("netslice") if item.id == "table-3")
_NAMES = {"lat_tcp": "lat_tcp, microseconds", "netperf": "netperf"}
# without, off and on
OLD = tuple(
    (_NAMES[name], *(values[column] for _, values in _TABLE_3.rows))
    for column, (name, _) in enumerate(_TABLE_3.columns)
    if name in _NAMES
)


def _there(document, kind):
    return [v for v in VARIANTS if any(v in rows for rows in document["values"][kind].values())]


def title(_document):
    return "System cost of the kernel module"


def lead(document):
    n = rounds(document)
    sure = (
        f" The true median lies between these two with {100 * coverage(n):.3g} % probability."
        if n > 1
        else ""
    )
    return (
        f"TCP over loopback in up to three variants, in turns, {plural(n, 'round')} of each. "
        f"Figures are medians of the rounds, followed by the least and the greatest round.{sure} "
        "Ratios are relative to the variant without module in the same round."
    )


def facts(document):
    tools = [
        f"{tool} ({TOPICS[kind][0]})"
        for kind, (tool, _) in READERS.items()
        if document["values"][kind]
    ]
    recorded = document["recorded_bytes"]
    return [
        ("Kernel", document["kernel"]),
        ("CPU", document["cpu"]),
        ("Tools", ", ".join(tools)),
        (
            "Recorded groups",
            document["groups"]
            if "recording" in {v for kind in KINDS for v in _there(document, kind)}
            else None,
        ),
        ("Seconds per measurement", document["seconds"]),
        ("Trace bytes of each recording", ", ".join(count(n) for n in recorded)),
    ]


def incomplete(document):
    said = (
        []
        if document["is_whole"]
        else ["The measurement was interrupted; only results obtained until then are shown."]
    )
    if 0 in document["recorded_bytes"]:
        said.append("A recording produced no trace, so nothing may have been recorded.")
    return (
        said
        + [f"No result for {words}." for words in document["failed"]]
        + [f"{words}." for words in document["faults"]]
    )


def warnings(document):
    said = [
        f"Variant \u201c{WORDS.get(variant, variant)}\u201d is missing: {reason}."
        for variant, reason in document["missing"].items()
    ]
    said += [
        f"{tool} is not installed, so its figures are missing." for tool in document["lacking"]
    ]
    names = " ".join(one["name"] for one in document["sizes"])
    if "nsmod.ko" not in names:
        said.append(
            "The module's size is missing: the module is not installed here, and --module FILE "
            "was not given."
        )
    if "probes out" not in names:
        said.append(
            "The size of programs without probes is missing: give a build with NETSLICE_DISABLE "
            "by --bare DIR (cmake --preset bare)."
        )
    return said


def _panel_tables(document, kind, variants, tables):
    for n, variant in enumerate(variants, 1):
        points = [
            (float(size), *point(document, kind, size, variant))
            for size in sizes(document, kind)
            if point(document, kind, size, variant)
        ]
        tables[f"series_1_{n}"] = points
        tables[f"fit_1_{n}"] = [(x, y) for x, y, _, _ in points]
    return [
        v for n in range(1, len(variants) + 1) for row in tables[f"series_1_{n}"] for v in row[1:]
    ]


def _picture(document, kind):
    topic, axis = TOPICS[kind]
    variants, tables = _there(document, kind), {}
    if not variants:
        return Absent(kind, topic, f"{READERS[kind][0]} gave no result.")
    values = _panel_tables(document, kind, variants, tables)
    log = log_wanted(min(values), max(values))
    low, high = log_range(values) if log else (0.0, max(values) * 1.06)
    lengths = sizes(document, kind)
    marks = [
        size
        for size in (64, 256, 1024, 4096, 16384, 65536)
        if lengths[0] <= size <= lengths[-1] * 1.1
    ] or lengths[:1]
    legend = [(WORDS[v], COLOURS[v], MARKERS[v]) for v in variants]
    variables = {
        "panels": 1,
        "series": len(variants),
        "size_label": "message size in bytes (log axis)",
        "x_log": 1,
        "x_low": lengths[0] / 1.3,
        "x_high": lengths[-1] * 1.3,
        "colour": [COLOURS[v] for v in variants],
        "marker": [MARKERS[v] for v in variants],
        "x_tics": " ".join(f"{size:,}={float(size)}" for size in marks),
        "axis_label": [axis + (" (log axis)" if log else "")],
        "y_log": [int(log)],
        "y_low": [float(low)],
        "y_high": [float(high)],
        "y_tics": [tics(low, high, log)],
    }
    rows = [
        (size, v, *point(document, kind, size, v), *(ratio(document, kind, size, v) or (None,) * 3))
        for size in lengths
        for v in variants
        if point(document, kind, size, v)
    ]
    return Picture(
        kind,
        topic,
        f"Does the module change the {topic}?",
        "packet_size.gp",
        top_px(legend) + 400,
        variables,
        tables,
        (
            "message_bytes",
            "variant",
            "median",
            "least",
            "greatest",
            "ratio",
            "ratio_least",
            "ratio_greatest",
        ),
        rows,
        f"{READERS[kind][0]} over loopback",
        plural(rounds(document), "round") + f" of {document['seconds']} s each",
        "none, because these figures do not come from records",
        "Each dot is the median over the rounds for one message size, and its bar spans the least "
        "to the greatest round. If the bars of two variants overlap, this run does not show a "
        "difference between them.",
        legend=legend,
    )


def pictures(document):
    return [_picture(document, kind) for kind in KINDS]


def _cells(spread, shown=number):
    if spread is None:
        return [number(None)] * 2
    return [shown(spread[0]), f"{shown(spread[1])} to {shown(spread[2])}"]


def _ratio_text(value):
    return f"{value:.3f}"  # the paper's variants are 1 % apart


def _figures(document, kind):
    columns = [("message bytes", True)]
    for variant in VARIANTS:
        columns += [(f"{WORDS[variant]}, {UNITS[kind]}", True), ("least to greatest", True)]
    for variant in VARIANTS[1:]:
        columns += [(f"{WORDS[variant]} / without", True), ("least to greatest", True)]
    rows = [
        [
            count(size),
            *(cell for v in VARIANTS for cell in _cells(point(document, kind, size, v))),
            *(
                cell
                for v in VARIANTS[1:]
                for cell in _cells(ratio(document, kind, size, v), _ratio_text)
            ),
        ]
        for size in sizes(document, kind)
    ]
    return (f"{kind}-figures", f"{TOPICS[kind][0]}: figures", page.table(columns, rows))


def _program_sizes(document):
    columns = [("file", False), ("text", True), ("data", True), ("bss", True), ("file bytes", True)]
    rows = [
        [
            one["name"],
            count(one["text"]),
            count(one["data"]),
            count(one["bss"]),
            count(one["file_bytes"]),
        ]
        for one in document["sizes"]
    ]
    return (
        "sizes",
        "Size of module and programs in bytes; probes off and on are the same file",
        page.table(columns, rows),
    )


def _old():
    columns = [
        ("2001", False),
        ("without", True),
        ("compiled in, off", True),
        ("on", True),
        ("off / without", True),
        ("on / without", True),
    ]
    rows = [
        [name, *(f"{v:.2f}" for v in (base, off, on)), f"{off / base:.4f}", f"{on / base:.4f}"]
        for name, base, off, on in OLD
    ]
    return ("paper", "The paper's Table 3, for comparison", page.table(columns, rows))


def tables(document):
    made = [_program_sizes(document)] if document["sizes"] else []
    return (
        made + [_figures(document, kind) for kind in KINDS if document["values"][kind]] + [_old()]
    )
