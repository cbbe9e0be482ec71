# SPDX-License-Identifier: MIT
# placement: figures 2.1 to 2.10 of 2004, measured here.
from ..picture import Absent, Picture
from ..text import count
from ..traffic import figures, head
from ..traffic.capture import MEAN_BYTES
from ..traffic.lines import Axis, Series, drawing
from . import plan, values
from .words import COLOURS, FIGURES, MARKERS, WORDS

_LOSS = "packets lost or late"


def _traffic(part):
    """Packets of a part in words."""
    _, size, rates, _ = plan.PARTS[part]
    packets = (
        f"packets of 64 to 1396 bytes, {MEAN_BYTES} on average"
        if size == plan.MIXED
        else f"packets of {size} bytes"
    )
    return packets if values.is_by_rate(part) else f"{packets}, {count(rates[0])} per second"


def _at(part, x):
    if values.is_by_rate(part):
        return f"At {count(x)} packets/s"
    return f"With {values.work_name(part, x)}"


def _shares_at(document, costs, figure, x):
    found = {}
    for system in figure.systems:
        rows = values.rows_at(document, figure.part, system, x)
        if spread := values.share(costs, rows):
            found[system] = spread[0], _shortfall(rows), _reached(rows)
    return found


def _shortfall(rows):
    """What a system does not manage, in words."""
    said = []
    demand = figures.of_rounds(rows, figures.demand)[0]
    if demand > 100:
        said.append(f", {demand:.1f} % for its process alone, which has one CPU: it cannot keep up")
    for lost_of, words in ((figures.dropped, "loses"), (figures.late, "is late with")):
        spread = values.lost(rows, lost_of)
        if spread and spread[0] >= 0.01:
            said.append(f" and {words} {spread[0]:.3g} % of the packets")
    return "".join(said)


def _reached(rows):
    """The softirq of a system may leave the sender on the same CPU no time for its rate."""
    if sum(map(head.is_slow, rows)) * 2 <= len(rows):
        return ""
    return f" (the sender reached only {count(round(head.rate_of(rows)))} packets/s)"


def _takes(percent):
    """Unwatched traffic may have taken more: other programs disturbed one of the two."""
    if percent <= -values.LEAST_PERCENT:
        return f"takes an unknown share (unwatched traffic took {-percent:.1f} % of a CPU more)"
    if percent < values.LEAST_PERCENT:
        return f"takes less than {values.LEAST_PERCENT} % of a CPU"
    return f"takes {percent:.1f} % of a CPU"


def sentence(document, costs, figure):
    """Answers the figure's question where most is asked of the systems."""
    for x in reversed(values.places_of(figure.part)):
        found = _shares_at(document, costs, figure, x)
        if found:
            break
    else:
        return "Time in softirq was not measured, so there is no CPU share."
    said = []
    for system, (percent, shortfall, reached) in sorted(found.items(), key=lambda one: one[1][0]):
        said.append(f"{WORDS[system]} {_takes(percent)}{shortfall}{reached}")
    missing = [WORDS[system] for system in figure.systems if system not in found]
    absent = f" Not measured there: {', '.join(missing)}." if missing else ""
    return f"{_at(figure.part, x)}, {'; '.join(said)}.{absent}"


def ran_in(document, figure):
    """Where the functions ran, by system."""
    said = []
    for system in figure.systems:
        places = {}
        for row in figures.rows(document, part=figure.part, system=system):
            places.setdefault(row["place"], set()).add(row["number"])
        words = [
            f"{place or 'unknown'}{_numbers(figure.part, numbers) if len(places) > 1 else ''}"
            for place, numbers in places.items()
        ]
        if words:
            said.append(f"{WORDS[system]}: {'; '.join(words)}")
    return f"Functions ran in: {'. '.join(said)}."


def _numbers(part, numbers):
    least, most = min(numbers), max(numbers)
    between = f"{least:,} to " if least < most else ""
    return f" ({between}{values.work_name(part, most)})"


def _notes(document, costs, figure):
    notes = [sentence(document, costs, figure), ran_in(document, figure)]
    if figure.part == "filter":
        notes.append(
            "With a single filter, MAPI on IFACE gives it to the packet socket, so that the "
            "kernel drops other packets before they are read; libpcap here is used without "
            "pcap_setfilter(), as with several filters."
        )
    if figure.part in ("discard", "count") and "mmap" in figure.systems:
        notes.append(
            "libpcap has no functions in the kernel: its programs read each packet, also to count."
        )
    return notes


def picture(document, costs, figure):
    topic = f"{figure.topic} (figure {figure.number})"
    found = {
        s: values.points(document, costs, figure.part, s)
        for s in figure.systems
        if figures.rows(document, part=figure.part, system=s)
    }
    if not any(shares for shares, _ in found.values()):
        why = document.get("no_softirq") or "it was not measured"
        return Absent(figure.name, topic, f"No CPU share: {why}.")
    loses = any(point[1] > 0 for _, losses in found.values() for point in losses)
    axes = [Axis("CPU share in percent of one CPU")] + [Axis(_LOSS, True)] * loses
    series = [
        Series(WORDS[s], COLOURS[s], MARKERS[s], list(points[: len(axes)]))
        for s, points in found.items()
    ]
    rows = [
        (WORDS[s], x, *share, *next((loss[1:] for loss in losses if loss[0] == x), (None,) * 3))
        for s, (shares, losses) in found.items()
        for x, *share in shares
    ]
    by_rate = values.is_by_rate(figure.part)
    x_label = "packets/s" if by_rate else values.work_name(figure.part, 2).split(" ")[1]
    columns = (
        "cpu_percent",
        "least",
        "greatest",
        "lost_or_late_percent",
        "lost_or_late_least",
        "lost_or_late_greatest",
    )
    drawn = [r for s in found for r in figures.rows(document, part=figure.part, system=s)]
    return Picture(
        name=figure.name,
        topic=topic,
        question=f"How much of a CPU {figure.question} take"
        f"{' as the rate grows' if by_rate else ' as their number grows'}?",
        script="packet_size.gp",
        **drawing(series, axes, x_label),
        data_header=("system", x_label.replace("/", "_per_"), *columns),
        data_rows=rows,
        source=f"{_traffic(figure.part)}; time in softirq: {figures.SOFTIRQ_SOURCE}; process: "
        f"{figures.PROCESS_SOURCE}",
        samples=head.samples(document),
        losses=head.losses(drawn),
        reading="Each dot is the median of the rounds, and its bar spans the least to the greatest "
        "round. CPU share is time in softirq and CPU time of the process, by the time of sending. "
        "A process that needs more than 100 % does not keep up: it works on its buffer after the "
        "last packet, until its time is over; the table has its share, and what was lost and late.",
        notes=[*_notes(document, costs, figure), *head.disturbed_note(drawn)],
    )


def pictures(document):
    costs = values.costs_of(document)
    return [picture(document, costs, figure) for figure in FIGURES]
