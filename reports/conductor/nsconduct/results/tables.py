# SPDX-License-Identifier: MIT
# A result folder -> tables, as in the published measurements: Min, Max, Median, Avg, Stddev.
import json

from . import folder as folders, prefixes, summaries

_COLUMNS = (
    ("Min", "min"),
    ("Max", "max"),
    ("Median", "median"),
    ("Avg", "mean"),
    ("Stddev", "stddev"),
)
_MUCH = 0.05  # of all CPUs in a trial: load by others, or steal, that is worth a sentence
_MOST_COMPARISONS = 3  # of three variants; more are left to `nsconduct compare`


def read(path):
    """results.json, made again from the trials, which an interruption may have outrun."""
    folder = folders.ResultFolder(path)
    return summaries.document(
        folder.read_json(folders.EXPERIMENT), folder.read_lines(folders.TRIALS)
    )


def shown(path, as_json, precision=1.0):
    """precision: in percent, for which the wanted trials are shown."""
    document = read(path)
    if as_json:
        return json.dumps(document, indent=1) + "\n"
    parts = [_table(name, value, precision) for name, value in document["values"].items()]
    if not parts:
        parts.append(f"{document['experiment']}: no values ([Values] of the master file)\n")
    parts.extend(_disturbances(document["disturbance"]))
    failures = [
        f"failed: {'warm-up ' if f['warmup'] else ''}round {f['round']}, {f['variant']}: "
        f"{f['failure']}\n"
        for f in document["failures"]
    ]
    return "\n".join(parts + (["".join(failures)] if failures else []))


def _disturbances(found):
    """Sentences on what else used the CPUs during Run, if it was much."""
    what = {"load_by_others": "other processes", "steal": "the hypervisor"}
    for name, words in what.items():
        share = found[name]
        if share and share["max"] >= _MUCH:
            yield (
                f"disturbed: {words} had {100 * share['mean']:.1f} % of the CPU time during Run, "
                f"at most {100 * share['max']:.0f} % (round {share['round']}, {share['variant']})\n"
            )


def _table(name, value, precision):
    rows = [["", "Trials", *(title for title, _ in _COLUMNS), "95 % interval of the mean"]]
    notes = []
    medians = [found.get("median") for found in value["variants"].values()]
    factor, unit = prefixes.scaled(value["unit"], medians)

    def shown(one):
        return number(None if one is None else factor * one)

    for variant, found in value["variants"].items():
        interval = found.get("ci95") or (None, None)
        rows.append(
            [
                variant,
                str(found.get("count", 0)),
                *(shown(found.get(key)) for _, key in _COLUMNS),
                "-" if None in interval else f"{shown(interval[0])} to {shown(interval[1])}",
            ]
        )
        notes.extend(
            f"outlier, kept: {variant}, round {o['round']}: {shown(o['value'])}"
            for o in found.get("outliers", [])
        )
        wanted = summaries.trials_for(found["samples"], precision)
        if wanted:
            notes.append(f"{variant}: {wanted} trials for an interval of ±{number(precision)} %")
    if len(value["comparisons"]) <= _MOST_COMPARISONS:
        notes.extend(found["verdict"] for found in value["comparisons"])
    lines = [f"{name} [{unit}]", *aligned(rows)]
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
