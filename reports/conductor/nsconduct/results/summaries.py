# SPDX-License-Identifier: MIT
# Trials -> results.json: samples of each value by variant, their statistics, and comparisons.
import itertools

from .folder import FORMAT

try:
    from ..statistics import compare, summary
except ImportError:  # without its packages: samples only
    compare = summary = None


def document(experiment, trials):
    """experiment: that of experiment.json."""
    counted = [t for t in trials if not t["warmup"]]
    return {
        "format": FORMAT,
        "experiment": experiment["name"],
        "values": {name: _value(experiment, counted, name) for name in names(experiment, counted)},
        "failures": [
            {
                "round": t["round"],
                "variant": t["variant"],
                "warmup": t["warmup"],
                "failure": t["failure"],
            }
            for t in trials
            if t["status"] != "ok"
        ],
    }


def names(experiment, trials):
    found = {name: None for name in experiment.get("values", [])}
    for trial in trials:
        found.update(dict.fromkeys(trial["values"]))
    return list(found)


def samples(trials, name, variant):
    """Round -> value, of the trials that have it."""
    return {
        t["round"]: t["values"][name]["value"]
        for t in trials
        if t["variant"] == variant and t["status"] == "ok" and name in t["values"]
    }


def _value(experiment, trials, name):
    unit = next((t["values"][name]["unit"] for t in trials if name in t["values"]), "")
    by_variant = {v: samples(trials, name, v) for v in experiment["variants"]}
    return {
        "unit": unit,
        "variants": {v: summarised(found) for v, found in by_variant.items()},
        "comparisons": [
            {"a": a, "b": b, **compared(by_variant[a], by_variant[b])}
            for a, b in itertools.combinations(by_variant, 2)
            if by_variant[a].keys() & by_variant[b].keys()
        ],
    }


def summarised(found):
    """found: round -> value.  Outliers get the round they are of."""
    values = list(found.values())
    result = {"samples": values, **(summary.summarise(values) if summary else {})}
    rounds = list(found)
    for outlier in result.get("outliers", []):
        if "index" in outlier:
            outlier["round"] = rounds[outlier.pop("index")]
    return result


def compared(a, b):
    """Pairs of the same round; others have no partner."""
    rounds = [number for number in a if number in b]
    if not compare:
        return {}
    return compare.compare_paired([a[n] for n in rounds], [b[n] for n in rounds])
