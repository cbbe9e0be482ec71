# SPDX-License-Identifier: MIT
# ktime: what the figures say, in sentences.
from ..text import with_error
from . import interruptions, plan, statistics, terms, times, words


def _list(values):
    return ", ".join(values)


def bars(figures):
    """Whether the terms explain the gap."""
    made = {n: terms.explained(figures, n) for n in plan.NUMBERS}
    missed = [n for n, one in made.items() if not one.is_met()]
    left = _list(
        f"{with_error(one.left.value, one.left.half_width())} ns ({100 * one.share():.1f} %)"
        for one in made.values()
    )
    bar = f"{100 * terms.RELATIVE:.0f} % or {terms.ABSOLUTE_NS:.0f} ns"
    verdict = (
        f"more than {bar} at {_list(map(str, missed))}" if missed else f"at most {bar} everywhere"
    )
    return [
        f"Of the gap between the two clocks, the terms leave {left} unexplained at "
        f"{_list(map(str, plan.NUMBERS))} checksums: {verdict}."
    ]


def guess(figures):
    """The document's guess: creating the event before the first read takes the 2000 ns."""
    event = [terms.Term("event", is_cold) for is_cold in (False, True)]
    own = terms.value(figures, *event)
    by_order = [terms.event_by_order(figures, n) for n in plan.NUMBERS]
    gaps = [figures(f"full_{n}", times.GAP).value for n in plan.NUMBERS]
    holds = own.value + own.half_width() > min(gaps) / 2
    verdict = "holds" if holds else "does not hold"
    return (
        f"The document's guess, that creating the event structure before the first read of the "
        f"clock takes the difference of about 2000 ns, {verdict}: it takes "
        f"{with_error(own.value, own.half_width())} ns of a gap of {min(gaps):.0f} to "
        f"{max(gaps):.0f} ns. If the clock is read before the structure is initialised, the gap "
        f"differs by {_list(with_error(one.value, one.half_width()) for one in by_order)} ns."
    )


def remaining(figures):
    """The document's difference of about 2000 ns."""
    there = [terms.remaining(figures, n).value for n in plan.NUMBERS]
    found = terms.remaining_explained(figures)
    return (
        "Without clock and map, run_time_ns exceeds the time by bpf_ktime_get_ns() by "
        f"{min(there):.0f} to {max(there):.0f} ns, where the document found about 2000 ns: the "
        "statistics' own reads and entering a cold program, minus the part of the clock's calls "
        f"between its reads, take {with_error(found.value, found.half_width())} ns of it."
    )


def cold(document, figures):
    """Which part is cold."""
    program = plan.BEFORE_PROGRAMS[0]
    first = figures(program, times.GAP).value
    warm = figures(program, times.GAP, times.WARM).value

    def gap(name):
        return statistics.trimmed_mean(times.before(document, name, program, times.GAP)).value

    after = {name: gap(name) for name in plan.BEFORE}
    is_cached = max(after["test_run"], after["load"], after["level_2"]) < first / 2
    cause = (
        "what makes packet 1 slow is that its code and data are not in the caches"
        if is_cached and after["level_3"] > first / 2
        else "none of these alone makes packet 1 slow"
    )
    return (
        f"The gap is {first:.0f} ns at packet 1 and {warm:.0f} ns at packets 2 to 100, with "
        f"{words.checksums(int(program.split('_')[1]))}. It is {after['test_run']:.0f} ns if the "
        f"new program has run once before packet 1, and, of a program that has run, "
        f"{after['load']:.0f} ns after another one was loaded, {after['wait']:.0f} ns after 5 ms "
        f"without packets, {after['level_2']:.0f} ns with other data in the second-level cache "
        f"and {after['level_3']:.0f} ns with other data in all caches: {cause}."
    )


def interrupted(document):
    """Whether interrupts are all that makes single runs long."""
    reads, warm, first = (
        of(document)
        for of in (interruptions.of_reads, interruptions.of_warm, interruptions.of_first)
    )
    said = (
        f"Programs are interrupted {warm.per_ms:.1f} times per ms at packets 2 to 100, where clock "
        f"reads in a loop pause {reads.per_ms:.1f} times, and {first.per_ms:.1f} times at packet 1"
    )
    if first.count and first.per_ms > 2 * warm.per_ms:
        said += (
            ": interrupts are not all that makes single runs long there, and what else does is not "
            "measured"
        )
    return f"{said}."
