# SPDX-License-Identifier: MIT
# Shared by pictures and tables of the budget: the line, the clock, the levels of the caches.
from ..text import number, plural, share, with_error
from . import memory
from .costs import taken_at
from .line import RATES, Line

HARDLY_ANOTHER = 1.35
FITS, DOES_NOT, UNSURE, OTHER_SIZE = "yes", "no", "within its error", "not known"


def line_of(document):
    return Line(document["rate"], document["frame_bytes"])


def hz_of(document):
    """The clock of the costs; without costs that of the latencies."""
    costs = document["costs"]
    return (costs and costs["hz"]) or document["memory"]["clock"]["hz"]


def rates_of(document):
    """The usual rates and the chosen one, without those that are hardly another rate."""
    chosen = document["rate"]
    others = {rate for rate in RATES if max(rate, chosen) / min(rate, chosen) > HARDLY_ANOTHER}
    return sorted({*others, chosen})


def taken(document):
    return taken_at(document["costs"], document["frame_bytes"]) if document["costs"] else []


def fits(one, budget):
    """Whether one core has enough cycles for it at each packet."""
    half = one.half or 0
    if one.cycles - half > budget:
        return DOES_NOT
    if one.cycles + half > budget:
        return UNSURE
    return FITS if one.is_at_size else OTHER_SIZE


def verdicts(document):
    budget = line_of(document).cycles(hz_of(document))
    return [(one, fits(one, budget)) for one in taken(document)]


def levels(document):
    """(name, latency alone, latency overlapped) of each cache and of memory."""
    return [
        (level["name"], memory.best(level)["alone"], memory.best(level)["overlapped"])
        for level in document["memory"]["levels"]
    ]


def interval(median):
    """ "94.1 (93.8 to 95.2)"; the interval of a median is not symmetrical."""
    low, high = number(median["ns_low"]), number(median["ns_high"])
    return f"{number(median['ns'])} ({low} to {high})"


def cycles_text(one):
    return f"{with_error(one.cycles, one.half)} cycles"


def cores_text(part):
    """Cores that a cost keeps busy; a small positive part is never shown as zero."""
    if part <= 0:
        return "0"
    if part < 0.01:
        return "under 0.01"
    return f"{part:.2f}" if part < 10 else f"{part:,.1f}" if part < 100 else f"{part:,.0f}"


def share_text(part):
    return f"{100 * part:,.0f} %" if part >= 10 else share(max(part, 0))


def small_page(document):
    return f"{document['memory']['page_bytes'] >> 10} KiB"


def page_words(document):
    small = small_page(document)
    if document["memory"]["huge"]:
        return f"{small} and 2 MiB; latencies of levels are those with pages of 2 MiB"
    return f"{small} only: {document['memory']['why_not_huge'] or 'there are no others'}"


def memory_source(document):
    clock = document["memory"]["clock"]
    return f"nscalibrate --memory, {clock['source']} at {clock['hz'] / 1e9:.4g} GHz"


def memory_samples(document):
    method, batches = document["memory"]["method"], 0
    for series in ("small", "huge", "by_page"):
        batches += sum(point["alone"]["batches"] for point in document["memory"][series])
    return f"{plural(batches, 'batch').replace('batchs', 'batches')} of loads in " + plural(
        method["passes"], "pass"
    ).replace("passs", "passes")
