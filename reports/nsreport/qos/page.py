# SPDX-License-Identifier: MIT
# Document of a qos run -> head, pictures and tables of its page.
from .. import page
from ..text import count, number, plural
from . import figures as qos_figures, plan
from .pictures import SOURCE, delay_sentence, loss_sentence, losses, pictures, traffic

__all__ = [
    "GOOD",
    "facts",
    "figures",
    "incomplete",
    "lead",
    "pictures",
    "said",
    "tables",
    "title",
    "warnings",
]

GOOD = "The measurement itself lost no packet."
_LATE_MS = 1


def title(_document):
    return "Delay and loss by a QoS monitor, and by the node that makes them"


def lead(document):
    return (
        f"Source, node and sink on this machine: {traffic(document)}. The node adds a delay, or "
        "drops packets, and logs what it did to each; mapi-qos selects the same packets on both "
        "sides by a hash: figures 7 and 8 of the SCAMPI evaluation (2004)."
    )


def facts(document):
    return [
        ("Kernel", document["kernel"]),
        ("CPU", document["cpu"]),
        ("Source", f"mapi-gen ({document['method']}), packets that all differ"),
        (
            "Node",
            "mapi-impair, which delays from the kernel's time of arrival; a seed for each step",
        ),
        (
            "Points",
            f"packet sockets on {plan.FIRST} (before the node) and {plan.SECOND} (behind it)",
        ),
        ("Clock", "one for both points"),
        ("Figures", SOURCE),
        ("Steps", f"{len(plan.STEPS)}, {plural(document['rounds'], 'round')}"),
    ]


def incomplete(document):
    empty = [row for row in document["points"] if not row["node"]["packets"]]
    return [f"{plural(len(empty), 'step')} had no packet."] if empty else []


def warnings(document):
    made = []
    if any(qos_figures.lost_by_measurement(document).values()):
        made.append(f"Packets were lost {losses(document)}.")
    behind = sum(row["sender_behind"] + row["sender_refused"] for row in document["points"])
    if behind:
        made.append(
            f"The sender did not send {count(behind)} packets of its schedule; these are not "
            "losses."
        )
    late = [row for row in document["points"] if row["node"]["most_late_ms"] > _LATE_MS]
    if late:
        most = max(row["node"]["most_late_ms"] for row in late)
        made.append(
            f"In {plural(len(late), 'step')} the node, which had to wait for its CPU, sent packets "
            f"up to {most:.1f} ms late; its log has the delays as they were."
        )
    return made


def said(document):
    """Printed at the end."""
    sentences = [delay_sentence(document, rate) for rate in plan.DELAY_RATES]
    sentences += [loss_sentence(document, rate) for rate in plan.LOSS_RATES]
    return [sentence for sentence in sentences if sentence]


def figures(_document):
    """The pictures have those of all tables."""
    return {}


def _interval(value, digits):
    if value is None:
        return number(None)
    return f"{value[0]:.{digits}f}", f"{value[1]:.{digits}f} to {value[2]:.{digits}f}"


def _delay_table(document):
    (rate,) = plan.DELAY_RATES
    columns = [(name, True) for name in ("set, ms", "selected", "measured mean, ms", "node, ms")]
    columns += [
        (name, True) for name in ("measured median, ms", "node, ms", "jitter, ms", "node late, us")
    ]
    rows = []
    for row, report in qos_figures.rows(document, "delay", rate):
        node = row["node"]
        rows.append(
            [
                f"{row['set']:.2f}",
                count(report["sent"]),
                _interval(qos_figures.delay(report), 4),
                _fixed(node["delay_ms"]),
                _fixed(report["delay_p50_ms"]),
                _fixed(node["delay_p50_ms"]),
                _fixed(report["jitter_ms"]),
                number(round(1000 * node["late_ms"], 1)),
            ]
        )
    heading = f"Delay by step, {rate} % of the packets selected: mean with its interval of 95 %"
    return "delay-figures", heading, page.table(columns, rows)


def _fixed(value):
    return number(None) if value is None else f"{value:.4f}"


def _loss_table(document):
    columns = [("set, %", True), ("node, %", True)]
    for rate in plan.LOSS_RATES:
        columns += [(f"{rate} % selected", True), ("lost, %", True)]
    by_rate = {rate: qos_figures.rows(document, "loss", rate) for rate in plan.LOSS_RATES}
    rows = []
    for same in zip(*by_rate.values()):
        row = same[0][0]
        true = qos_figures.true_loss(row)
        cells = [f"{row['set']:g}", number(None) if true is None else f"{true:.2f}"]
        for _, report in same:
            cells += [count(report["sent"]), _interval(qos_figures.loss(report), 2)]
        rows.append(cells)
    return "loss-figures", "Loss by step, with its interval of 95 %", page.table(columns, rows)


def tables(document):
    return [_delay_table(document), _loss_table(document)]
