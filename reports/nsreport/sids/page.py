# SPDX-License-Identifier: MIT
# Document of a sids run -> head, pictures and tables of its page.
from .. import page
from ..text import count, number, plural
from ..traffic import head
from ..traffic.figures import of_rounds
from . import figures as sids_figures, plan
from .pictures import WORDS, pictures, samples, sentence, traffic

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

GOOD = "All measurements have packets, and none was disturbed."
_SLOW = 0.95


def title(_document):
    return "Load and loss of sids by its number of rules"


def lead(document):
    return (
        f"sids reads {traffic(document)} on one end of a veth pair, with rules that no packet "
        "matches and one that all do: with headers only, and with patterns; with functions of all "
        "rules in one pass (an index of filters, one search for all patterns), and one by one "
        "(node_groups=0 in mapi.conf). Figures 4 and 5 of the SCAMPI evaluation (2004)."
    )


def facts(document):
    return [
        ("Kernel", document["kernel"]),
        ("CPU", document["cpu"]),
        ("Sender", f"mapi-gen ({document['method']}) on the first CPU"),
        ("Reader", "sids in process, on the second CPU"),
        ("Rounds", samples(document)),
    ]


def incomplete(document):
    empty = [row for row in document["points"] if not row["sent"]]
    return [f"{plural(len(empty), 'measurement')} sent no packet."] if empty else []


def warnings(document):
    made = []
    slow = [
        row for row in document["points"] if row["sent"] < _SLOW * document["rate"] * row["seconds"]
    ]
    if slow:
        made.append(
            f"The sender did not reach its rate in {plural(len(slow), 'measurement')}; the table "
            "has the rate that it reached."
        )
    disturbed = sum(map(sids_figures.is_disturbed, document["points"]))
    if disturbed:
        made.append(
            "Other programs held the CPU of sids, or a hypervisor took CPUs (steal), for more than "
            f"{100 * sids_figures.DISTURBED:g} % of the time in "
            f"{plural(disturbed, 'measurement')}; losses there may be theirs. Measure again on a "
            "quiet machine."
        )
    return made


def said(document):
    """Printed at the end."""
    return [f"{figure}: {sentence(document, figure)}" for figure in plan.FIGURES]


def figures(_document):
    """The pictures have those of all tables."""
    return {}


def _spread(found, value, digits):
    spread = of_rounds(found, value)
    if spread is None:
        return number(None)
    middle, least, most = (f"{one:,.{digits}f}" for one in spread)
    return (middle, head.between([least, most]))


def _table(document, figure):
    columns = [("rules", True)]
    for variant in plan.VARIANTS:
        words = WORDS[figure, variant]
        columns += [(f"{words}: load, %", True), ("lost or late, %", True), ("start, s", True)]
        columns += [("sent, packets/s", True)]
    rows = []
    for amount in sids_figures.numbers(document, figure):
        cells = [count(amount)]
        for variant in plan.VARIANTS:
            found = sids_figures.rows(document, figure, variant, amount)
            cells += [
                _spread(found, sids_figures.load, 2),
                _spread(found, sids_figures.loss, 3),
                _spread(found, lambda row: row["start_s"], 2),
                _spread(found, lambda row: row["sent"] / row["seconds"], 0),
            ]
        rows.append(cells)
    heading = f"Rules with {figure}: median (least to greatest) of the rounds"
    return f"{figure}-figures", heading, page.table(columns, rows)


def tables(document):
    return [_table(document, figure) for figure in plan.FIGURES]
