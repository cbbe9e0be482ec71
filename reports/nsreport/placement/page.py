# SPDX-License-Identifier: MIT
# Document of a placement run -> head, pictures and tables of its page.
from .. import page
from ..text import count, number, plural
from ..traffic import figures as traffic_figures, head
from ..traffic.reader import buffer_of
from . import plan, values
from .pictures import pictures
from .words import ALL, WORDS

__all__ = [
    "GOOD",
    "facts",
    "figures",
    "incomplete",
    "lead",
    "pictures",
    "tables",
    "title",
    "warnings",
]

GOOD = "All systems were measured."
_COLUMNS = ("CPU share, %", "process, %", "in softirq, ns", "process, ns", "lost", "late")
_TITLES = {
    "discard": "Read and discard",
    "count": "Count",
    "filter": "One filter",
    "couple": "Two filters",
    "filters": "Many filters",
    "strings": "Strings",
}


def title(_document):
    return "Time in softirq and process by where functions run"


def lead(document):
    return (
        "Four systems read the same traffic in turn: MAPI on an xdp device, which runs functions "
        "in the kernel; MAPI on a plain device, which runs them in user space; libpcap by one "
        "system call per packet; and libpcap by a mapped ring, "
        f"{head.samples(document)}: figures 2.1 to 2.10 of the evaluation of MAPI in the kernel "
        "(Xinidis, 2004), measured on this machine. Filters are ports from "
        f"{plan.FIRST_PORT} on, one flow each; no packet matches a filter or a string."
    )


def facts(document):
    return [
        *head.facts(document),
        (
            WORDS["read"],
            "a packet socket, recvfrom() and SIOCGSTAMP for each packet: what libpcap did before "
            "it mapped a ring; filters by libpcap's interpreter, strings by Boyer-Moore",
        ),
        (WORDS["mmap"], "libpcap as it is (TPACKET_V3); filters and strings as above"),
        (
            "Buffers",
            "; ".join(f"{WORDS[s]}: {buffer_of(*words)}" for s, words in plan.SYSTEMS.items()),
        ),
        (
            "CPU share",
            "time in softirq and CPU time of the process by the time of sending; above 100 % of "
            "the process, the reader worked on its buffer after the last packet was sent",
        ),
        ("Lost", "packets that the system reports as dropped"),
        (
            "Late",
            "other packets that the reader had not processed "
            f"{plan.PATIENCE_S:g} s after the last was sent",
        ),
    ]


def incomplete(document):
    return head.incomplete(document)


def warnings(document, parts=tuple(plan.PARTS)):
    """Of these parts, and of the whole run."""
    named = {WORDS.get(s, s): why for s, why in document["unavailable"].items()}
    said = head.warnings({**document, "unavailable": named})
    below = values.below_unwatched(document, parts)
    if below:
        said.append(
            f"The same traffic unwatched took more time in {plural(below, 'measurement')}: their "
            "CPU share is negative, and says nothing."
        )
    for part, amount, took_s in document.get("too_long", []):
        if part not in parts:
            continue
        said.append(
            f"{WORDS[plan.GROWS]} was not measured with {values.work_name(part, amount)}: each "
            f"flow that connects makes a new program, which would take about {count(took_s)} s."
        )
    return said


def _cells(costs, rows):
    if not rows:
        return [number(None)] * len(_COLUMNS)
    share = values.share(costs, rows)
    between = head.between([number(round(one, 2)) for one in share[1:]]) if share else ""
    small = ", ".join(words for words in (between, head.marks(rows)) if words)
    softirq = traffic_figures.of_rounds(rows, costs.softirq_ns)
    process = traffic_figures.of_rounds(rows, costs.process_ns)
    return [
        (number(share and round(share[0], 2)), small),
        number(round(traffic_figures.of_rounds(rows, traffic_figures.demand)[0], 2)),
        number(softirq and softirq[0]),
        number(process and process[0]),
        _percent(values.lost(rows, traffic_figures.dropped)),
        _percent(values.lost(rows, traffic_figures.late)),
    ]


def _percent(spread):
    return f"{spread[0]:.3g} %" if spread else number(None)


def _table(document, costs, part):
    by_rate = values.is_by_rate(part)
    columns = [("packets/s" if by_rate else "number", True)]
    for system in ALL:
        columns += [(f"{WORDS[system]}: {_COLUMNS[0]}", True)]
        columns += [(name, True) for name in _COLUMNS[1:]]
    rows = [
        [
            count(x),
            *(
                cell
                for system in ALL
                for cell in _cells(costs, values.rows_at(document, part, system, x))
            ),
        ]
        for x in values.places_of(part)
    ]
    heading = f"{_TITLES[part]}: CPU share of one CPU, and nanoseconds per packet by source"
    return f"{part}-figures", heading, page.table(columns, rows)


def figures(_document):
    """The pictures have those of all tables."""
    return {}


def tables(document):
    costs = values.costs_of(document)
    return [_table(document, costs, part) for part in plan.PARTS]
