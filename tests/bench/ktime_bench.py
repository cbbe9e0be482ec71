#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsreport --ktime -> what the terms leave unexplained of the gap between bpf_ktime_get_ns() and
the kernel's run statistics, in ns of a packet, with the bar of each number of checksums: 20 ns, or
5 % of the gap if that is more.  KTIME_RUNS: runs in each of the 4 executions, instead of 150."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

RUNS = 150  # in each of 4 executions
ABSOLUTE_NS, RELATIVE = 20.0, 0.05
NO_TOOL, SKIP = 5, 77


def measured(nsreport, folder):
    """terms.json of a new report."""
    command = [nsreport, "--ktime", "--runs", os.environ.get("KTIME_RUNS", str(RUNS))]
    done = subprocess.run([*command, "-o", folder], stderr=subprocess.PIPE, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode == NO_TOOL:
        sys.exit(SKIP)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads((folder / "data/terms.json").read_text())


def by_number(rows, packets):
    """checksums -> term -> (ns, half width)"""
    found = collections.defaultdict(dict)
    for row in rows:
        if row["packets"] == packets:
            found[row["checksums"]][row["term"]] = row["ns"], row["half_width_ns"]
    return found


def lines(terms):
    return [f"{name:16} {ns:8.1f} ± {half:5.1f} ns" for name, (ns, half) in terms.items()]


def figure(name, terms):
    gap_ns, left = terms["gap"][0], terms["unexplained"]
    return {
        "figure": name,
        "value": abs(left[0]),
        "unit": "ns",
        "bar": max(ABSOLUTE_NS, RELATIVE * gap_ns),
        "sense": "at most",
        "raw": {term: ns for term, (ns, _) in terms.items()},
        "lines": lines(terms),
        "note": f"± {left[1]:.0f} ns; of a gap of {gap_ns:.0f} ns at packet 1, trimmed means",
    }


def main():
    with tempfile.TemporaryDirectory() as temporary:
        rows = measured(sys.argv[1], pathlib.Path(temporary) / "report")
    for number, terms in by_number(rows, "packet 1").items():
        print(json.dumps(figure(f"ktime_unexplained_{number}_ns", terms)), flush=True)


if __name__ == "__main__":
    main()
