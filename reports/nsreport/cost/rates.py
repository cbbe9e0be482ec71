# SPDX-License-Identifier: MIT
# mapi-cost rows -> cost against packet size (with the line of 2004), sustainable rate against line
# rates.
from ..charts import AXIS_PX, ROW_PX, log_range, log_wanted, tics
from ..layout import MEASURED, PAPER_INTEL, PAPER_SCAMPI, row_labels, top_px, width_px
from ..loss_text import loss_line
from ..picture import Absent, Picture
from ..text import number
from .facts import COMPARED, compared, paper_figure, row_names, samples_text, source_text

SEARCH = "STR_SEARCH"
PAPER_BASE, PAPER_PER_BYTE = 316.0, 11.9  # instructions of STR_SEARCH itself in 2004
LINE_COLOURS = {10: 0x009E73, 25: 0xE69F00, 100: 0xD55E00}
LINE_LABEL_PX = 112


def least_squares(points):
    """(x, y) -> (offset, slope), or None where x does not vary."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    square = sum((x - mean_x) ** 2 for x, _ in points)
    if not square:
        return None
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / square
    return mean_y - slope * mean_x, slope


def _size_rows(document):
    return sorted(
        (
            r
            for r in document["rows"]
            if r["table"] == 2
            and r["packet_bytes"]
            and SEARCH in r["scenario"]
            and "+" not in r["scenario"]
        ),
        key=lambda r: r["packet_bytes"],
    )


def _size_panel(rows, kind, p, tables):
    """Fills the tables of one panel; returns all its values and the line fitted to this run."""
    measured = [
        (float(r["packet_bytes"]), float(r[kind]["net"]), float(r[kind]["ci95"] or 0))
        for r in rows
        if r[kind]
    ]
    tables[f"series_{p}_1"] = [(x, y, y - e, y + e) for x, y, e in measured]
    fit = least_squares([(x, y) for x, y, _ in measured]) if len(measured) > 1 else None
    span = (float(rows[0]["packet_bytes"]), float(rows[-1]["packet_bytes"]))
    xs = [span[0] + (span[1] - span[0]) * i / 60 for i in range(61)]
    tables[f"fit_{p}_1"] = [(x, fit[0] + fit[1] * x) for x in xs] if fit else []
    for n, card in ((2, "scampi"), (3, "intel")):
        tables[f"series_{p}_{n}"] = [
            (float(r["packet_bytes"]), float(v), float(v), float(v))
            for r in rows
            if (v := paper_figure(r, card, kind)) is not None
        ]
        tables[f"fit_{p}_{n}"] = []
    if kind == "instructions":
        tables[f"fit_{p}_2"] = [(x, PAPER_BASE + PAPER_PER_BYTE * x) for x in xs]
    values = [v for n in (1, 2, 3) for row in tables[f"series_{p}_{n}"] for v in row[1:]] + [
        y for n in (1, 2) for _, y in tables[f"fit_{p}_{n}"]
    ]
    return values, fit


def packet_size(document):
    topic, name = "Cost against packet size", "packet_size"
    rows = _size_rows(document)
    kinds = [k for k in ("instructions", "cycles") if any(r[k] for r in rows)]
    if len(rows) < 2 or not kinds:
        return Absent(name, topic, f"The run has no {SEARCH} rows for at least two packet sizes.")
    tables, fits, lists = (
        {},
        [],
        {"axis_label": [], "y_log": [], "y_low": [], "y_high": [], "y_tics": []},
    )
    for p, kind in enumerate(kinds, 1):
        values, fit = _size_panel(rows, kind, p, tables)
        if fit:
            fits.append(f"{number(fit[0])} + {number(fit[1])} {kind} per byte")
        positive = [v for v in values if v > 0]
        log = bool(positive) and log_wanted(min(positive), max(positive))
        low, high = log_range(positive) if log else (min(0.0, *values), max(values) * 1.06)
        if log:  # a log axis cannot show the part of a line at or below zero
            for n in (1, 2, 3):
                tables[f"fit_{p}_{n}"] = [(x, y) for x, y in tables[f"fit_{p}_{n}"] if y > 0]
        unit = "instructions" if kind == "instructions" else "TSC cycles"
        for key, item in (
            ("axis_label", f"net {unit} per packet" + (" (log axis)" if log else "")),
            ("y_log", int(log)),
            ("y_low", float(low)),
            ("y_high", float(high)),
            ("y_tics", tics(low, high, log)),
        ):
            lists[key].append(item)
    legend = [
        ("this run" + (f" (fit: {'; '.join(fits)})" if len(fits) == 1 else ""), MEASURED, 7),
        ("2004, SCAMPI adapter (line: 316 + 11.9 per byte)", PAPER_SCAMPI, 5),
        ("2004, Intel adapter", PAPER_INTEL, 8),
    ]
    notes = (
        [
            f"Dashed lines: this run fits {' and '.join(fits)}; 2004: 316 + 11.9 instructions per "
            "byte for the search only (dots are the whole packet, 53 to 56 instructions more)."
        ]
        if fits
        else []
    )
    if "instructions" not in kinds:
        notes.append(
            "No instruction panel: instructions were not measured, because this run had no source "
            "of instruction counts."
        )
    variables = {
        "panels": len(kinds),
        "series": 3,
        "size_label": "packet size in bytes",
        "x_high": rows[-1]["packet_bytes"] * 1.06,
        "colour": [c for _, c, _ in legend],
        "marker": [m for _, _, m in legend],
        "x_tics": tics(0, rows[-1]["packet_bytes"] * 1.06, False, 8 // len(kinds) + 1),
        **lists,
    }
    return Picture(
        name,
        topic,
        "What does a string search cost as packets grow?",
        "packet_size.gp",
        top_px(legend) + 400,
        variables,
        tables,
        ("packet_bytes", "kind", *COMPARED),
        [(r["packet_bytes"], k, *compared(r, k)) for r in rows for k in kinds],
        source_text(document, kinds) + "; 2004: D3.4, Table 2, net of PAPI",
        samples_text(document, rows),
        loss_line(document["losses"]),
        "Each dot is the cost of a packet of that size, with its 95 % confidence interval; the "
        "steeper the dots rise, the more each byte costs. On a vertical axis in powers of ten, "
        "equal distances are equal factors.",
        notes,
        legend,
    )


def _rate_error(row):
    """Packets per second are the inverse of cycles, so their relative errors are the same."""
    cycles = row["cycles"]
    if not cycles or cycles["ci95"] is None or not cycles["net"] > 0:
        return 0.0
    return min(0.9, cycles["ci95"] / cycles["net"])


def _lines(rows):
    """Each (gbit, frame) pair of the run once, slowest first: packets per second, gbit, frame."""
    found = {
        (line["gbit"], line["frame_bytes"]): line["line_packets_per_second"]
        for r in rows
        for line in r["rates"]["lines"] or []
        if line["line_packets_per_second"] > 0
    }
    return sorted((pps, gbit, frame) for (gbit, frame), pps in found.items())


def line_rate(document):
    topic, name = "Sustainable rate", "line_rate"
    rows = [
        r for r in document["rows"] if r["rates"] and (r["rates"]["packets_per_second"] or 0) > 0
    ]
    if not rows:
        return Absent(name, topic, "No row of the run has a packet rate.")
    lines = _lines(rows)
    label_rows, left_px = row_labels(row_names(rows))
    dots = []
    for i, row in enumerate(rows, 1):
        rate, error = float(row["rates"]["packets_per_second"]), _rate_error(row)
        dots.append((rate, i, rate / (1 + error), rate / (1 - error)))
    low, high = log_range([x for d in dots for x in (d[2], d[3])] + [pps for pps, _, _ in lines])
    texts = [f"{number(d[0] / 1e6)} M/s" for d in dots]
    variables = {
        "panels": 1,
        "rows": len(rows),
        "right_px": width_px(texts),
        "label_px": left_px,
        "bottom_px": AXIS_PX,
        "gap_px": 0,
        "line_px": LINE_LABEL_PX,
        "axis_label": [
            "packets per second, one core; reading from the device not included (log axis)"
        ],
        "x_low": [float(low)],
        "x_high": [float(high)],
        "x_tics": [tics(low, high, True, 8)],
        "measured": MEASURED,
        "lines": len(lines),
        "line_rate": [float(pps) for pps, _, _ in lines],
        "line_name": [f"{number(g)} Gbit/s, {number(f)} bytes" for _, g, f in lines],
        "line_colour": [LINE_COLOURS.get(g, 0x555555) for _, g, _ in lines],
        "line_dash": [int(f > 100) for _, _, f in lines],
    }
    data = [
        (
            n,
            r["packet_bytes"],
            r["rates"]["packets_per_second"],
            line["gbit"],
            line["frame_bytes"],
            line["line_packets_per_second"],
            line["share"],
            line["gbit_per_second"],
        )
        for n, r in zip(row_names(rows), rows)
        for line in r["rates"]["lines"] or []
    ]
    return Picture(
        name,
        topic,
        "Which line rate can one core keep up with?",
        "line_rate.gp",
        top_px([]) + LINE_LABEL_PX + ROW_PX * len(rows) + AXIS_PX,
        variables,
        {
            "dots": dots,
            "values": [(i, text) for i, text in enumerate(texts, 1)],
            "rows": label_rows[0],
            "rows_small": label_rows[1],
        },
        (
            "scenario",
            "packet_bytes",
            "packets_per_second",
            "gbit",
            "frame_bytes",
            "line_packets_per_second",
            "share",
            "gbit_per_second",
        ),
        data,
        source_text(document, ["cycles"]),
        samples_text(document, rows, ["cycles"]),
        loss_line(document["losses"]),
        "Rates are computed from the net cost of dispatch and functions; reading packets from the "
        "device is not included. A dot to the right of a line means that one core keeps up with "
        "that line rate at that frame size; to the left of it, packets would be lost or more "
        "cores are needed. Solid lines: small frames; dashed lines: large frames. Bars are 95 % "
        "confidence intervals. If the cost depends on packet size, a row measured at one size "
        "says nothing about lines with other sizes.",
    )
