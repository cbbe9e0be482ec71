# SPDX-License-Identifier: MIT
# ktime: the document's four pictures, and the terms of the gap.
from ..charts import Panel, Row, stacked, tics
from ..layout import PALETTE, top_px
from ..picture import Picture
from ..text import number, with_error
from ..traffic.lines import Axis, Series, drawing
from . import plan, statistics, terms, times, words

_COURSE_NUMBER, _COURSE_BLOCKS = 4, 20
_MARKERS = (7, 5, 9, 11, 13, 6, 4, 8)


def _spread(document, program, kind):
    """Mean of means, least and greatest mean of an execution."""
    means = [
        statistics.mean(values).value for values in times.by_execution(document, program, kind)
    ]
    return statistics.mean(means).value, min(means), max(means)


def _series(document, name, variant, kind):
    points = [(n, *_spread(document, plan.name(variant, n), kind)) for n in plan.NUMBERS]
    return Series(name, words.COLOURS[name], words.MARKERS[name], [points])


def _by_number(document, name, topic, question, chosen, notes):
    series = [_series(document, *one) for one in chosen]
    drawn = drawing(series, [Axis("ns per packet")], "checksums of a packet")
    drawn["variables"]["x_tics"] = " ".join(f"{n}={n}" for n in plan.NUMBERS)
    return Picture(
        name=name,
        topic=topic,
        question=question,
        script="packet_size.gp",
        **drawn,
        data_header=("time", "checksums", "mean_of_means_ns", "least_ns", "greatest_ns"),
        data_rows=[(one.name, *point) for one in series for point in one.points[0]],
        source=words.SOURCE,
        samples=words.samples(document),
        losses=words.losses(document),
        reading="Each dot is the mean of the means of the executions, and its bar spans the least "
        "to the greatest of them. Outliers are included.",
        notes=notes,
    )


_STATISTICS = (words.STATISTICS, "full", times.RUN)
_CLOCK = (words.CLOCK, "full", times.CLOCK)
_WITHOUT = (words.WITHOUT, "none", times.RUN)


def two_clocks(document):
    gaps = [number(round(_spread(document, f"full_{n}", times.GAP)[0])) for n in plan.NUMBERS]
    return _by_number(
        document,
        "two_clocks",
        "Both clocks",
        "How long does the program take by each clock?",
        (_STATISTICS, _CLOCK),
        [
            "The document: the two times are not similar at all, and run_time_ns is much higher. "
            f"Measured here: it is higher by {', '.join(gaps)} ns at "
            f"{', '.join(map(str, plan.NUMBERS))} checksums."
        ],
    )


def without_clock(document):
    left = [
        _spread(document, f"none_{n}", times.RUN)[0]
        - _spread(document, f"full_{n}", times.CLOCK)[0]
        for n in plan.NUMBERS
    ]
    return _by_number(
        document,
        "without_clock",
        "Without clock and map",
        "How much of the difference is due to reading the clock and updating the map?",
        (_STATISTICS, _WITHOUT, _CLOCK),
        [
            "The document: without bpf_ktime_get_ns(), run_time_ns is much closer to the time by "
            "bpf_ktime_get_ns(), but a difference of about 2000 ns remains. Measured here: "
            f"{', '.join(number(round(one)) for one in left)} ns remain at "
            f"{', '.join(map(str, plan.NUMBERS))} checksums."
        ],
    )


def clock_trend(document):
    low, high = (
        _spread(document, f"full_{n}", times.CLOCK)[0] for n in (plan.NUMBERS[0], plan.NUMBERS[-1])
    )
    return _by_number(
        document,
        "clock_trend",
        "Time by bpf_ktime_get_ns()",
        "Does the time by bpf_ktime_get_ns() depend on the number of checksums?",
        (_CLOCK,),
        [
            "The document: the time depends on the number of checksums, as expected. Measured "
            f"here: {number(round(low))} ns with {plan.NUMBERS[0]}, {number(round(high))} ns with "
            f"{plan.NUMBERS[-1]}."
        ],
    )


def _blocks(values):
    """(first run, median, 25th, 75th percentile) of runs that follow each other."""
    size = max(1, len(values) // _COURSE_BLOCKS)
    for begin in range(0, len(values), size):
        block = values[begin : begin + size]
        yield (begin + 1, *(statistics.percentile(block, p) for p in (0.5, 0.25, 0.75)))


def course(document):
    program = plan.name("full", _COURSE_NUMBER)
    series = []
    for name, kind in ((words.STATISTICS, times.RUN), (words.CLOCK, times.CLOCK)):
        for i, values in enumerate(times.by_execution(document, program, kind)):
            colour = PALETTE[len(series) % len(PALETTE)]
            marker = _MARKERS[i % len(_MARKERS)]
            short = "run_time_ns" if kind == times.RUN else name
            series.append(
                Series(f"{short}, execution {i + 1}", colour, marker, [list(_blocks(values))])
            )
    drawn = drawing(series, [Axis("ns per packet")], "run")
    high = float(document["runs"])
    drawn["variables"] |= {
        "x_log": 0,
        "x_high": high,
        "x_tics": tics(0, high, False),
        "size_label": "run of the execution",
    }
    return Picture(
        name="course",
        topic="Course of the executions",
        question="Do the times change in the course of an execution, and between executions?",
        script="packet_size.gp",
        **drawn,
        data_header=("time", "first_run", "median_ns", "p25_ns", "p75_ns"),
        data_rows=[(one.name, *point) for one in series for point in one.points[0]],
        source=words.SOURCE,
        samples=f"{words.samples(document)}; {words.checksums(_COURSE_NUMBER)}",
        losses=words.losses(document),
        reading="Each dot is the median of runs that follow each other, and its bar spans the 25th "
        "to the 75th percentile.",
        notes=[
            "The document: the course of the two times is also somewhat different. What both "
            "measure is the work; what only the statistics measure varies by itself."
        ],
    )


def _stack(parts):
    """(colour, value) from left to right; values below zero are left of the axis."""
    segments, right, left = [], 0.0, 0.0
    for colour, value in parts:
        if value >= 0:
            segments.append((right, right + value, colour))
            right += value
        else:
            segments.append((left + value, left, colour))
            left += value
    return segments


def gap_terms(document):
    figures = times.Figures(document)
    names, rows, data = [], [], []
    values = [(one, terms.value(figures, one)) for one in terms.TERMS]
    for n in plan.NUMBERS:
        made = terms.explained(figures, n)
        names += [f"{words.checksums(n)}: gap", f"{words.checksums(n)}: terms"]
        half = made.gap.half_width()
        rows.append(
            Row(
                [(0.0, made.gap.value, PALETTE[8])],
                with_error(made.gap.value, half),
                (made.gap.value, half),
            )
        )
        stack = [(words.TERM_COLOURS[t.part, t.is_cold], v.value) for t, v in values]
        half = made.terms.half_width()
        rows.append(
            Row(_stack(stack), with_error(made.terms.value, half), (made.terms.value, half))
        )
        data.append((n, made.gap.value, made.terms.value, made.left.value))
    height_px, variables, tables = stacked(names, [Panel("ns of packet 1", rows)])
    legend = [
        (
            f"{words.SHORT[t.part]}{', cold' if t.is_cold else ''}",
            words.TERM_COLOURS[t.part, t.is_cold],
        )
        for t in terms.TERMS
    ]
    return Picture(
        name="gap_terms",
        topic="Terms of the gap",
        question="What makes up the gap between the two clocks?",
        script="function_cost.gp",
        height_px=top_px(legend) + height_px,
        variables=variables,
        tables=tables,
        data_header=("checksums", "gap_ns", "sum_of_terms_ns", "unexplained_ns"),
        data_rows=data,
        source=words.SOURCE,
        samples=words.samples(document),
        losses=words.losses(document),
        reading="The gap is run_time_ns minus the time by bpf_ktime_get_ns() of the same run. The "
        "terms are measured by programs without checksums, and are the same for each gap. Values "
        "are trimmed means, the lines show their 95 % intervals.",
        legend=legend,
    )


def pictures(document):
    made = (two_clocks, without_clock, clock_trend, course, gap_terms)
    return [picture(document) for picture in made]
