#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsconduct on busy loops -> how often it says that two variants differ: identical ones, of which
it may say so in 5 % of all experiments, and ones that differ by 2 %.

CONDUCT_EXPERIMENTS: with identical variants, instead of 200; 0: only those that differ."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

IDENTICAL, ROUNDS, LOOP_S = 200, 10, 0.01
DIFFERENT, LONG_ROUNDS, LONG_LOOP_S = 10, 30, 0.06
EFFECT = 1.02
SKIP = 77
CALIBRATION_STEPS = 50_000_000
VALUES = ("wall", "cpu")

MASTER = """[Test]
trials: {rounds}
warmup: 1
[Clients]
host: host.cfg
[Variants]
first: steps={first}
second: steps={second}
[Values]
wall: host run 1 s seconds
cpu: host run 1 s regex ^([0-9.]+) s
"""


def steps_of_a_second(loop):
    """By the fastest of some short loops."""
    times = []
    for _ in range(7):
        words = [loop, str(CALIBRATION_STEPS)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        times.append(float(done.stdout.split()[0]))
    return CALIBRATION_STEPS / min(times)


class Bench:
    def __init__(self, nsconduct, loop, folder):
        self.nsconduct = nsconduct
        self.loop = loop
        self.folder = folder
        self.loads = []

    def compared(self, name, rounds, steps, effect):
        """A new experiment -> {value: comparison}."""
        master = self.folder / "master.cfg"
        master.write_text(
            MASTER.format(rounds=rounds, first=round(steps), second=round(steps * effect))
        )
        self.folder.joinpath("host.cfg").write_text(f"[Run]\nstep1: {self.loop} ${{steps}}\n")
        out = self.folder / name
        done = subprocess.run(
            [*self.nsconduct, "run", master, "-o", out, "-q"], stderr=subprocess.PIPE, text=True
        )
        sys.stderr.write(done.stderr)
        if done.returncode != 0:
            sys.exit(done.returncode)
        trials = [json.loads(line) for line in (out / "trials.jsonl").read_text().splitlines()]
        self.loads += [trial["load_by_others"] for trial in trials]
        values = json.loads((out / "results.json").read_text())["values"]
        if not values["wall"]["comparisons"]:
            print("nsconduct compares nothing: python3-scipy is missing", file=sys.stderr)
            sys.exit(SKIP)
        return {value: values[value]["comparisons"][0] for value in VALUES}

    def shown(self, name, count, *experiment):
        """Figures of as many experiments: those that show a difference, by value."""
        self.loads, every = [], []
        for number in range(1, count + 1):
            every.append(self.compared(f"{name}-{number}", *experiment))
            shown = ", ".join(f"{value} {every[-1][value]['outcome']}" for value in VALUES)
            print(f"{name}: {number} of {count}: {shown}", file=sys.stderr, flush=True)
        return {
            "experiments": count,
            "shown": {
                value: sum(one[value]["outcome"] == "different" for one in every)
                for value in VALUES
            },
            "relative": {
                value: [round(one[value]["relative"], 5) for one in every] for value in VALUES
            },
            "load_by_others": sum(self.loads) / len(self.loads),
        }


def print_figure(figure, value, unit, bar, sense, raw, note):
    head = {"figure": figure, "value": value, "unit": unit, "bar": bar, "sense": sense}
    print(json.dumps({**head, "raw": raw, "note": note}), flush=True)


def identical(bench, steps_of_a_second):
    count = int(os.environ.get("CONDUCT_EXPERIMENTS", IDENTICAL))
    if count == 0:
        return
    found = bench.shown("identical", count, ROUNDS, LOOP_S * steps_of_a_second, 1)
    del found["relative"]
    for value in VALUES:
        percent = 100 * found["shown"][value] / count
        print_figure(
            *(f"conduct_identical_{value}_off_5_percent", abs(percent - 5), "percent"),
            *(2, "at most", found),
            f"{percent:.1f} % of {count} experiments with identical variants show a difference",
        )


def different(bench, steps_of_a_second):
    steps = LONG_LOOP_S * steps_of_a_second
    found = bench.shown("different", DIFFERENT, LONG_ROUNDS, steps, EFFECT)
    for value in VALUES:
        print_figure(
            *(f"conduct_2_percent_{value}_found", found["shown"][value], f"of {DIFFERENT}"),
            *(9, "at least", {**found, "relative": found["relative"][value]}),
            f"{LONG_ROUNDS} rounds of loops of {1000 * LONG_LOOP_S:.0f} ms; others had "
            f"{100 * found['load_by_others']:.0f} % of the CPUs",
        )


def main():
    nsconduct = ["/usr/bin/python3", "-B", sys.argv[1]]  # which has Debian's packages
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(nsconduct, sys.argv[2], pathlib.Path(temporary))
        steps = steps_of_a_second(bench.loop)
        identical(bench, steps)
        different(bench, steps)


if __name__ == "__main__":
    main()
