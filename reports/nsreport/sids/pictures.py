# SPDX-License-Identifier: MIT
# sids: figures 4 and 5 of 2004, measured here.
from ..layout import PALETTE
from ..picture import Absent, Picture
from ..text import count, plural
from ..traffic.lines import Axis, Series, drawing
from . import figures, plan

NAMES = {"headers": "header_rules", "patterns": "pattern_rules"}
_TOPICS = {
    "headers": "Rules with headers only (figure 4)",
    "patterns": "Rules with patterns (figure 5)",
}
_QUESTIONS = {
    "headers": "How much of a CPU do rules with headers take as their number grows?",
    "patterns": "How much of a CPU do rules with patterns take as their number grows?",
}
WORDS = {
    ("headers", "together"): "found by an index",
    ("headers", "alone"): "one by one",
    ("patterns", "together"): "one search for all",
    ("patterns", "alone"): "one by one",
}
_COLOURS = {"together": PALETTE[0], "alone": PALETTE[5]}
_MARKERS = {"together": 7, "alone": 9}
CLAIMS = {
    "headers": "2004: figure 4 has the processor's load and the loss at 100 Mbit/s for up to 1,000 "
    "rules on ports that no packet has: \u201cup to 500 rules without packet loss for the "
    "unoptimized version but the load remains stable for the optimized one\u201d (Pentium 4, "
    "3 GHz).",
    "patterns": "2004: figure 5 has the same for rules that search the payload: \u201cup to 150 "
    "rules containing patterns\u201d without loss, each searched on its own.",
}


def traffic(document):
    bits = 8 * document["rate"] * document["bytes"] / 1e9
    return (
        f"{count(document['rate'])} packets/s of {document['bytes']} bytes ({bits:.2g} Gbit/s, TCP "
        "to port 5001, constant text)"
    )


def samples(document):
    rounds = plural(document["rounds"], "round")
    return f"{traffic(document)}; {rounds} of {document['seconds']:g} s each"


def sentence(document, figure):
    """Load at the least and the greatest number, and how many rules lose nothing."""
    said = []
    for variant in plan.VARIANTS:
        found = figures.points(document, figure, variant, figures.load)
        if not found:
            continue
        lost = figures.points(document, figure, variant, figures.loss)[-1][1]
        best = figures.most_without_loss(document, figure, variant)
        free = f"no loss up to {plural(best, 'rule')}" if best else "a loss with the first rule"
        said.append(
            f"{WORDS[figure, variant]}: {found[0][1]:.1f} % of a CPU with "
            f"{plural(found[0][0], 'rule')}, {found[-1][1]:.1f} % with {count(found[-1][0])}, "
            f"where {lost:.3g} % of the packets are lost; {free}"
        )
    return ". ".join(one[0].upper() + one[1:] for one in said) + "."


def _losses(document, figure):
    chosen = [row for variant in plan.VARIANTS for row in figures.rows(document, figure, variant)]
    sent = sum(row["sent"] for row in chosen)
    lost = sum(max(0, row["sent"] - row["received"]) for row in chosen)
    return f"{count(lost)} of {count(sent)} packets sent were not judged in time"


def _rows(document, figure):
    for variant in plan.VARIANTS:
        loads = figures.points(document, figure, variant, figures.load)
        lost = figures.points(document, figure, variant, figures.loss)
        for (number, *load), (_, *loss) in zip(loads, lost):
            yield (variant, number, *load, *loss)


def picture(document, figure):
    name, topic = NAMES[figure], _TOPICS[figure]
    series = [
        Series(
            WORDS[figure, variant],
            _COLOURS[variant],
            _MARKERS[variant],
            [
                figures.points(document, figure, variant, value)
                for value in (figures.load, figures.loss)
            ],
        )
        for variant in plan.VARIANTS
    ]
    axes = [Axis("CPU time of sids, %"), Axis("packets lost or late", True)]
    if not any(one.points[0] for one in series):
        return Absent(name, topic, "It was not measured.")
    return Picture(
        name=name,
        topic=topic,
        question=_QUESTIONS[figure],
        script="packet_size.gp",
        **drawing(series, axes, "rules"),
        data_header=(
            *("functions", "rules", "cpu_percent", "least", "greatest"),
            *("lost_percent", "lost_least", "lost_greatest"),
        ),
        data_rows=list(_rows(document, figure)),
        source="CPU time of sids, all threads, by the time of sending; packets sent minus those "
        "counted by a rule that all match",
        samples=samples(document),
        losses=_losses(document, figure),
        reading="Each dot is the median of the rounds, and its bar spans the least to the greatest "
        "round. Dots at \u201cnone\u201d lost no packet. The kernel's time for receiving, which is "
        "on the sender's CPU, is not in the load.",
        notes=[sentence(document, figure), CLAIMS[figure]],
    )


def pictures(document):
    return [picture(document, figure) for figure in plan.FIGURES]
