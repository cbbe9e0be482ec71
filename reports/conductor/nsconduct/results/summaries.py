# SPDX-License-Identifier: MIT
# Trials -> results.json: samples of each value by variant, their statistics, and comparisons.
from ..statistics import plain, scientific
from .folder import FORMAT

MISSING = (
    "no intervals and comparisons, because the Python package scipy is missing "
    "(Debian: apt install python3-scipy)"
)


def missing():
    """A text that says which statistics there are not, and why; or None."""
    return None if scientific.summary() else MISSING


def trials_for(samples, percent):
    """Trials that an interval of this half width needs; None if unknown."""
    summary = scientific.summary()
    return summary.trials_for(samples, percent / 100) if summary else None


def document(experiment, trials):
    """experiment: that of experiment.json."""
    counted = [t for t in trials if not t["warmup"]]
    return {
        "format": FORMAT,
        "experiment": experiment["name"],
        "values": {name: _value(experiment, counted, name) for name in names(experiment, counted)},
        "disturbance": {name: disturbance(counted, name) for name in ("load_by_others", "steal")},
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


def disturbance(trials, name):
    """Mean and greatest share of the CPUs, with its round and variant; None if unknown."""
    found = [trial for trial in trials if trial.get(name) is not None]
    if not found:
        return None
    worst = max(found, key=lambda trial: trial[name])
    return {
        "mean": sum(trial[name] for trial in found) / len(found),
        "max": worst[name],
        "round": worst["round"],
        "variant": worst["variant"],
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
    compare = scientific.compare()
    by_variant = {v: samples(trials, name, v) for v in experiment["variants"]}
    return {
        "unit": unit,
        "variants": {v: summarised(found) for v, found in by_variant.items()},
        "comparisons": compare.compare_variants(by_variant, unit) if compare else [],
    }


def summarised(found):
    """found: round -> value."""
    summary = scientific.summary()
    values, rounds = list(found.values()), list(found)
    return summary.summarise(values, rounds) if summary else plain.figures(values)
