# SPDX-License-Identifier: MIT
# load: loss against rate -> picture and Table 1 beside that of 2004.
from .. import page
from ..picture import Picture
from ..text import count, number
from ..traffic import figures, head
from ..traffic.lines import Axis, Series, drawing
from . import plan
from .published import ADAPTERS, LOSS, LOSS_FREE, RATES as OLD_RATES
from .words import COLOURS, MARKERS, WORDS, systems


def _sweep(document, system, size, rate):
    return figures.rows(document, part="sweep", system=system, size=size, rate=rate)


def percent(rows):
    """Median, least and greatest loss of the rounds."""
    return figures.of_rounds(
        [row for row in rows if row["sent"]], lambda row: 100 * figures.lost_share(row)
    )


def _measured(document, system, size):
    return sorted(
        (head.rate_of(rows), *percent(rows))
        for rate in plan.RATES
        if percent(rows := _sweep(document, system, size, rate))
    )


def _old(adapter, size):
    return [(rate, p, p, p) for rate, p in zip(OLD_RATES, LOSS[adapter, size]) if p is not None]


def _found(document, system, size):
    return [
        one
        for one in document.get("loss_free", [])
        if (one["system"], one["size"]) == (system, size)
    ]


def is_sender_limit(one):
    return one.get("is_sender_limit", one["lossy"] is None)


def free_rates(document, system, size):
    """Median, least and greatest of the highest rates without loss, 0 where the lowest rate had a
    loss, and whether the median is only a lower bound."""
    kept = _found(document, system, size)
    rates = figures.of_rounds(kept, lambda one: one["rate"] or 0.0)
    if rates is None:
        return None, False
    is_bound = any(is_sender_limit(one) and (one["rate"] or 0) <= rates[0] for one in kept)
    return rates, is_bound


def _rate_text(rate, below):
    return count(round(rate)) if rate else f"below {count(round(below))}"


def free_text(document, system, size):
    rates, is_bound = free_rates(document, system, size)
    if rates is None:
        return number(None)
    below = min((one["lossy"] for one in _found(document, system, size) if one["lossy"]), default=0)
    middle, least, most = (_rate_text(rate, below) for rate in rates)
    spread = "" if least == most else f" ({least} to {most})"
    return f"{'at least ' * is_bound}{middle}{spread}"


def sentence(document):
    """Answers the question of Table 1."""
    said = []
    for system in systems(document):
        rates = " and ".join(
            f"{free_text(document, system, size)} packets/s at {size} bytes" for size in plan.SIZES
        )
        said.append(f"{WORDS[system]}: {rates}")
    return "The highest rates without loss: " + "; ".join(said) + "."


def picture(document):
    series = [
        Series(WORDS[s], COLOURS[s], MARKERS[s], [_measured(document, s, z) for z in plan.SIZES])
        for s in systems(document)
    ] + [
        Series(f"{a} 2004", COLOURS[a], MARKERS[a], [_old(a, z) for z in plan.SIZES])
        for a in ADAPTERS
    ]
    axes = [Axis(f"packets lost, {size} bytes", True) for size in plan.SIZES]
    rows = [
        (size, one.name, *point)
        for one in series
        for size, points in zip(plan.SIZES, one.points)
        for point in points
    ]
    swept = [row for row in document["points"] if row["part"] == "sweep"]
    watched = [row for row in swept if row["place"]]
    return Picture(
        name="loss_rate",
        topic="Loss against rate (Table 1)",
        question="At which rate are packets lost?",
        script="packet_size.gp",
        **drawing(series, axes, "packets/s"),
        data_header=("bytes", "system", "packets_per_s", "percent", "least", "greatest"),
        data_rows=rows,
        source=f"packets sent by {head.GENERATOR} minus packets counted by each system; 2004: "
        "SCAMPI D3.4, Table 1",
        samples=head.samples(document),
        losses=head.losses(watched),
        reading="Each dot is the median of the rounds at one rate, and its bar spans the least to "
        "the greatest round. Dots at \u201cnone\u201d lost no packet; losses below 0.001 % are "
        "drawn at 0.001 %.",
        notes=[sentence(document), head.ONE_CPU, *head.disturbed_note(watched)],
    )


def _percent_text(spread):
    return number(None) if spread is None else f"{spread[0]:.3g} %"


def _table_1(document):
    columns = [("packets/s", True)]
    for size in plan.SIZES:
        columns += [(f"{WORDS[s]}, {size} bytes", True) for s in systems(document)]
        columns += [(f"{adapter} 2004, {size} bytes", True) for adapter in ADAPTERS]
    rows = []
    for rate in plan.RATES:
        cells = ["top rate" if rate is None else count(rate)]
        for size in plan.SIZES:
            for system in systems(document):
                sent = _sweep(document, system, size, rate)
                text = _percent_text(percent(sent))
                cells.append((text, head.marks(sent)))
            for adapter in ADAPTERS:
                p = dict(zip(OLD_RATES, LOSS[adapter, size])).get(rate)
                cells.append(_percent_text(None if p is None else (p,)))
        rows.append(cells)
    return "table-1", "Table 1: loss by rate, median of the rounds", page.table(columns, rows)


def _loss_free(document):
    columns = [("highest rate without loss, packets/s", False)]
    columns += [(f"{size} bytes", True) for size in plan.SIZES]
    rows = [
        [WORDS[s], *(free_text(document, s, size) for size in plan.SIZES)]
        for s in systems(document)
    ] + [[f"{a} 2004", *(count(LOSS_FREE[a, size]) for size in plan.SIZES)] for a in ADAPTERS]
    heading = (
        "Highest rate without loss, as the sender reached it: median (least to greatest) of the "
        "rounds; \u201cat least\u201d: the sender was the limit; \u201cbelow\u201d: the lowest "
        "rate already had a loss"
    )
    return "loss-free", heading, page.table(columns, rows)


def tables(document):
    return [_loss_free(document), _table_1(document)]


def figures_of(document):
    """Columns and rows of the highest rates without loss."""
    header = ("system", "bytes", "packets_per_s", "least", "greatest", "is_lower_bound")
    rows = []
    for system in systems(document):
        for size in plan.SIZES:
            rates, is_bound = free_rates(document, system, size)
            if rates:
                rows.append((WORDS[system], size, *rates, is_bound))
    rows += [
        (f"{a} 2004", z, LOSS_FREE[a, z], None, None, False) for a in ADAPTERS for z in plan.SIZES
    ]
    return header, rows
