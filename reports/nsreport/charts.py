# SPDX-License-Identifier: MIT
# Shared by all pictures: axis ranges and formats, and the stacked rows of function_cost.gp and
# similar scripts.
import math
from dataclasses import dataclass, field

from .layout import WIDTH_PX, row_labels, text_px

ROW_PX = 30
AXIS_PX = 68
GAP_PX = 34
LOG_FROM = 20  # a range whose high end is this many times its low end gets a log axis


def log_wanted(low, high):
    return low > 0 and high / low > LOG_FROM


def _tic_text(value, thousands):
    """thousands: print 1000 as 1k because other marks of the axis need the letter anyway."""
    for size, letter in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= (10000 if letter == "k" and not thousands else size):
            return f"{value / size:.6g}{letter}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"


def _log_tics(low, high, most):
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 2:
        tics = [
            m * 10.0**e
            for e in range(first - 1, last + 1)
            for m in (1, 2, 5)
            if low <= m * 10.0**e <= high
        ]
        if len(tics) > 1:
            return tics if len(tics) <= most else tics[::2]
        return _linear_tics(low, high, most)
    step = -(-(last - first + 1) // most)
    return [10.0**e for e in range(first, last + 1, step)]


def _linear_tics(low, high, most):
    rough = (high - low) / most
    if not rough > 0:
        return [low]
    base = 10.0 ** math.floor(math.log10(rough))
    step = next(base * m for m in (1, 2, 5, 10) if base * m >= rough * 0.999)
    return [
        step * i for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]


def tics(low, high, log, most=6, suffix=""):
    """Axis marks for tics.gp: words LABEL=VALUE. Chosen here because gnuplot's own overlap or round
    two marks to the same text."""
    values = _log_tics(low, high, most) if log else _linear_tics(low, high, most)
    thousands = any(abs(v) >= 10000 for v in values)
    # gnuplot's real() does not parse exponents
    return " ".join(f"{_tic_text(v, thousands)}{suffix}={v:.15f}" for v in values)


def log_range(values):
    """Whole decades would waste space on short ranges; leaves a small margin on both sides
    instead."""
    low, high = min(values, default=1.0), max(values, default=1.0)
    return low / 10**0.18, high * 10**0.18


@dataclass
class Row:
    segments: list  # (from, to, colour)
    text: str = ""  # value printed at the right end
    error: tuple = None  # (value, half width)


@dataclass
class Panel:
    axis: str
    rows: list = field(default_factory=list)


def _error_low(row):
    """A cost cannot be negative: the bar ends at zero, and the value next to it shows the full
    error."""
    value, half = row.error
    return max(value - half, min(value, 0.0))


def _panel_ends(row):
    ends = [0.0] + [x for a, b, _ in row.segments for x in (a, b)]
    if row.error:
        ends += [_error_low(row), row.error[0] + row.error[1]]
    return ends


def _panel_range(panel, panel_px):
    """Low and high end, with room at the right for each row's value."""
    low = min(min(_panel_ends(row)) for row in panel.rows)
    high = max(max(_panel_ends(row)) for row in panel.rows)
    if high <= low:
        high = low + 1.0
    needed = high
    for row in panel.rows:
        share = min(0.7, (0.87 * text_px(row.text) + 14) / panel_px)
        needed = max(needed, low + (max(_panel_ends(row)) - low) / (1 - share))
    return float(low), float(needed)


def stacked(names, panels):
    """Names and panels of rows -> (height without the top, variables, tables) of
    function_cost.gp."""
    label_rows, left_px = row_labels(names)
    panel_px = (WIDTH_PX - left_px - 24 - GAP_PX * (len(panels) - 1)) / len(panels)
    tables = {"rows": label_rows[0], "rows_small": label_rows[1]}
    ranges = []
    for p, panel in enumerate(panels, 1):
        ranges.append(_panel_range(panel, panel_px))
        numbered = list(enumerate(panel.rows, 1))
        tables[f"bars_{p}"] = [
            (i, float(a), float(b), c) for i, row in numbered for a, b, c in row.segments if a != b
        ]
        tables[f"errors_{p}"] = [
            (i, float(row.error[0]), float(_error_low(row)), float(row.error[0] + row.error[1]))
            for i, row in numbered
            if row.error
        ]
        tables[f"values_{p}"] = [(float(max(_panel_ends(row))), i, row.text) for i, row in numbered]
    variables = {
        "panels": len(panels),
        "rows": len(names),
        "label_px": left_px,
        "bottom_px": AXIS_PX,
        "gap_px": GAP_PX,
        "axis_label": [panel.axis for panel in panels],
        "x_low": [r[0] for r in ranges],
        "x_high": [r[1] for r in ranges],
        "x_tics": [tics(r[0], r[1], False, 8 if len(panels) == 1 else 5) for r in ranges],
    }
    return ROW_PX * len(names) + AXIS_PX, variables, tables
