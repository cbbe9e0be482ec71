# SPDX-License-Identifier: MIT
# Document of a load run -> head, pictures and tables of its page.
from ..traffic import head
from ..traffic.reader import buffer_of
from . import cost, cpu, loss, plan
from .words import WORDS

GOOD = "All devices were measured."


def title(_document):
    return "Loss and cost of captured traffic"


def lead(document):
    return (
        "Packets of 64 and 1500 bytes at rising rates, counted by each system in turn, "
        f"{head.samples(document)}; then a search in steps for the highest rate without loss, and "
        "the cost of a packet in each function: Tables 1 and 2 of SCAMPI D3.4 (2004), measured on "
        "this machine. Figures are medians of the rounds. The adapter of 2004 was there only to "
        "watch, as is a device whose packets end in the kernel (xdp:IFACE,drop); on xdp:IFACE they "
        "go on to the host."
    )


def facts(document):
    ticks = document.get("ticks_per_s")
    return [
        *head.facts(document),
        ("Clock of cycles", f"TSC, {ticks / 1e9:.3f} GHz" if ticks else None),
        (
            "Instructions",
            f"unavailable: {document['no_instructions']}"
            if document.get("no_instructions")
            else "perf_event_open(), all CPUs, minus those of unwatched traffic",
        ),
        (
            "BPF run statistics",
            f"unavailable: {document['no_run_statistics']}"
            if document.get("no_run_statistics")
            else "on for the times in the XDP program",
        ),
        ("Buffers", _buffers()),
    ]


def _buffers():
    systems = plan.SYSTEMS.items()
    return "; ".join(f"{WORDS[s]}: {buffer_of(*words[:2])}" for s, words in systems)


def incomplete(document):
    return head.incomplete(document)


def warnings(document):
    named = {WORDS.get(s, s): why for s, why in document["unavailable"].items()}
    return head.warnings({**document, "unavailable": named})


def pictures(document):
    return [loss.picture(document), cpu.picture(document), cost.picture(document)]


def figures(document):
    """Columns and rows of tables, by the name of their files."""
    return {"table_2": cost.figures_of(document), "loss_free": loss.figures_of(document)}


def tables(document):
    return [*loss.tables(document), *cpu.tables(document), *cost.tables(document)]
