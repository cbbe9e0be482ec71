# SPDX-License-Identifier: MIT
# What the results of a part say on one table or figure.
from dataclasses import dataclass, field


@dataclass
class Found:
    summary: str  # what was measured, in a sentence
    tables: list = field(default_factory=list)  # (heading, html)
    pictures: list = field(default_factory=list)  # names, in the part's report
    lacking: list = field(default_factory=list)  # what this machine could not do, and why
    files: list = field(default_factory=list)  # (words, path in the part's folder)


def of_id(tables, *names):
    """(id, heading, html) of a page -> those with these ids, without ids."""
    return [(heading, html) for name, heading, html in tables if name in names]
