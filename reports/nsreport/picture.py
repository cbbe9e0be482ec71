# SPDX-License-Identifier: MIT
# The content of one picture, before gnuplot draws it and the page shows it.
from dataclasses import dataclass, field


@dataclass
class Picture:
    name: str  # stem of its files
    topic: str  # heading on the page
    question: str  # title in the picture
    script: str  # gnuplot script
    height_px: int
    variables: dict  # gnuplot variables: number, text or list of one of these
    tables: dict  # data file stem -> rows for gnuplot
    data_header: tuple  # figures in data/NAME.tsv: columns ...
    data_rows: list  # ... and rows
    source: str  # where the figures come from
    samples: str
    losses: str
    reading: str  # one sentence on how to read it
    notes: list = field(default_factory=list)
    legend: list = field(default_factory=list)  # (name, colour)


@dataclass
class Absent:
    """A picture that cannot be drawn, and why."""

    name: str
    topic: str
    why: str
