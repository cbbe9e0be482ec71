#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# run_bench: benches.txt + programs -> each figure with its bar and verdict, and bench.json.
import argparse
import json
import pathlib
import statistics
import sys

from bench_context import context
from bench_list import Bench, parse
from bench_program import Broken, Skipped, run
from bench_table import table

SENSES = {
    "at most": lambda value, bar: value <= bar,
    "at least": lambda value, bar: value >= bar,
    "below": lambda value, bar: value < bar,
    "equal": lambda value, bar: value == bar,
}
SOURCE = pathlib.Path(__file__).resolve().parents[2]


def verdict(figure):
    if figure.get("bar") is None:
        return "measured"
    return "reached" if SENSES[figure["sense"]](figure["value"], figure["bar"]) else "missed"


def merge(name, bench, runs):
    """Several runs' objects of one figure -> one object: the median, with every run's value and raw
    measurements."""
    reported = [figure for figure in runs if "value" in figure]
    if not reported:
        return {
            "figure": name,
            "bench": bench,
            "verdict": "skipped",
            "skipped": runs[-1]["skipped"],
        }
    values = [figure["value"] for figure in reported]
    merged = {"figure": name, "bench": bench, "value": statistics.median(values), "values": values}
    for key in ("bar", "sense", "unit", "note", "row", "lines"):
        if key in reported[-1]:
            merged[key] = reported[-1][key]
    merged["raw"] = [figure.get("raw") for figure in reported]
    merged["verdict"] = verdict(merged)
    return merged


def measure(bench: Bench, bin_folder, repeats, progress):
    """Runs one benchmark; the result always has every figure listed in benches.txt."""
    collected, reason = {}, None
    for number in range(bench.runs(repeats)):
        progress(f"{bench.name}: run {number + 1}")
        try:
            for figure in run(bench, bin_folder, SOURCE):
                collected.setdefault(figure["figure"], []).append(figure)
        except Skipped as skipped:
            reason = ("skipped", str(skipped))
            break
        except Broken as broken:
            reason = ("failed", str(broken))
            break
    figures = [merge(name, bench.name, runs) for name, runs in collected.items()]
    if reason and reason[0] == "failed":
        for figure in figures:
            figure.update(verdict="failed", failed=reason[1])
    for name in bench.figures:
        if name not in collected:
            what, why = reason or ("failed", "the program succeeded but did not print this figure")
            figures.append({"figure": name, "bench": bench.name, "verdict": what, what: why})
    return figures


def number(value):
    return f"{value:,.4g}" if isinstance(value, float) and abs(value) < 1e5 else f"{value:,.0f}"


def show(figure):
    head = f"{figure['figure']:<36}"
    if "value" not in figure or figure["verdict"] == "failed":
        return f"{head} {figure['verdict']}: {figure[figure['verdict']]}"
    bar = (
        f"{figure['sense']} {number(figure['bar'])}" if figure.get("bar") is not None else "no bar"
    )
    lines = [
        f"{head} {number(figure['value']):>12} {figure.get('unit', ''):<22} {bar:<18} "
        f"{figure['verdict']}"
    ]
    if figure.get("note"):
        lines.append(f"    {figure['note']}")
    if len(figure["values"]) > 1:
        lines.append("    median of " + ", ".join(number(value) for value in figure["values"]))
    if figure.get("lines"):
        lines += [f"    {line}" for line in figure["lines"]]
    else:
        lines += [f"    raw {json.dumps(raw)}" for raw in figure["raw"] if raw is not None]
    return "\n".join(lines)


def choose(benches, names):
    """Selects by benchmark, group or figure; a figure runs its whole program and is the only one
    reported."""
    known = {
        name for bench in benches for name in (bench.name, bench.group, *bench.figures) if name
    }
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"unknown benchmark or figure {', '.join(unknown)}; available: "
            f"{', '.join(sorted(known)) or 'none'}"
        )
    if not names:
        return [bench for bench in benches if not bench.is_only_asked]
    return [bench for bench in benches if {bench.name, bench.group, *bench.figures} & set(names)]


def options():
    parser = argparse.ArgumentParser(
        description="Runs the benchmarks of benches.txt and compares every figure with its bar.",
        epilog="Exit codes: 0 every bar reached (skipped ones are reported); 1 a bar missed or a "
        "program failed; 2 invalid usage. Example: run_bench.py --bin build/release/bin "
        "probe_record_ratio",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="benchmark, group or figure; default: all that do not require a request",
    )
    parser.add_argument(
        "--bin",
        type=pathlib.Path,
        default=SOURCE / "build/release/bin",
        help="folder of built programs",
    )
    parser.add_argument(
        "--list",
        type=pathlib.Path,
        default=pathlib.Path(__file__).with_name("benches.txt"),
        help="alternative list of benchmarks",
    )
    parser.add_argument(
        "--out", type=pathlib.Path, default=SOURCE / "build/bench.json", help="file for the results"
    )
    parser.add_argument(
        "--repeat", type=int, default=3, help="runs of each program; the median counts (default 3)"
    )
    parser.add_argument("--check", action="store_true", help="only check that the names are known")
    return parser.parse_args()


def main():
    arguments = options()
    try:
        benches = choose(parse(arguments.list), arguments.names)
        if not benches or arguments.repeat < 1:
            raise ValueError(
                f"{arguments.list}: contains no benchmark"
                if not benches
                else "--repeat: at least 1"
            )
    except (OSError, ValueError) as error:
        print(f"run_bench: {error}", file=sys.stderr)
        return 2
    if arguments.check:
        return 0
    progress = (
        (lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr))
        if sys.stderr.isatty()
        else lambda text: None
    )
    result = {
        "schema": "netslice-bench-1",
        "context": context(arguments.bin),
        "repeats": arguments.repeat,
        "figures": [],
    }
    for warning in result["context"]["warnings"]:
        print(f"note: {warning}")
    figures_asked = {name for bench in benches for name in bench.figures if name in arguments.names}
    in_table = []
    try:
        for bench in benches:
            for figure in measure(bench, arguments.bin.resolve(), arguments.repeat, progress):
                if (
                    figures_asked
                    and not {bench.name, bench.group} & set(arguments.names)
                    and figure["figure"] not in figures_asked
                ):
                    continue
                result["figures"].append(figure)
                progress("")
                if bench.is_in_table:
                    in_table.append(figure)
                else:
                    print(show(figure), flush=True)
    except KeyboardInterrupt:
        result["interrupted"] = True
    finally:
        progress("")
        for line in table(in_table):
            print(line)
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        partial = arguments.out.with_name(arguments.out.name + ".part")
        partial.write_text(json.dumps(result, indent=1) + "\n")
        partial.replace(arguments.out)
    reported = [figure["verdict"] for figure in result["figures"]]
    print(
        ", ".join(
            f"{reported.count(word)} {word}"
            for word in ("reached", "missed", "failed", "skipped", "measured")
        )
        + f"; {arguments.out}"
    )
    return 1 if "missed" in reported or "failed" in reported or "interrupted" in result else 0


sys.exit(main())
