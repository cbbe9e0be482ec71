# SPDX-License-Identifier: MIT
# Results of a report whose plan has a check of each member (MEMBERS) <-> JSON, from which the page
# is drawn again without measuring.
from .stored import as_text, of_schema, refuse_damaged

__all__ = ["as_text", "new", "read"]


def new(plan, options):
    return {
        "schema": plan.SCHEMA,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "points": [],
    }


def read(path, plan):
    """The document; refuses any other text."""
    document = of_schema(path, plan.SCHEMA)
    checks = plan.MEMBERS.items()
    refuse_damaged(path, next((k for k, is_right in checks if not is_right(document.get(k))), ""))
    return document
