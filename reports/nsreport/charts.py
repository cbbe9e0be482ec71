# SPDX-License-Identifier: MIT
# Shared by all pictures: axis ranges and formats, and the stacked rows of function_cost.gp and its kin.
import math
from dataclasses import dataclass, field

from .layout import CHARACTER_PX, WIDTH_PX, label_px
from .text import labels

ROW_PX = 30
AXIS_PX = 56
GAP_PX = 34
LOG_FROM = 20  # a range this many times its low end is drawn on a log axis


def log_wanted(low, high):
    return low > 0 and high / low > LOG_FROM


def axis_format(low, high, log):
    """gnuplot's format for the tics: no rounding that makes two tics read alike, no exponents."""
    if log and low >= 0.99 and high >= 10000:
        return "%.0s%c"
    if not log and high >= 100000:
        return "%.10g" if high < 1000000 else "%.1s%c"
    return "%.10g"


def log_range(values):
    """Whole decades would waste space when they are few; a third of a decade of air on both sides."""
    low, high = min(values), max(values)
    return low / 10**0.18, high * 10**0.18


def linear_step(low, high, tics=6):
    """A step of 1, 2 or 5 times a power of ten, so that tic labels never overlap."""
    rough = (high - low) / tics
    if not rough > 0:
        return 0.0
    base = 10.0 ** math.floor(math.log10(rough))
    return next(base * m for m in (1, 2, 5, 10) if base * m >= rough * 0.999)


@dataclass
class Row:
    segments: list          # (from, to, colour)
    text: str = ""          # figure at the right end
    error: tuple = None     # (value, half width)


@dataclass
class Panel:
    axis: str
    rows: list = field(default_factory=list)


def _panel_ends(row):
    ends = [0.0] + [x for a, b, _ in row.segments for x in (a, b)]
    if row.error:
        ends += [row.error[0] - row.error[1], row.error[0] + row.error[1]]
    return ends


def _panel_range(panel, panel_px):
    """Low and high end with room at the right for each row's figure."""
    low = min(min(_panel_ends(row)) for row in panel.rows)
    high = max(max(_panel_ends(row)) for row in panel.rows)
    if high <= low:
        high = low + 1.0
    needed = high
    for row in panel.rows:
        share = min(0.7, (CHARACTER_PX * len(row.text) + 14) / panel_px)
        needed = max(needed, low + (max(_panel_ends(row)) - low) / (1 - share))
    return float(low), float(needed)


def stacked(names, panels):
    """Names and panels of rows -> (height without the top, variables, tables) of function_cost.gp."""
    drawn = labels(names)
    left_px = label_px(drawn, 60)
    panel_px = (WIDTH_PX - left_px - 24 - GAP_PX * (len(panels) - 1)) / len(panels)
    tables = {"rows": list(enumerate(drawn, 1))}
    ranges = []
    for p, panel in enumerate(panels, 1):
        ranges.append(_panel_range(panel, panel_px))
        numbered = list(enumerate(panel.rows, 1))
        tables[f"bars_{p}"] = [(i, float(a), float(b), c) for i, row in numbered for a, b, c in row.segments if a != b]
        tables[f"errors_{p}"] = [(i, float(row.error[0]), float(row.error[1])) for i, row in numbered if row.error]
        tables[f"values_{p}"] = [(float(max(_panel_ends(row))), i, row.text) for i, row in numbered]
    variables = {
        "panels": len(panels), "rows": len(names), "label_px": left_px, "bottom_px": AXIS_PX, "gap_px": GAP_PX,
        "axis_label": [panel.axis for panel in panels], "x_low": [r[0] for r in ranges], "x_high": [r[1] for r in ranges],
        "x_format": [axis_format(r[0], r[1], False) for r in ranges],
        "x_step": [linear_step(r[0], r[1], 7 if len(panels) == 1 else 4) for r in ranges],
    }
    return ROW_PX * len(names) + AXIS_PX, variables, tables
