# SPDX-License-Identifier: MIT
# Two result folders, or two variants of one -> whether their values differ.
import json
import os

from ..errors import EXIT_USAGE, ConductError
from . import folder as folders, summaries, tables


def shown(options):
    compared = list(_compared(options))
    if options.json:
        return json.dumps({"format": folders.FORMAT, "comparisons": compared}, indent=1) + "\n"
    return "".join(_text(c) for c in compared)


def _compared(options):
    first, second, variants = _sides(options)
    if options.value and options.value not in first["names"]:
        raise ConductError(
            EXIT_USAGE,
            f'{options.folder}: no value "{options.value}" (values: {", ".join(first["names"])})',
        )
    for name in first["names"]:
        if options.value not in (None, name) or name not in second["names"]:
            continue
        for a, b in variants:
            found = [
                summaries.samples(side["trials"], name, variant)
                for side, variant in ((first, a), (second, b))
            ]
            if found[0].keys() & found[1].keys():
                labels = (
                    (a, b) if first is second else (f"{first['path']} {a}", f"{second['path']} {b}")
                )
                unit = _unit(first["trials"], name)
                yield {
                    **{"value": name, "unit": unit, "a": labels[0], "b": labels[1]},
                    **{"median_a": _median(found[0]), "median_b": _median(found[1])},
                    **summaries.compared(*found),
                }


def _sides(options):
    first = _side(options.folder)
    if len(options.others) == 2:
        for variant in options.others:
            if variant not in first["variants"]:
                raise ConductError(
                    EXIT_USAGE,
                    f'{options.folder}: no variant "{variant}" '
                    f"(variants: {', '.join(first['variants'])})",
                )
        return first, first, [tuple(options.others)]
    if len(options.others) != 1:
        raise ConductError(EXIT_USAGE, "compare requires FOLDER FOLDER, or FOLDER VARIANT VARIANT")
    if not os.path.isdir(options.others[0]):
        raise ConductError(
            EXIT_USAGE, f"{options.others[0]}: no folder of results (for variants, name two)"
        )
    second = _side(options.others[0])
    both = [v for v in first["variants"] if v in second["variants"]]
    if not both:
        raise ConductError(
            EXIT_USAGE, f"{options.folder}, {options.others[0]}: no variant is in both"
        )
    return first, second, [(v, v) for v in both]


def _side(path):
    folder = folders.ResultFolder(path)
    experiment = folder.read_json(folders.EXPERIMENT)
    trials = [t for t in folder.read_lines(folders.TRIALS) if not t["warmup"]]
    return {
        **{"path": path, "trials": trials, "variants": experiment["variants"]},
        "names": summaries.names(experiment, trials),
    }


def _unit(trials, name):
    return next((t["values"][name]["unit"] for t in trials if name in t["values"]), "")


def _median(found):
    ordered = sorted(found.values())
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _text(found):
    number = tables.number
    lines = [f"{found['value']} [{found['unit']}]: {found['a']} -> {found['b']}"]
    lines.append(f"  medians {number(found['median_a'])} -> {number(found['median_b'])}")
    if found.get("ci95"):
        low, high = found["ci95"]
        lines.append(
            f"  difference {number(found['difference'])} (95 % interval {number(low)} to "
            f"{number(high)}), {100 * (found.get('relative') or 0):+.2f} %, "
            f"p = {found['p_value']:.3g}"
        )
    if found.get("verdict"):
        lines.append(f"  {found['verdict']}")
    return "\n".join(lines) + "\n"
