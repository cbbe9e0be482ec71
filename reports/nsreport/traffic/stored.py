# SPDX-License-Identifier: MIT
# Raw measurements <-> JSON, from which the page is drawn again without measuring.
import json
import sys

from ..errors import EXIT_INPUT, EXIT_SCHEMA, ReportError, cannot_read, shown

NUMBERS = ("sent", "seconds", "refused", "received", "dropped", "reader_ns", "round")
OPTIONAL = ("rate", "softirq_ns", "instructions")
HEAD = {"rounds": int, "unavailable": dict, "cpus": list, "kernel": str, "cpu": str}


def new(schema, options):
    return {
        "schema": schema,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "unavailable": {},
        "points": [],
    }


def as_text(document):
    """A line for each point, so that it can be read and compared."""
    rest = {key: value for key, value in document.items() if key != "points"}
    head = json.dumps(rest, indent=1)[:-2]
    points = ",\n  ".join(json.dumps(point) for point in document["points"])
    return f'{head},\n "points": [\n  {points}\n ]\n}}\n'


def _text_of(path):
    try:
        if path == "-":
            return sys.stdin.read()
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise cannot_read(path, error, "give data/results.json of an earlier report") from error


def _is_point(row):
    return (
        isinstance(row, dict)
        and all(type(row.get(key)) in (int, float) for key in NUMBERS)
        and all(type(row.get(key)) in (int, float, type(None)) for key in OPTIONAL)
        and row["seconds"] > 0
        and row["sent"] >= 0
        and isinstance(row.get("place"), str)
        and isinstance(row.get("system"), str)
        and isinstance(row.get("part"), str)
    )


def read(path, schema):
    """The document; refuses any other text."""
    text = _text_of(path)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ReportError(
            EXIT_INPUT, f"{shown(path)}: not JSON: {shown(error)} (measure again)"
        ) from error
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise ReportError(
            EXIT_SCHEMA,
            f"{shown(path)}: not a result of this report, {schema} (give data/results.json of an "
            "earlier report)",
        )
    for key, kind in HEAD.items():
        if not isinstance(document.get(key), kind):
            raise ReportError(EXIT_INPUT, f"{shown(path)}: damaged: {key} (measure again)")
    points = document.get("points")
    if not isinstance(points, list) or not points or not all(map(_is_point, points)):
        raise ReportError(EXIT_INPUT, f"{shown(path)}: damaged: points (measure again)")
    return document
