# SPDX-License-Identifier: MIT
# Colours, and where titles and legends go. One function name has one colour in all pictures of a report.
from .text import labels

WIDTH_PX = 1000
TITLE_PX = 44          # height of the title line
LEGEND_LINE_PX = 22
CHARACTER_PX = 7.0     # mean advance of the label font at its size in common.gp
LEGEND_LEFT_PX = 24

# Told apart with the common forms of colour blindness, and in grey by their order of lightness.
PALETTE = (0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0x56B4E9, 0xD55E00, 0x332288, 0xDDCC77, 0x882255, 0x44AA99, 0x999933, 0xAA4499)
GREY = 0xBBBBBB
INK = 0x222222
MEASURED = 0x0072B2
PAPER_SCAMPI = 0xD55E00
PAPER_INTEL = 0xE69F00
PROBE = 0xD55E00


class Colours:
    def __init__(self, names):
        unique = list(dict.fromkeys(names))
        self._colour = {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(unique)}
        self.repeats = len(unique) > len(PALETTE)

    def __getitem__(self, name):
        return self._colour.get(name, GREY)


def legend_table(legend):
    """(name, colour) pairs -> rows (x_px, y_px, colour, text), y from the top, and the height that they take."""
    rows, x, line = [], LEGEND_LEFT_PX, 0
    for text, (_, colour) in zip(labels([name for name, _ in legend], 40), legend):
        width = 26 + CHARACTER_PX * len(text) + 14
        if x + width > WIDTH_PX and x > LEGEND_LEFT_PX:
            x, line = LEGEND_LEFT_PX, line + 1
        rows.append((round(x), TITLE_PX + LEGEND_LINE_PX * line + 8, colour, text))
        x += width
    return rows, (line + 1) * LEGEND_LINE_PX if rows else 0


def top_px(legend):
    return TITLE_PX + legend_table(legend)[1] + 10


def label_px(texts, least=80):
    return max([least] + [round(16 + CHARACTER_PX * len(t)) for t in texts])
