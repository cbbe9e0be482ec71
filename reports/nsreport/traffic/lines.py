# SPDX-License-Identifier: MIT
# Series of points in panels side by side -> variables and tables of packet_size.gp.
from dataclasses import dataclass, field, replace

from ..charts import log_range, tics
from ..layout import top_px

HEIGHT_PX = 400
LEAST_PERCENT = 0.001  # a smaller loss is drawn here
NONE_PERCENT = LEAST_PERCENT / 3  # points without loss


@dataclass
class Series:
    name: str
    colour: int
    marker: int
    points: list = field(default_factory=list)  # for each panel: (x, value, least, greatest)


@dataclass
class Axis:
    label: str
    is_loss: bool = False  # percent on a log axis, with a mark for none
    least_high: float = 1.0  # the least upper end of a linear axis


def _range(axis, series, panel):
    values = [v for one in series for point in one.points[panel] for v in point[1:]]
    if axis.is_loss:
        marks = f"none={NONE_PERCENT:.6f} " + tics(LEAST_PERCENT * 3, 100, True, suffix="%")
        return 1, LEAST_PERCENT / 4, 150.0, marks
    low, high = min([0.0, *values]) * 1.06, max([axis.least_high, *values]) * 1.06
    return 0, float(low), float(high), tics(low, high, False)


def _loss_at(percent):
    return max(float(percent), LEAST_PERCENT) if percent else NONE_PERCENT


def _drawn(axis, points):
    """Only a loss of exactly 0 is drawn at the mark for none."""
    if not axis.is_loss:
        return [tuple(float(v) for v in point) for point in points]
    return [(float(x), *map(_loss_at, values)) for x, *values in points]


def _with_rates(one):
    """Without points where nothing was sent: the axis is a log axis."""
    return replace(one, points=[[point for point in p if point[0] > 0] for p in one.points])


def drawing(series, axes, x_label, is_log=True):
    """Height, variables, tables and legend of a Picture.  is_log: of the horizontal axis."""
    series = [_with_rates(one) if is_log else one for one in series if any(one.points)]
    xs = [point[0] for one in series for points in one.points for point in points]
    low, high = log_range(xs) if is_log else (1.04 * min([0.0, *xs]), 1.04 * max(xs, default=1.0))
    variables = {
        "panels": len(axes),
        "series": len(series),
        "size_label": f"{x_label} (log axis)" if is_log else x_label,
        "x_log": int(is_log),
        "x_low": float(low),
        "x_high": float(high),
        "x_tics": tics(low, high, is_log, 6 if len(axes) == 1 else 4),
        "colour": [one.colour for one in series],
        "marker": [one.marker for one in series],
        "axis_label": [axis.label for axis in axes],
    }
    ranges = [_range(axis, series, p) for p, axis in enumerate(axes)]
    for i, key in enumerate(("y_log", "y_low", "y_high", "y_tics")):
        variables[key] = [one[i] for one in ranges]
    tables = {}
    for p, axis in enumerate(axes):
        for n, one in enumerate(series, 1):
            points = _drawn(axis, one.points[p])
            tables[f"series_{p + 1}_{n}"] = points
            tables[f"fit_{p + 1}_{n}"] = [point[:2] for point in points]
    legend = [(one.name, one.colour, one.marker) for one in series]
    return {
        "height_px": top_px(legend) + HEIGHT_PX,
        "variables": variables,
        "tables": tables,
        "legend": legend,
    }
