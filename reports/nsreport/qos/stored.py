# SPDX-License-Identifier: MIT
# Measured steps <-> JSON, from which the page is drawn again without measuring.
from ..errors import EXIT_INPUT, EXIT_SCHEMA, ReportError, shown
from ..traffic.stored import as_text, is_count, is_number, is_text, parsed, text_of
from . import plan

__all__ = ["as_text", "new", "read"]

_MEMBERS = {
    "rounds": lambda value: is_count(value) and value > 0,
    "seconds": lambda value: is_number(value, 0, 1e6),
    "kernel": is_text,
    "cpu": is_text,
    "method": is_text,
    "points": lambda value: isinstance(value, list) and value and all(map(plan.is_point, value)),
}


def new(options):
    return {
        "schema": plan.SCHEMA,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "points": [],
    }


def read(path, _plan=plan):
    """The document; refuses any other text."""
    document = parsed(text_of(path), path)
    if not isinstance(document, dict) or document.get("schema") != plan.SCHEMA:
        raise ReportError(
            EXIT_SCHEMA,
            f"{shown(path)}: not a result of this report, {plan.SCHEMA} (give data/results.json of "
            "an earlier report)",
        )
    for key, is_right in _MEMBERS.items():
        if not is_right(document.get(key)):
            raise ReportError(EXIT_INPUT, f"{shown(path)}: damaged: {key} (measure again)")
    return document
