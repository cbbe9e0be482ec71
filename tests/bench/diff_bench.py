#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump diff on a small program -> in how many pairs of equal runs it shows a difference in time,
and whether it finds 1 % more instructions.

DIFF_PAIRS: pairs of equal runs, instead of 100."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

PAIRS, UNITS = 100, 20_000
STEPPED_PAIRS, STEPPED_UNITS = 10, 20
BASELINE = 4  # runs
EXTRA_STEPS = 1  # of 100
STEP = ("--counters", "instructions", "--source", "step", "--step-every", "1")


class Bench:
    def __init__(self, nsdump, program, folder):
        self.nsdump = nsdump
        self.program = program
        self.folder = folder

    def recorded(self, name, units, extra, *options):
        trace = self.folder / f"{name}.nsl"
        words = [self.nsdump, "record", "-q", "-w", trace, *options, "--"]
        words += [self.program, str(units), str(extra)]
        subprocess.run(words, check=True, stdout=sys.stderr)
        return trace

    def verdicts(self, *words):
        """{(slice, field): verdict}"""
        done = subprocess.run(
            [self.nsdump, "diff", "-q", "--json", *words],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        compared = json.loads(done.stdout)["comparisons"]
        return {(one["slice"], one["field"]): one["verdict"] for one in compared}

    def equal_pairs(self, count):
        """Verdicts on each run and the one after it, and on each run and the ones before it."""
        single, several, before = [], [], []
        for number in range(count + 1):
            trace = self.recorded(f"equal-{number}", UNITS, 0)
            if before:
                single.append(self.verdicts(before[-1], trace))
            if len(before) == BASELINE:
                baseline = ",".join(map(str, before))
                several.append(self.verdicts("--baseline", baseline, trace))
                before.pop(0).unlink()
            before.append(trace)
        return single, several


def shown(all_verdicts):
    words = {"faster", "slower"}
    return sum(bool(words & set(verdicts.values())) for verdicts in all_verdicts)


def not_comparable(all_verdicts):
    return sum("not comparable" in verdicts.values() for verdicts in all_verdicts)


def print_figure(figure, value, unit, bar, sense, raw, note):
    head = {"figure": figure, "value": value, "unit": unit, "bar": bar, "sense": sense}
    print(json.dumps({**head, "raw": raw, "note": note}), flush=True)


def print_equal(bench, count):
    for figure, verdicts, note in zip(
        ("diff_equal_pairs_shown", "diff_equal_runs_and_baseline_shown"),
        bench.equal_pairs(count),
        ("one run on each side", f"a baseline of {BASELINE} runs"),
        strict=True,
    ):
        raw = {"comparisons": len(verdicts), "not_comparable": not_comparable(verdicts)}
        if not verdicts:
            continue
        per_100 = 100 * shown(verdicts) / len(verdicts)
        print_figure(figure, per_100, "of 100", 7, "at most", raw, f"times; {note}")


def print_different(bench):
    found = 0
    for _ in range(STEPPED_PAIRS):
        old = bench.recorded("old", STEPPED_UNITS, 0, *STEP)
        new = bench.recorded("new", STEPPED_UNITS, EXTRA_STEPS, *STEP)
        verdicts = bench.verdicts(old, new)
        found += verdicts[("parse", "instructions")] == "slower" and (
            verdicts[("filter", "instructions")] == "no difference shown"
        )
    print_figure(
        *("diff_1_percent_instructions_found", found, f"of {STEPPED_PAIRS}"),
        *(STEPPED_PAIRS, "at least", {"units": STEPPED_UNITS}),
        "parse has 1 % more instructions, filter has as many; source step",
    )


def main():
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(sys.argv[1], sys.argv[2], pathlib.Path(temporary))
        print_equal(bench, int(os.environ.get("DIFF_PAIRS", PAIRS)))
        print_different(bench)


if __name__ == "__main__":
    main()
