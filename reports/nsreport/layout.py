# SPDX-License-Identifier: MIT
# Colours, and positions of titles and legends. A function has the same colour in all pictures of a
# report.
from .text import label, labels, shortened

WIDTH_PX = 1000
TITLE_PX = 44  # height of the title line
LEGEND_LINE_PX = 22
LEGEND_LEFT_PX = 24
FOOT_LINE_PX = 18
SMALL = 0.87  # size of the small font relative to the normal one

# Distinguishable with the common forms of colour blindness, and in greyscale by lightness.
PALETTE = (
    0x0072B2,
    0xE69F00,
    0x009E73,
    0xCC79A7,
    0x56B4E9,
    0xD55E00,
    0x332288,
    0xDDCC77,
    0x882255,
    0x44AA99,
    0x999933,
    0xAA4499,
)
GREY = 0xBBBBBB
INK = 0x222222
PAPER = 0xFFFFFF  # for a legend item whose text contains its own symbol
MEASURED = 0x0072B2
PAPER_SCAMPI = 0xD55E00
PAPER_INTEL = 0x009E73
PROBE = 0xD55E00
OVERLAPPED = 0x56B4E9


class Colours:
    def __init__(self, names):
        unique = list(dict.fromkeys(names))
        self._colour = {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(unique)}
        self.repeats = len(unique) > len(PALETTE)

    def __getitem__(self, name):
        return self._colour.get(name, GREY)


_ADVANCES = (
    (" iljI.,:;!'|", 5.0),
    ("rtf/()[]-\u2019\u2018", 6.1),
    ("mwMW%@\u2026", 14.6),
    ("<>+=~#\u00b1\u00d7", 12.4),
    ("_", 7.4),
)
_ADVANCE_PX = {c: px for characters, px in _ADVANCES for c in characters}


def text_px(text):
    """Width of a text in the widest font that common.gp uses for labels."""
    return sum(
        _ADVANCE_PX.get(c) or (15.0 if ord(c) > 0x2E7F else 10.6 if c.isupper() else 9.3)
        for c in text
    )


def legend_table(legend):
    """(name, colour[, marker]) -> rows (x_px, y_px, marker, colour, text), y from the top, and
    their total height."""
    rows, x, line = [], LEGEND_LEFT_PX, 0
    for text, (_, colour, *marker) in zip(labels([item[0] for item in legend], 60), legend):
        width = 22 + text_px(text) + 16
        if x + width > WIDTH_PX and x > LEGEND_LEFT_PX:
            x, line = LEGEND_LEFT_PX, line + 1
        rows.append(
            (
                round(x),
                TITLE_PX + LEGEND_LINE_PX * line + 8,
                marker[0] if marker else 5,
                colour,
                text,
            )
        )
        x += width
    return rows, (line + 1) * LEGEND_LINE_PX if rows else 0


def top_px(legend):
    return TITLE_PX + legend_table(legend)[1] + 10


def foot_table(texts):
    """Texts below a picture -> rows (x_px, y_px, text), y from the top of the foot, and their total
    height."""
    lines = []
    for text in texts:
        line = ""
        for word in label(text, 600).split(" "):
            longer = f"{line} {word}".strip()
            if line and SMALL * text_px(longer) > WIDTH_PX - 2 * LEGEND_LEFT_PX:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return [
        (LEGEND_LEFT_PX, FOOT_LINE_PX * i + 12, line) for i, line in enumerate(lines)
    ], FOOT_LINE_PX * len(lines) + 14


def foot_of(picture):
    """Source, samples and losses below a picture, so that it can be used without its page."""
    return foot_table(
        [f"Source: {picture.source}.", f"Samples: {picture.samples}.", f"Losses: {picture.losses}."]
    )


def total_px(picture):
    return picture.height_px + foot_of(picture)[1]


def _two_lines(text, limit=32):
    """Breaks at the space nearest the middle, so that a long scenario name is shown in full."""
    if len(text) <= limit:
        return [text]
    spaces = [i for i, c in enumerate(text) if c == " "]
    if not spaces:
        return [shortened(text, limit)]
    at = min(spaces, key=lambda i: abs(i - len(text) // 2))
    return [shortened(text[:at], limit + 8), shortened(text[at + 1 :], limit + 8)]


def row_labels(names):
    """Row names -> ((rows.tsv, rows_small.tsv: y, text), width in pixels). Long names take two
    lines in the small font."""
    rows, small = [], []
    for i, name in enumerate(labels(names, 80), 1):
        lines = _two_lines(name)
        if len(lines) == 1:
            rows.append((i, lines[0]))
        else:
            small += [(i - 0.23, lines[0]), (i + 0.23, lines[1])]
    widths = [text_px(t) for _, t in rows] + [0.87 * text_px(t) for _, t in small]
    return (rows, small), max([60] + [round(24 + w) for w in widths])


def width_px(texts, least=60):
    return max([least] + [round(18 + text_px(t)) for t in texts])
