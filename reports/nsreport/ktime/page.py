# SPDX-License-Identifier: MIT
# Document of a ktime run -> head, answer and tables of its page.
from ..text import plural
from . import answer, plan, times, words
from .pictures import pictures
from .tables import figures, tables

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

GOOD = "Every packet arrived, and no other packet ran the program."


def title(_document):
    return "bpf_ktime_get_ns() and the kernel's run statistics"


def lead(document):
    return (
        "An XDP program that handles ICMP only folds bpf_csum_diff() of a packet 1 to 16 times. "
        "Each run loads and attaches it, sends one packet, and reads its time by "
        f"bpf_ktime_get_ns() and by the kernel's run statistics: {words.samples(document)}. "
        + " ".join(said(document))
    )


def said(document):
    """The answers, for page and terminal."""
    figures_of = times.Figures(document)
    return [
        *answer.bars(figures_of),
        answer.guess(figures_of),
        answer.remaining(figures_of),
        answer.cold(document, figures_of),
        answer.interrupted(document),
    ]


def facts(document):
    share = times.lost_share(document)
    watched = sum(block[0] for block in document["pauses"]) / 1e9
    return [
        ("Kernel", document["kernel"]),
        ("CPU", f"{document['cpu']}; sender and program on CPU {document['cpu_number']}"),
        ("Load average", " before, ".join(f"{value:.2f}" for value in document["load"]) + " after"),
        ("XDP mode", document.get("mode")),
        ("Checksum", f"bpf_csum_diff() of {document['summed_bytes']} bytes of ICMP"),
        ("Map", "array with one element, bpf_map_update_elem()"),
        ("Runs", f"{words.samples(document)}, in an order that changes"),
        ("Warmed", f"every {plan.WARM_EVERY}th attachment got {plan.PACKETS} packets"),
        (
            "kernel.bpf_stats_enabled",
            f"{' before, '.join(map(str, document['setting']))} after; unchanged, the statistics "
            "were on by BPF_ENABLE_STATS",
        ),
        (
            "Interrupts and hypervisor",
            f"take {100 * share.value:.2g} % of the time from a program, by {watched:.3g} s of "
            f"clock reads with pauses of more than {document['pause_ns']} ns between two",
        ),
        ("Values", "trimmed means without 5 % at either end, and 95 % intervals by Student's t"),
    ]


def incomplete(document):
    late = sum(document["timeouts"].values())
    if not late:
        return []
    return [
        f"{plural(late, 'run')} got no answer within {plan.TIMEOUT_MS} ms: "
        f"{', '.join(f'{name} {count}' for name, count in sorted(document['timeouts'].items()))}."
    ]


def warnings(document):
    others = sum(document["others"].values())
    if not others:
        return []
    return [f"{plural(others, 'run')} left out: other packets ran the program as well."]
