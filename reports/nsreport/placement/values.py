# SPDX-License-Identifier: MIT
# placement: points of a part -> CPU shares and losses against rate or number.
from ..traffic import figures, head
from . import plan

LEAST_PERCENT = 0.1  # of a CPU: less cannot be distinguished from nothing


def costs_of(document):
    return figures.Costs(document, "packets")


def is_by_rate(part):
    return len(plan.PARTS[part][2]) > 1


def places_of(part):
    """What the horizontal axis of a part has: rates or numbers."""
    _, _, rates, numbers = plan.PARTS[part]
    return rates if is_by_rate(part) else numbers


def rows_at(document, part, system, x):
    key = "rate" if is_by_rate(part) else "number"
    return figures.rows(document, part=part, system=system, **{key: x})


def share(costs, rows):
    """Median, least and greatest of the rounds, in percent of one CPU."""
    return figures.of_rounds(rows, costs.share)


def below_unwatched(document, parts):
    """Measurements with a negative share, as disturbances of unwatched traffic make it."""
    costs = costs_of(document)
    shares = [costs.share(row) for part in parts for row in figures.rows(document, part=part)]
    return sum(share is not None and share <= -LEAST_PERCENT for share in shares)


def lost(rows, lost_of=figures.lost):
    """In percent, of packets lost or late unless lost_of says otherwise; None if none was sent."""
    return figures.of_rounds(
        [row for row in rows if row["sent"]], lambda row: 100 * figures.lost_share(row, lost_of)
    )


def points(document, costs, part, system):
    """(x, median, least, greatest) of CPU share, and of loss."""
    shares, losses = [], []
    for x in places_of(part):
        rows = rows_at(document, part, system, x)
        if not lost(rows):
            continue
        at = head.rate_of(rows) if is_by_rate(part) else x
        losses.append((at, *lost(rows)))
        if spread := share(costs, rows):
            shares.append((at, *spread))
    return shares, losses


def work_name(part, number):
    """The number with its noun, such as "8 filters"."""
    noun = "string" if plan.PARTS[part][0] == "strings" else "filter"
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
