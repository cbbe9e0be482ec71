# SPDX-License-Identifier: MIT
# Raw measurements <-> JSON, from which the page is drawn again without measuring.
import json
import sys

from ..errors import EXIT_INPUT, EXIT_SCHEMA, ReportError, cannot_read, shown

NUMBERS = ("sent", "seconds", "refused", "received", "dropped", "reader_ns", "round")
NULLABLE = ("rate", "softirq_ns", "instructions")
OPTIONAL = ("waited_ns", "steal_ns", "reader_s", "idle_share", "sender_dropped")
OPTIONAL += ("program_ns", "program_runs", "matched")
TEXTS = ("place", "system", "part")
MOST = 1e18  # of any number
MOST_SECONDS, MOST_RATE = 1e6, 1e12


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


def text_of(path):
    try:
        if path == "-":
            return sys.stdin.read()
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise cannot_read(path, error, "give data/results.json of an earlier report") from error


def is_number(value, least=-MOST, most=MOST):
    return type(value) in (int, float) and least <= value <= most


def is_count(value):
    return type(value) is int and 0 <= value <= MOST


def is_text(value):
    return isinstance(value, str)


def _is_point(row):
    return (
        isinstance(row, dict)
        and all(is_number(row.get(key)) for key in NUMBERS)
        and all(is_number(row[key]) for key in OPTIONAL if key in row)
        and all(key in row for key in NULLABLE)
        and all(is_number(row[key]) for key in NULLABLE if row[key] is not None)
        and is_number(row["seconds"], 1 / MOST_SECONDS, MOST_SECONDS)
        and is_count(row["sent"])
        and (row["rate"] is None or is_number(row["rate"], 1, MOST_RATE))
        and all(is_text(row.get(key)) for key in TEXTS)
    )


def _is_unavailable(value):
    return isinstance(value, dict) and all(map(is_text, value.values()))


def _is_pair(value):
    return isinstance(value, list) and len(value) == 2 and all(map(is_count, value))


def _is_optional_text(value):
    return value is None or is_text(value)


_HEAD = {
    "rounds": lambda value: is_count(value) and value > 0,
    "seconds": lambda value: is_number(value, 1 / MOST_SECONDS, MOST_SECONDS),
    "unavailable": _is_unavailable,
    "cpus": _is_pair,
    "kernel": is_text,
    "cpu": is_text,
    "ticks_per_s": lambda value: value is None or is_number(value, 0, MOST_RATE),
    **dict.fromkeys(("no_instructions", "no_softirq", "no_run_statistics"), _is_optional_text),
    "method": _is_optional_text,
}


def parsed(text, path):
    def refuse(word):
        raise ValueError(f"{word} is not a number")

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise ReportError(
            EXIT_INPUT, f"{shown(path)}: not JSON: {shown(error)} (measure again)"
        ) from error


def _damaged(document, plan):
    """The first member that is not as nsreport writes it."""
    for key, is_right in _HEAD.items():
        if not is_right(document.get(key)):
            return key
    points = document.get("points")
    if not isinstance(points, list) or not points or not all(map(_is_point, points)):
        return "points"
    if not all(map(plan.is_point, points)):
        return "points"
    return plan.damaged(document)


def of_schema(path, schema):
    """The document, if it is one of this report."""
    document = parsed(text_of(path), path)
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise ReportError(
            EXIT_SCHEMA,
            f"{shown(path)}: not a result of this report, {schema} (give data/results.json of an "
            "earlier report)",
        )
    return document


def refuse_damaged(path, key):
    """key: the member that is not as nsreport writes it, if any."""
    if key:
        raise ReportError(EXIT_INPUT, f"{shown(path)}: damaged: {key} (measure again)")


def read(path, plan):
    """The document; refuses any other text."""
    document = of_schema(path, plan.SCHEMA)
    refuse_damaged(path, _damaged(document, plan))
    return document
