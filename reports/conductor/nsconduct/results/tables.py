# SPDX-License-Identifier: MIT
# A result folder -> tables, as in the published measurements: Min, Max, Median, Avg, Stddev.
import json

from . import folder as folders, summaries

_COLUMNS = (
    ("Min", "min"),
    ("Max", "max"),
    ("Median", "median"),
    ("Avg", "mean"),
    ("Stddev", "stddev"),
)


def read(path):
    """results.json, made again from the trials, which an interruption may have outrun."""
    folder = folders.ResultFolder(path)
    return summaries.document(
        folder.read_json(folders.EXPERIMENT), folder.read_lines(folders.TRIALS)
    )


def shown(path, as_json):
    document = read(path)
    if as_json:
        return json.dumps(document, indent=1) + "\n"
    parts = [_table(name, value) for name, value in document["values"].items()]
    if not parts:
        parts.append(f"{document['experiment']}: no values ([Values] of the master file)\n")
    failures = [
        f"failed: {'warm-up ' if f['warmup'] else ''}round {f['round']}, {f['variant']}: "
        f"{f['failure']}\n"
        for f in document["failures"]
    ]
    return "\n".join(parts + (["".join(failures)] if failures else []))


def _table(name, value):
    rows = [["", "Trials", *(title for title, _ in _COLUMNS), "95 % interval of the mean"]]
    notes = []
    for variant, found in value["variants"].items():
        interval = found.get("ci95") or (None, None)
        rows.append(
            [
                variant,
                str(found.get("count", 0)),
                *(number(found.get(key)) for _, key in _COLUMNS),
                "-" if None in interval else f"{number(interval[0])} to {number(interval[1])}",
            ]
        )
        notes.extend(
            f"outlier, kept: {variant}, round {o['round']}: {number(o['value'])}"
            for o in found.get("outliers", [])
        )
        if found.get("trials_for_1_percent"):
            notes.append(
                f"{variant}: {found['trials_for_1_percent']} trials for an interval of 1 %"
            )
    lines = [f"{name} [{value['unit']}]", *aligned(rows)]
    return "\n".join([*lines, *notes]) + "\n"


def aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        first = row[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))
        yield "  ".join([first, *rest]).rstrip()


def number(value):
    """Six digits, without an exponent for usual sizes."""
    if value is None:
        return "-"
    if value == 0 or 1e-4 <= abs(value) < 1e15:
        return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.0f}"
    return f"{value:.5e}"
