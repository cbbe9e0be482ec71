# SPDX-License-Identifier: MIT
# Stored results of a report with a plan of its own members -> the document; refuses any other text.
from ..errors import EXIT_INPUT, EXIT_SCHEMA, ReportError, shown
from .stored import parsed, text_of


def read(path, plan):
    """plan: its SCHEMA, and MEMBERS with a check of each."""
    document = parsed(text_of(path), path)
    if not isinstance(document, dict) or document.get("schema") != plan.SCHEMA:
        raise ReportError(
            EXIT_SCHEMA,
            f"{shown(path)}: not a result of this report, {plan.SCHEMA} (give data/results.json of "
            "an earlier report)",
        )
    for key, is_right in plan.MEMBERS.items():
        if not is_right(document.get(key)):
            raise ReportError(EXIT_INPUT, f"{shown(path)}: damaged: {key} (measure again)")
    return document
