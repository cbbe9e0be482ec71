# SPDX-License-Identifier: MIT
# Measurements -> load and loss by number of rules.
from ..traffic.figures import of_rounds

DISTURBED = 0.05
NEGLIGIBLE = 0.01  # percent of loss


def rows(document, figure, variant, number=None):
    return [
        row
        for row in document["points"]
        if (row["figure"], row["variant"]) == (figure, variant)
        and number in (None, row["number"])
        and row["sent"]
    ]


def numbers(document, figure):
    return sorted({row["number"] for row in document["points"] if row["figure"] == figure})


def load(row):
    """CPU time of sids by the time of sending, in percent of one CPU."""
    return 100 * row["cpu_s"] / row["seconds"]


def loss(row):
    """Packets that sids has not judged when its time is over, in percent."""
    return 100 * max(0, row["sent"] - row["received"]) / row["sent"]


def points(document, figure, variant, value):
    """(number, median, least, greatest of the rounds)."""
    found = ((n, rows(document, figure, variant, n)) for n in numbers(document, figure))
    return [(number, *of_rounds(chosen, value)) for number, chosen in found if chosen]


def most_without_loss(document, figure, variant):
    """The greatest number of rules up to which no more than a negligible share is lost."""
    best = None
    for number, median, *_ in points(document, figure, variant, loss):
        if median > NEGLIGIBLE:
            break
        best = number
    return best


def is_disturbed(row):
    return max(row["waited_s"], row["steal_s"]) > DISTURBED * row["wall_s"]
