# SPDX-License-Identifier: MIT
# Budget document -> head and tables of its page.
from .. import page
from ..text import number, with_error
from . import facts as own, published
from .line import COUNTED, Line, line_text, rate_text
from .pictures import function_figures, pictures, step_notes

__all__ = ["pictures"]  # of the page, for its maker

GOOD = "All of it was measured."


def title(document):
    return f"Budget of a packet: {line_text(own.line_of(document))}"


def lead(document):
    line, hz = own.line_of(document), own.hz_of(document)
    said = (
        f"At {rate_text(line.rate)}, {number(line.packets_per_second / 1e6)} million packets of "
        f"{line.frame_bytes:,} bytes arrive each second. One core has {number(line.ns)} ns for "
        f"each, {number(line.cycles(hz))} cycles of the clock at {hz / 1e9:.3f} GHz; N cores that "
        "share the packets have N times as much. "
    )
    return said + " ".join(sentences(document))


def sentences(document):
    """The page's answers, also for the terminal."""
    said, line = [], own.line_of(document)
    found = own.verdicts(document)
    if found:
        fitting = sum(verdict == own.FITS for _, verdict in found)
        said.append(f"{fitting} of {len(found)} measured costs fit on one core.")
    levels = own.levels(document)
    if levels:
        name, alone, _ = levels[-1]
        where = "memory" if name == "memory" else f"the last cache measured, {name}"
        said.append(
            f"A load from {where} takes {number(alone['ns'])} ns, {number(alone['ns'] / line.ns)} "
            "times what one core has for a packet."
        )
    return said


def said(document):
    line, hz = own.line_of(document), own.hz_of(document)
    return [
        f"{line_text(line)}: {number(line.ns)} ns, {number(line.cycles(hz))} cycles a packet",
        *sentences(document),
    ]


def facts(document):
    found, line, costs = document["memory"], own.line_of(document), document["costs"]
    caches = "; ".join(
        f"L{c['level']} {c['bytes'] >> 10:,} KiB" + (f" (CPUs {c['cpus']})" if c["cpus"] else "")
        for c in found["caches"]
    )
    context = found["context"]
    return [
        ("Rate", rate_text(line.rate)),
        ("Frame", f"{line.frame_bytes:,} bytes, {line.wire_bytes:,} on the line"),
        ("Counted", COUNTED),
        ("Packets per second", f"{line.packets_per_second:,.0f}"),
        ("Costs", f"{costs['title']}, {costs['input']}" if costs else "none given"),
        ("CPU of the costs", costs["cpu"] if costs else None),
        ("Clock of cycles", f"{own.hz_of(document) / 1e9:.4g} GHz"),
        ("CPU of the latencies", f"{context['cpu']}, CPU {context['cpu_number']}"),
        ("Kernel", context["kernel"]),
        ("Virtualised", context["virtualised"]),
        ("Caches", caches or "not reported"),
        ("Pages", own.page_words(document)),
        ("Latencies measured", context["date"]),
    ]


def incomplete(document):
    costs = document["costs"]
    said_of = list(costs["incomplete"]) if costs else []
    if not document["memory"]["trusted"]:
        said_of.append("nscalibrate says that its latencies must not be used; see the warnings.")
    return said_of


def warnings(document):
    costs, found = document["costs"], document["memory"]
    said_of = list(costs["warnings"]) if costs else []
    if costs and costs["cpu"] and costs["cpu"] != found["context"]["cpu"]:
        said_of.append(
            f"Costs and latencies are of different machines: {costs['cpu']} and "
            f"{found['context']['cpu']}."
        )
    return said_of + [f"nscalibrate: {warning}." for warning in found["warnings"]]


def _functions(document):
    columns = [
        ("function", False),
        ("measured at", False),
        ("cycles net \u00b1 95 %", True),
        ("ns", True),
        ("share of one core", True),
        ("cores", True),
        ("fits on one core", False),
    ]
    rows = []
    for one, values in zip(own.taken(document), function_figures(document)[1]):
        _, measured, _, _, ns, _, part, cores, verdict = values
        cycles = with_error(one.cycles, one.half)
        shown = own.share_text(part)
        rows.append([one.name, measured, cycles, number(ns), shown, f"{cores:,}", verdict])
    return page.table(columns, rows)


def _core_figures(document):
    """Part of one core that each function takes, at each rate."""
    hz, rates = own.hz_of(document), own.rates_of(document)
    rows = []
    for one in own.taken(document):
        lines = [Line(rate, document["frame_bytes"]) for rate in rates]
        rows.append((one.name, *(max(one.cycles, 0) / line.cycles(hz) for line in lines)))
    return ("function", *(f"cores_at_{rate_text(rate)}" for rate in rates)), rows


def _cores(document):
    header, rows = _core_figures(document)
    columns = [("function", False)] + [
        (name.removeprefix("cores_at_"), True) for name in header[1:]
    ]
    return page.table(columns, [[name, *map(own.cores_text, parts)] for name, *parts in rows])


def _miss_figures(document):
    """Loads that a packet may wait for on one core, at each rate."""
    header = ("rate_bits_per_second", "packet_ns")
    levels = own.levels(document)
    header += tuple(f"{name}_{way}" for name, _, _ in levels for way in ("alone", "overlapped"))
    rows = []
    for rate in own.rates_of(document):
        ns = Line(rate, document["frame_bytes"]).ns
        loads = [ns / one["ns"] for _, *both in levels for one in both]
        rows.append((rate, ns, *loads))
    return header, rows


def _misses(document):
    chains = document["memory"]["method"]["chains_overlapped"]
    levels = own.levels(document)
    columns = [("rate", False), ("ns for a packet", True)]
    for name, _, _ in levels:
        columns += [(f"{name}, one after another", True), (f"{name}, {chains} at a time", True)]
    rows = [
        [
            rate_text(rate),
            number(ns),
            *(f"{loads:,.2f}" if loads < 10 else f"{loads:,.0f}" for loads in counts),
        ]
        for rate, ns, *counts in _miss_figures(document)[1]
    ]
    return page.table(columns, rows)


def _level_figures(document):
    hz, ns = own.hz_of(document), own.line_of(document).ns
    header = ("level", "bytes", "measured_bytes", "step_bytes", "pages")
    header += ("ns", "ns_low", "ns_high", "cycles", "overlapped_ns", "share_of_packet")
    rows = []
    for level in document["memory"]["levels"]:
        for key, pages in (("small", own.small_page(document)), ("huge", "2 MiB")):
            if level[key]:
                alone, overlapped = level[key]["alone"], level[key]["overlapped"]
                sizes = [level[k] for k in ("bytes", "measured_bytes", "step_bytes")]
                values = [alone[k] for k in ("ns", "ns_low", "ns_high")]
                cycles = alone["ns"] * hz / 1e9
                rest = (cycles, overlapped["ns"], alone["ns"] / ns)
                rows.append((level["name"], *sizes, pages, *values, *rest))
    return header, rows


def _levels(document):
    chains = document["memory"]["method"]["chains_overlapped"]
    columns = [
        ("level", False),
        ("KiB", True),
        ("pages", False),
        ("ns of a load (95 % interval)", True),
        ("cycles", True),
        (f"ns, {chains} at a time", True),
        ("share of a packet's time", True),
    ]
    rows = []
    for name, size, _, _, pages, ns, low, high, cycles, overlapped, part in _level_figures(
        document
    )[1]:
        median = own.interval({"ns": ns, "ns_low": low, "ns_high": high})
        size_text = number(size / 1024) if size else number(None)
        values = [number(cycles), number(overlapped), own.share_text(part)]
        rows.append([name, size_text, pages, median, *values])
    return page.table(columns, rows)


def _published_figures(document):
    line, hz = Line(published.RATE, published.FRAME_BYTES), own.hz_of(document)
    levels = own.levels(document)
    miss = levels[-1][1]["ns"] if levels and levels[-1][0] == "memory" else None
    cycles = f"cycles a packet (there at {published.CYCLES_HZ / 1e9:g} GHz, here at {hz / 1e9:.3g})"
    return ("figure", "published", "here"), [
        ("million packets/s", published.PACKETS_PER_SECOND / 1e6, line.packets_per_second / 1e6),
        ("ns a packet", published.PACKET_NS, line.ns),
        (cycles, published.CYCLES, line.cycles(hz)),
        ("ns of a cache miss", published.MISS_NS, miss),
    ]


def _published(document):
    columns = [("100 Gbit/s, frames of 64 bytes", False), ("published", True), ("here", True)]
    _, rows = _published_figures(document)
    return f"<p>{page.escaped(_PUBLISHED_TEXT)}</p>" + page.table(
        columns, [[name, number(old), number(new)] for name, old, new in rows]
    )


_PUBLISHED_TEXT = (
    f"Published: {published.SOURCE}. 6.75 ns is the inverse of 148 million packets/s, which is "
    "rounded down; 84 bytes at 100 Gbit/s take 6.72 ns. A cache miss here is a load from memory."
)
_MISSES_TEXT = (
    "How many loads from each cache and from memory a packet may wait for on one core, if it does "
    "nothing else. One after another: the address of each depends on the one before, as in a list "
    "or a tree. Several at a time: independent loads, as when a batch of packets is prefetched. "
    "Below 1, not even every packet may have one. N cores may have N times as many."
)
_CORES_TEXT = "Cores that each function keeps busy at each rate, with frames of this size."


def figures(document):
    """Columns and rows of tables, by the name of their files."""
    made = {
        "levels": _level_figures(document),
        "misses": _miss_figures(document),
        "published": _published_figures(document),
    }
    if document["costs"]:
        made["function_table"] = function_figures(document)
        made["cores"] = _core_figures(document)
    return made


def tables(document):
    made = []
    if own.taken(document):
        made.append(("function_table", "Functions", _functions(document)))
        text = f"<p>{page.escaped(_CORES_TEXT)}</p>"
        made.append(("cores", "Cores by rate", text + _cores(document)))
    if document["memory"]["levels"]:
        text = "".join(f"<p>{page.escaped(note)}</p>" for note in step_notes(document))
        made.append(("levels", "Caches and memory", text + _levels(document)))
        text = f"<p>{page.escaped(_MISSES_TEXT)}</p>"
        made.append(("misses", "Cache misses that a packet may have", text + _misses(document)))
    return [*made, ("published", "As published", _published(document))]
