# SPDX-License-Identifier: MIT
# A result folder -> what a comparison needs of it.
import dataclasses
import statistics

from ..errors import EXIT_USAGE, ConductError
from ..statistics import scientific
from . import folder as folders, summaries


@dataclasses.dataclass(frozen=True)
class Side:
    path: str
    variants: list
    values: dict  # name -> unit
    trials: list  # that count
    environment: dict

    def require_variant(self, name):
        if name not in self.variants:
            raise ConductError(
                EXIT_USAGE,
                f'{self.path}: no variant "{name}" (variants: {", ".join(self.variants)})',
            )


def read(path):
    folder = folders.ResultFolder(path)
    experiment = folder.read_json(folders.EXPERIMENT)
    trials = [t for t in folder.read_lines(folders.TRIALS) if not t["warmup"]]
    units = {name: "" for name in summaries.names(experiment, trials)}
    for trial in trials:
        units.update({name: value["unit"] for name, value in trial["values"].items()})
    environment = experiment.get("environment") or {}
    return Side(path, experiment["variants"], units, trials, environment)


def comparison(name, first, variant_a, second, variant_b):
    """One value of one variant of either side: by rounds if both are of one run."""
    a = summaries.samples(first.trials, name, variant_a)
    b = summaries.samples(second.trials, name, variant_b)
    unit = first.values[name]
    one_run = first is second
    compare = scientific.compare()
    labels = [variant_a, variant_b]
    if not one_run:
        labels = [f"{first.path} {variant_a}", f"{second.path} {variant_b}"]
    if unit != second.values[name]:
        why = f"other unit ({unit}, {second.values[name]})"
        found = compare.refusal(*labels, why, paired=False)
    elif one_run:
        found = compare.compare_paired(*labels, a, b, unit)
    else:
        in_order = [[side[number] for number in sorted(side)] for side in (a, b)]
        found = compare.compare_separate(*labels, *in_order, unit)
    medians = [statistics.median(side.values()) if side else None for side in (a, b)]
    return {
        **{"value": name, "unit": unit, "median_a": medians[0], "median_b": medians[1]},
        **found,
    }
