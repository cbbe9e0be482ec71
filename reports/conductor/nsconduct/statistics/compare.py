# SPDX-License-Identifier: MIT
# Two variants' samples -> difference, interval, p value and verdict.
import math
import statistics

from . import drift, rank_sum, sign_flip, words

LEVEL = 0.05  # a difference is shown if the p value is at most this
DIFFERENT, SAME, NOT_COMPARABLE = "different", "no difference shown", "not comparable"


def _record(a, b, paired, outcome, verdict, **figures):
    empty = dict.fromkeys(("difference", "relative", "ci95", "relative_ci95", "p_value"))
    return {
        "a": a,
        "b": b,
        "paired": paired,
        "count": 0,
        **empty,
        **figures,
        "outcome": outcome,
        "verdict": verdict,
    }


def refusal(a, b, why, paired=True):
    """The record of two variants that cannot be compared."""
    return _record(a, b, paired, NOT_COMPARABLE, words.not_comparable(why))


def _judged(a, b, unit, found, level, paired, count):
    """`level`: the first variant's median, to which differences are relative."""
    scale = None if not level or not math.isfinite(level) else 1 / abs(level)
    figures = {
        "count": count,
        "difference": found.estimate,
        "relative": None if scale is None else found.estimate * scale,
        "ci95": list(found.interval),
        "relative_ci95": None if scale is None else [end * scale for end in found.interval],
        "p_value": found.p_value,
    }
    differ = found.p_value <= LEVEL and found.estimate != 0
    say = words.difference if differ else words.no_difference
    verdict = say({"a": a, "b": b, **figures}, unit)
    return _record(a, b, paired, DIFFERENT if differ else SAME, verdict, **figures)


def count_for(found, precision):
    """Rounds (of separate runs: trials of each) after which the half width of a comparison's
    interval is about that share of the first median, if further ones spread as these; None if there
    is no such number.  The width falls with the square root of the number."""
    if found["relative_ci95"] is None:
        return None
    low, high = found["relative_ci95"]
    fewest = sign_flip.FEWEST if found["paired"] else rank_sum.FEWEST
    return max(fewest, math.ceil(found["count"] * ((high - low) / 2 / precision) ** 2))


def compare_paired(a, b, samples_a, samples_b, unit=""):
    """Samples by round, {round: value}: the differences of the rounds that have both."""
    rounds = sorted(samples_a.keys() & samples_b.keys())
    first = [samples_a[number] for number in rounds]
    second = [samples_b[number] for number in rounds]
    if not all(map(math.isfinite, first + second)):
        return refusal(a, b, "a value is not a finite number")
    if len(rounds) < sign_flip.FEWEST:
        return refusal(
            a, b, f"{len(rounds)} rounds have both, and at least {sign_flip.FEWEST} are needed"
        )
    found = sign_flip.shift([y - x for x, y in zip(first, second)])
    return _judged(a, b, unit, found, statistics.median(first), True, len(rounds))


def compare_separate(a, b, samples_a, samples_b, unit=""):
    """Samples of separate runs, each in the order of its rounds: their rounds are no pairs."""
    fewest = min(len(samples_a), len(samples_b))
    if not all(map(math.isfinite, [*samples_a, *samples_b])):
        return refusal(a, b, "a value is not a finite number", paired=False)
    if fewest < rank_sum.FEWEST:
        why = f"{fewest} trials, and at least {rank_sum.FEWEST} of each are needed"
        return refusal(a, b, why, paired=False)
    found = rank_sum.shift(samples_a, samples_b)
    record = _judged(a, b, unit, found, statistics.median(samples_a), False, fewest)
    drifting = [x for x, values in ((a, samples_a), (b, samples_b)) if drift.drifts(values)]
    if drifting:
        record["verdict"] += (
            f"; values of {' and '.join(drifting)} drift during the run, so the interval is too "
            "narrow: compare them as variants of one run"
        )
    return record


def compare_variants(variants, unit=""):
    """{variant: {round: value}} -> the comparison of each pair, in the given order."""
    names = list(variants)
    return [
        compare_paired(a, b, variants[a], variants[b], unit)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    ]
