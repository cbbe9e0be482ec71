# SPDX-License-Identifier: MIT
# Figures -> a CSV file, for spreadsheets.
import csv

from .text import visible


def write_csv(path, header, rows):
    """An absent value is an empty cell."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        for row in (header, *rows):
            out.writerow([visible(cell) if isinstance(cell, str) else cell for cell in row])
