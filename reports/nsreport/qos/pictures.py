# SPDX-License-Identifier: MIT
# qos: figures 7 and 8 of 2004, measured here.
from ..layout import INK, PALETTE
from ..picture import Absent, Picture
from ..text import count, plural
from ..traffic.lines import Axis, Series, drawing
from . import figures, plan

_COLOURS = {1: PALETTE[5], 5: PALETTE[0], 10: PALETTE[2]}
_MARKERS = {1: 9, 5: 7, 10: 5}
_TRUTH_MARKER = 2
_APART = 1.1  # between the bars of two sampling rates, in percent of loss
SOURCE = (
    "mapi-qos at both sides of the node, with the time stamps of the kernel; node: the log of "
    "mapi-impair"
)


def traffic(document):
    return (
        f"{plan.BIT_RATE / 1e6:g} Mbit/s in frames of {plan.WIRE_BYTES} bytes with random payload, "
        f"{document['seconds']:g} s for each step"
    )


def _samples(document, part, rate_list):
    chosen = {
        rate: [r["sent"] for _, r in figures.rows(document, part, rate)] for rate in rate_list
    }
    return f"{traffic(document)}; packets selected in a step: " + ", ".join(
        f"{' to '.join(map(count, sorted({min(sent), max(sent)})))} at {rate} %"
        for rate, sent in chosen.items()
        if sent
    )


def losses(document):
    """Of the measurement, not of the node."""
    found = {
        words: number for words, number in figures.lost_by_measurement(document).items() if number
    }
    if not found:
        return "the measurement itself lost no packet"
    return "by the measurement itself: " + ", ".join(f"{count(n)} {w}" for w, n in found.items())


def delay_sentence(document, rate):
    means = figures.mean_differences(document, rate)
    medians = figures.median_differences(document, rate)
    if not means:
        return ""
    constant_ms = figures.constant_ms(document, rate)
    constant_us = figures.US_PER_MS * constant_ms
    pairs = [
        (figures.delay(report), row["node"]["delay_ms"] + constant_ms)
        for row, report in figures.rows(document, "delay", rate)
        if figures.delay(report)
    ]
    inside = sum(figures.holds(measured, true) for measured, true in pairs)
    return (
        f"At {rate} % sampling, and apart from a constant of {constant_us:.1f} us (the way from "
        "the node's look at the clock to the second point's time stamp), the measured delay "
        f"differs from that of the node's log by {_most(means, constant_us):.1f} us at most (mean) "
        f"and {_most(medians, constant_us):.1f} us (median); {inside} of "
        f"{plural(len(pairs), 'interval')} of 95 % contain the node's mean."
    )


def _most(differences, constant):
    return max(abs(one - constant) for one in differences)


def delay_picture(document):
    (rate,) = plan.DELAY_RATES
    found = [
        (row, report)
        for row, report in figures.rows(document, "delay", rate)
        if figures.delay(report) and row["node"]["delay_ms"] is not None
    ]
    topic = "One-way delay (figure 7)"
    if not found:
        return Absent("delay", topic, "No delay was measured.")
    measured = [(row["set"], *figures.delay(report)) for row, report in found]
    true = [(row["set"], *[row["node"]["delay_ms"]] * 3) for row, _ in found]
    apart = [
        (
            row["set"],
            *(1000 * v for v in figures.difference(figures.delay(report), row["node"]["delay_ms"])),
        )
        for row, report in found
    ]
    none = [(x, 0.0, 0.0, 0.0) for x in sorted({row["set"] for row, _ in found})]
    series = [
        Series("delay by the node's log", INK, _TRUTH_MARKER, [true, none]),
        Series(
            f"measured, {rate} % of the packets", _COLOURS[rate], _MARKERS[rate], [measured, apart]
        ),
    ]
    axes = [
        Axis("mean one-way delay, ms", least_high=0.5),
        Axis("measured minus node, us"),
    ]
    header = (
        "set_ms",
        "round",
        "measured_ms",
        "low_ms",
        "high_ms",
        "node_ms",
        "measured_median_ms",
    )
    header += ("node_median_ms", "jitter_ms", "selected")
    table = [
        (
            *(row["set"], row["round"], *figures.delay(report), row["node"]["delay_ms"]),
            *(report["delay_p50_ms"], row["node"]["delay_p50_ms"], report["jitter_ms"]),
            report["sent"],
        )
        for row, report in found
    ]
    return Picture(
        name="delay",
        topic=topic,
        question="Does the monitor measure the delay that the node makes?",
        script="packet_size.gp",
        **drawing(series, axes, "delay that the node is set to, ms", is_log=False),
        data_header=header,
        data_rows=table,
        source=SOURCE,
        samples=_samples(document, "delay", plan.DELAY_RATES),
        losses=losses(document),
        reading="Each dot is the mean delay of a step; its bar is the interval of 95 % that "
        "follows from the sampling. Right: the same, relative to the mean of all packets by the "
        "node's log.",
        notes=[
            delay_sentence(document, rate),
            "2004: figure 7 has the delay from 0 to 0.5 ms in steps of 0.05, sampled at 5 %, "
            "beside that of a traffic analyser, which was 0.12 ms higher by its further links; "
            "apart from this constant, they were \u201cexactly the same\u201d.",
        ],
    )


def loss_sentence(document, rate):
    pairs = figures.loss_pairs(document, rate)
    if not pairs:
        return ""
    most = max(abs(measured[0] - true) for measured, true in pairs)
    inside = sum(figures.holds(measured, true) for measured, true in pairs)
    return (
        f"At {rate} % sampling the measured loss differs from the true one by {most:.2f} "
        f"percentage points at most; {inside} of {plural(len(pairs), 'interval')} of 95 % "
        "contain it."
    )


def _loss_series(document, rate, shift):
    """Bars of the rates side by side, so that none hides another."""
    measured, apart = [], []
    for row, report in figures.rows(document, "loss", rate):
        value, true = figures.loss(report), figures.true_loss(row)
        if value and true is not None:
            measured.append((row["set"] + shift, *value))
            apart.append((row["set"] + shift, *figures.difference(value, true)))
    name = f"measured, {rate} % of the packets"
    return Series(name, _COLOURS[rate], _MARKERS[rate], [measured, apart])


def loss_picture(document):
    topic = "Packet loss (figure 8)"
    if not any(figures.loss_pairs(document, rate) for rate in plan.LOSS_RATES):
        return Absent("packet_loss", topic, "No loss was measured.")
    first = figures.rows(document, "loss", plan.LOSS_RATES[0])
    true = [(row["set"], *[figures.true_loss(row)] * 3) for row, _ in first]
    series = [
        Series(
            "loss by the node's log",
            INK,
            _TRUTH_MARKER,
            [true, [(x, 0.0, 0.0, 0.0) for x, *_ in true]],
        )
    ]
    series += [
        _loss_series(document, rate, _APART * (n - 1)) for n, rate in enumerate(plan.LOSS_RATES)
    ]
    table = [
        (
            rate,
            row["set"],
            row["round"],
            *figures.loss(report),
            figures.true_loss(row),
            report["sent"],
            report["lost"],
        )
        for rate in plan.LOSS_RATES
        for row, report in figures.rows(document, "loss", rate)
        if figures.loss(report)
    ]
    return Picture(
        name="packet_loss",
        topic=topic,
        question="Does the monitor measure the loss that the node makes?",
        script="packet_size.gp",
        **drawing(
            series,
            [Axis("packets lost, %"), Axis("measured minus true, percentage points")],
            "loss that the node is set to, %",
            is_log=False,
        ),
        data_header=(
            *("sampling_percent", "set_percent", "round", "measured_percent", "low", "high"),
            *("true_percent", "selected", "selected_lost"),
        ),
        data_rows=table,
        source=SOURCE,
        samples=_samples(document, "loss", plan.LOSS_RATES),
        losses=losses(document),
        reading="Each dot is the loss of a step; its bar is the interval of 95 % that follows from "
        "the sampling. Dots of the sampling rates stand a little apart. Right: the same, relative "
        "to the loss of all packets by the node's log.",
        notes=[
            *(loss_sentence(document, rate) for rate in plan.LOSS_RATES),
            "2004: figure 8 has the loss from 0 to 100 % in steps of 10, sampled at 1, 5 and 10 %: "
            "\u201cvery poor results\u201d at 1 %, 5 % \u201cmuch better\u201d, 10 % \u201calready "
            "a good approximation\u201d, of 5 minutes for each step.",
        ],
    )


def pictures(document):
    return [delay_picture(document), loss_picture(document)]
