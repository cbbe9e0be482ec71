# SPDX-License-Identifier: MIT
# Two result folders, or two variants of one -> whether their values differ.
import json
import os

from ..environment import unlike
from ..errors import EXIT_MISSING, EXIT_USAGE, ConductError
from ..statistics import scientific
from . import folder as folders, sides, summaries, tables


def shown(options):
    if summaries.missing():
        raise ConductError(EXIT_MISSING, summaries.missing())
    document = {"format": folders.FORMAT, **compared(options)}
    if options.format == "json":
        return json.dumps(document, indent=1) + "\n"
    parts = [f"not comparable: {reason}\n" for reason in document["unlike"]]
    parts += [_text(found, options.precision) for found in document["comparisons"]]
    return "".join(parts) + _note(document["comparisons"])


def compared(options):
    """{"comparisons": [...], "unlike": reasons for which two folders were not compared}."""
    first = sides.read(options.folder)
    if len(options.others) == 2:
        for variant in options.others:
            first.require_variant(variant)
        pairs = [(first, options.others[0], first, options.others[1])]
    elif len(options.others) == 1:
        second = _second(options)
        both = [name for name in first.variants if name in second.variants]
        if not both:
            raise ConductError(
                EXIT_USAGE, f"{options.folder}, {options.others[0]}: no variant is in both"
            )
        reasons = unlike.reasons_of_runs(first.environment, second.environment)
        if reasons and not options.any_environment:
            return {"comparisons": [], "unlike": reasons}
        pairs = [(first, name, second, name) for name in both]
    else:
        raise ConductError(EXIT_USAGE, "compare requires FOLDER FOLDER, or FOLDER VARIANT VARIANT")
    names = _names(options.value, first, pairs[0][2])
    return {
        "comparisons": [sides.comparison(name, *pair) for name in names for pair in pairs],
        "unlike": [],
    }


def _second(options):
    if not os.path.isdir(options.others[0]):
        raise ConductError(
            EXIT_USAGE, f"{options.others[0]}: no folder of results (for variants, name two)"
        )
    return sides.read(options.others[0])


def _names(wanted, first, second):
    both = [name for name in first.values if name in second.values]
    if wanted is None and both:
        return both
    if wanted in both:
        return [wanted]
    of = f"{first.path}, {second.path}" if first is not second else first.path
    what = "no value is in both" if wanted is None else f'no value "{wanted}"'
    raise ConductError(EXIT_USAGE, f"{of}: {what} (values: {', '.join(both) or 'none'})")


def _text(found, precision):
    number, unit = tables.number, found["unit"]
    lines = [f"{found['value']} [{unit}]: {found['verdict']}"]
    if found["ci95"]:
        low, high = found["ci95"]
        how = "rounds, paired" if found["paired"] else "trials of each, of separate runs"
        lines.append(
            f"  medians {number(found['median_a'])} and {number(found['median_b'])} {unit}"
        )
        lines.append(
            f"  difference {number(found['difference'])} {unit} (95 % interval {number(low)} to "
            f"{number(high)}), p = {found['p_value']:.3g}, {found['count']} {how}"
        )
        wanted = scientific.compare().count_for(found, precision / 100)
        if wanted:
            what = "rounds" if found["paired"] else "trials of each"
            lines.append(f"  about {wanted} {what} for an interval of ±{number(precision)} %")
    return "\n".join(lines) + "\n"


def _note(comparisons):
    count = sum(found["p_value"] is not None for found in comparisons)
    if count < 2:
        return ""
    return (
        f"If all were equal, {0.05 * count:.2g} of {count} comparisons would show a difference.\n"
    )
