# SPDX-License-Identifier: MIT
"""Statistics and slices of an example's trace -> exit 1 unless they are all that it does."""

import collections
import csv
import json
import sys

# Name of the run -> slices, units as (units, packets, bytes), marks, records.
EXPECTED = {
    "packet_loop": (
        {"filter": 10000, "checksum": 10000},
        {"batch": (10000, 320000, 81920000)},
        {"kept": 10000},
        70000,
    ),
    "scoped": (
        {"parse": 10000, "handler:odd": 4000, "handler:even": 4000},
        {"packet": (10000, 10000, 340000)},
        {},
        56000,
    ),
    "handlers": (
        {"parse": 10000, "handler:dns": 4000, "handler:http": 4000},
        {"packet": (10000, 10000, 340000)},
        {},
        56000,
    ),
    "plugin": ({"load": 3, "decode": 3000}, {"packet": (3000, 3000, 384000)}, {}, 12006),
}


def found(stats):
    # The scheduler may have migrated the thread inside a slice.
    slices = {one["name"]: one["count"] + one["migrated"] for one in stats["slices"]}
    units = {one["name"]: (one["units"], one["packets"], one["bytes"]) for one in stats["units"]}
    marks = {one["name"]: one["count"] for one in stats["marks"]}
    return slices, units, marks, stats["trace"]["records"]


def main():
    name, stats_path, slices_path = sys.argv[1:]
    with open(stats_path, encoding="utf-8") as file:
        stats = json.load(file)
    with open(slices_path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if found(stats) != EXPECTED[name]:
        sys.exit(f"{name}: {found(stats)}, not {EXPECTED[name]}")
    losses = stats["losses"]
    is_complete = losses["equation_holds"] and not any(losses["lost"].values())
    if not is_complete or stats["trace"]["end"] != "closed":
        sys.exit(f"{name}: incomplete: {losses}, end {stats['trace']['end']}")
    exported = dict(collections.Counter(row["name"] for row in rows))
    if exported != EXPECTED[name][0]:
        sys.exit(f"{name}: exported slices {exported}, not {EXPECTED[name][0]}")


main()
