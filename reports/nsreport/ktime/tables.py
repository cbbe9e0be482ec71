# SPDX-License-Identifier: MIT
# ktime: tables of the page, and the same figures as CSV and JSON.
from .. import page
from ..text import count, number, with_error
from . import interruptions, plan, statistics, terms, times, words

_KINDS = (times.RUN, times.CLOCK, times.GAP)
_KIND_WORDS = {times.RUN: "run_time_ns", times.CLOCK: "bpf_ktime_get_ns()", times.GAP: "gap"}
_MOST_NAMED = 5  # outliers of a program on the page; the file has all


def _shown(figure):
    text = with_error(figure.value, figure.half_width())
    return text[1:] if text.startswith("-0 ") else text


def _columns(first):
    return [(first, False), *((words.checksums(n), True) for n in plan.NUMBERS)]


def explained(document, at):
    """The terms, their sum and the gap."""
    figures_of = times.Figures(document)
    rows = [
        [words.term(one), *[_shown(terms.value(figures_of, one))] * len(plan.NUMBERS)]
        for one in terms.TERMS
        if at == times.FIRST or not one.is_cold
    ]
    made = [terms.explained(figures_of, n, at) for n in plan.NUMBERS]
    rows.append(["sum of the terms", *(_shown(one.terms) for one in made)])
    taken = (terms.interrupts(times.lost_share(document), one.gap) for one in made)
    rows.append(["interrupts: in plain means, not in these trimmed ones", *map(_shown, taken)])
    rows.append(["measured gap", *(_shown(one.gap) for one in made)])
    rows.append(["left unexplained", *(_shown(one.left) for one in made)])
    rows.append(["in percent of the gap", *(f"{100 * one.share():.1f} %" for one in made)])
    if at == times.FIRST:
        rows.append(["left unexplained in single executions", *_by_execution(document)])
    bar = f"at most {100 * terms.RELATIVE:.0f} % or {terms.ABSOLUTE_NS:.0f} ns"
    rows.append([bar, *("yes" if one.is_met() else "no" for one in made)])
    return page.table(_columns("ns"), rows)


def _by_execution(document):
    """The machine drifts between executions: least to greatest of what each leaves."""
    each = [times.Figures(times.of_execution(document, i)) for i in range(document["rounds"])]
    for n in plan.NUMBERS:
        left = [terms.explained(figures_of, n).left.value for figures_of in each]
        yield f"{min(left):.0f} to {max(left):.0f}"


def plain(document):
    """Plain means, with what interrupts and the hypervisor add to them."""
    figures_of, share = times.Figures(document), times.lost_share(document)
    rows = {key: [] for key in ("trimmed", "few", "mean", "outliers", "interrupts", "left")}
    for n in plan.NUMBERS:
        gaps = times.first(document, f"full_{n}", times.GAP)
        limit, mean = statistics.fence(gaps), statistics.mean(gaps)
        rest = [gap for gap in gaps if gap <= limit]
        taken = terms.interrupts(share, mean)
        summed = terms.explained(figures_of, n).terms
        left = statistics.combined([(1, mean), (-1, taken), (-1, summed)])
        rows["trimmed"].append(_shown(figures_of(f"full_{n}", times.GAP)))
        rows["few"].append(_shown(statistics.mean(rest)))
        rows["mean"].append(_shown(mean))
        rows["outliers"].append(f"{count(len(gaps) - len(rest))} above {number(round(limit))} ns")
        rows["interrupts"].append(_shown(taken))
        rows["left"].append(_shown(left))
    names = {
        "trimmed": "trimmed mean of the gap",
        "few": "mean without outliers",
        "mean": "mean of all runs",
        "outliers": "outliers",
        "interrupts": "interrupts and hypervisor: their share of the time, by the mean",
        "left": "mean of all runs, without these and the sum of the terms",
    }
    return page.table(_columns("ns"), [[names[key], *cells] for key, cells in rows.items()])


def interrupted(document):
    rows = [
        [
            name,
            count(one.count),
            f"{one.per_ms:.2f}",
            number(one.median_ns and round(one.median_ns)),
        ]
        for name, one in (
            ("clock reads in a loop, by their pauses", interruptions.of_reads(document)),
            (f"all programs, {times.WARM}", interruptions.of_warm(document)),
            (f"all programs, {times.FIRST}", interruptions.of_first(document)),
        )
    ]
    columns = [("of", False), ("number", True), ("per ms of its time", True)]
    return page.table([*columns, ("ns, median (of pauses: mean)", True)], rows)


def check(document):
    figures_of = times.Figures(document)
    made = {n: terms.in_place(figures_of, n) for n in plan.NUMBERS}
    rows = [[words.PARTS[p], *(_shown(made[n][p]) for n in plan.NUMBERS)] for p in words.PARTS]
    sums = [sum(one.value for one in made[n].values()) for n in plan.NUMBERS]
    gaps = [figures_of(f"full_{n}", times.GAP).value for n in plan.NUMBERS]
    rows.append(["sum", *(number(round(one)) for one in sums)])
    rows.append(["gap minus sum", *(number(round(g - s)) for g, s in zip(gaps, sums))])
    return page.table(_columns("ns of packet 1"), rows)


def order(document):
    figures_of = times.Figures(document)
    rows = []
    for name, of in (
        ("the event initialised before the first read adds to the gap", terms.event_by_order),
        ("remaining: run_time_ns without clock and map - bpf_ktime_get_ns()", terms.remaining),
    ):
        for at in (times.FIRST, times.WARM):
            shown = [_shown(of(figures_of, n, at)) for n in plan.NUMBERS]
            rows.append([f"{name}, {at}", *shown])
    for at in (times.FIRST, times.WARM):
        shown = _shown(terms.remaining_explained(figures_of, at))
        name = (
            "explained: the statistics' reads and program entry - the clock's calls between reads"
        )
        rows.append([f"{name}, {at}", *[shown] * len(plan.NUMBERS)])
    return page.table(_columns("ns"), rows)


def means_rows(document):
    """Packet 1 of each run, and packets 2 to 100, of each program."""
    header = None
    rows = []
    for program in plan.programs():
        for kind in _KINDS if plan.has_clock(program) else (times.RUN,):
            of_means = times.mean_of_means(document, program, kind)
            packets = (
                (times.FIRST, times.first(document, program, kind)),
                (times.WARM, [v for one in times.warm(document, program, kind) for v in one]),
            )
            for at, values in packets:
                made = statistics.summary(values)
                means = of_means.value if at == times.FIRST else None
                header = ("program", "time", "packets", "mean_of_means", *made)
                rows.append((program, kind, at, means, *made.values()))
    return header, rows


def means(document):
    header, rows = means_rows(document)
    places = [header.index(k) for k in ("mean_of_means", "mean", "trimmed_mean", "median")]
    places += [header.index(k) for k in ("deviation", "p1", "p10", "p90", "p99", "greatest")]
    places.append(header.index("outliers"))
    columns = [("program", False), ("time", False), ("packets", False)]
    columns += [(header[i].replace("_", " "), True) for i in places]
    shown = [
        [row[0], _KIND_WORDS[row[1]], row[2], *(number(_rounded(row[i])) for i in places)]
        for row in rows
    ]
    return page.table(columns, shown)


def _rounded(value):
    return value if value is None else round(value, 1) if value < 100 else round(value)


def before_rows(document):
    rows = []
    for name, description in plan.BEFORE.items():
        for program in plan.BEFORE_PROGRAMS:
            for kind in _KINDS if plan.has_clock(program) else (times.RUN,):
                values = times.before(document, name, program, kind)
                if values:
                    made = statistics.trimmed_mean(values)
                    half = made.half_width() if len(values) > 1 else None
                    rows.append((description, program, kind, made.value, half, len(values)))
    return ("before", "program", "time", "trimmed_mean", "half_width", "packets"), rows


def before(document):
    columns = [("before the packet", False), ("program", False), ("time", False)]
    columns += [("ns", True), ("packets", True)]
    rows = [
        [description, program, _KIND_WORDS[kind], with_error(value, half), count(packets)]
        for description, program, kind, value, half, packets in before_rows(document)[1]
    ]
    return page.table(columns, rows)


def outlier_rows(document):
    """Each outlier of a gap by execution and run."""
    rows = []
    for n in plan.NUMBERS:
        program = plan.name("full", n)
        runs, clocks = (
            times.by_execution(document, program, kind) for kind in (times.RUN, times.CLOCK)
        )
        limit = statistics.fence(times.first(document, program, times.GAP))
        for execution, pair in enumerate(zip(runs, clocks), 1):
            for turn, (run, clock) in enumerate(zip(*pair), 1):
                if run - clock > limit:
                    rows.append((program, execution, turn, run, clock, run - clock))
    return ("program", "execution", "run", "run_ns", "clock_ns", "gap_ns"), rows


def outliers(document):
    header, rows = outlier_rows(document)
    named = []
    for n in plan.NUMBERS:
        of_program = [row for row in rows if row[0] == plan.name("full", n)]
        named += sorted(of_program, key=lambda row: -row[-1])[:_MOST_NAMED]
    columns = [(name.replace("_", " "), i > 0) for i, name in enumerate(header)]
    return page.table(columns, [[row[0], *map(count, row[1:])] for row in named])


def term_rows(document):
    figures_of, rows = times.Figures(document), []
    for n in plan.NUMBERS:
        for at in (times.FIRST, times.WARM):
            made = terms.explained(figures_of, n, at)
            found = [
                (f"{t.part}{'_cold' if t.is_cold else ''}", terms.value(figures_of, t))
                for t in terms.TERMS
                if at == times.FIRST or not t.is_cold
            ]
            found += [("sum", made.terms), ("gap", made.gap), ("unexplained", made.left)]
            rows += [(n, at, name, f.value, f.error, f.half_width()) for name, f in found]
    return ("checksums", "packets", "term", "ns", "standard_error_ns", "half_width_ns"), rows


def figures(document):
    return {
        "terms": term_rows(document),
        "means": means_rows(document),
        "before": before_rows(document),
        "outliers": outlier_rows(document),
    }


def tables(document):
    return [
        ("terms", "The gap at packet 1, by terms", explained(document, times.FIRST)),
        ("warm-terms", "The gap at packets 2 to 100, by terms", explained(document, times.WARM)),
        ("guess", "The event structure, and the difference that remains", order(document)),
        ("before", "What makes a packet slow: times by what precedes it", before(document)),
        ("check", "Check: parts of the gap by leaving them out at each number", check(document)),
        ("plain", "Plain means: interrupts and outliers", plain(document)),
        (
            "interruptions",
            f"Interruptions, {interruptions.LONG_NS} ns and more above a program's median",
            interrupted(document),
        ),
        ("outliers", f"Outliers: the greatest {_MOST_NAMED} gaps of each", outliers(document)),
        ("means", "All programs, ns", means(document)),
    ]
