#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""published_layout.py RESULTS...: result folders of these experiments, in the layout in which the
measurements that they repeat were published, with the published values beside them."""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = (
    ("Min", "min"),
    ("Max", "max"),
    ("Median", "median"),
    ("Avg", "mean"),
    ("Stddev", "stddev"),
)
GIGABYTE = 1 << 30  # iperf3's GBytes


class Results:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.document = json.loads((self.folder / "results.json").read_text(encoding="utf-8"))
        self.name = self.document["experiment"]

    def summary(self, value, variant):
        """Statistics of a value, or the reason why there are none."""
        variants = self.document["values"].get(value, {}).get("variants", {})
        if variants.get(variant, {}).get("samples"):
            return variants[variant], ""
        causes = [f["failure"] for f in self.document["failures"] if f["variant"] == variant]
        return None, causes[0].split("; ")[0] if causes else f"no variant {variant}"

    def outputs(self, player, variant, step):
        """Texts that a step printed, by round; those of warm-ups are in other folders."""
        paths = self.folder.glob(f"output/*/{variant}/{player}/{step}.out")
        return [p.read_text(errors="replace") for p in sorted(paths, key=lambda p: len(str(p)))]


def aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))
        yield "  ".join([row[0].ljust(widths[0]), *rest]).rstrip()


def by_section(published):
    sections = {}
    for row in published["rows"]:
        sections.setdefault(row["section"], []).append(row)
    return sections


def implementations(results):
    """What encrypted, as `esp.sh describe` printed it."""
    found = {}
    for one in results.values():
        for path in sorted(one.folder.glob("output/*/*/*/collect-step1.out")):
            for line in path.read_text(errors="replace").splitlines():
                if line.startswith("implementation: ") and not line.endswith("no IPsec"):
                    found[line.removeprefix("implementation: ")] = None
    return list(found)


def cipher_table(rows, results):
    """Mbit/s and the daemon's CPU time, each published row below what was measured."""
    table = [["Algorithm", *(title for title, _ in COLUMNS), "CPU ns/byte"]]
    missing = []
    for row in rows:
        place = row["measured_by"]
        found, cost, reason = None, None, "not measured"
        if place["experiment"] in results:
            one = results[place["experiment"]]
            found, reason = one.summary(place["value"], place["variant"])
            cost, _ = one.summary("daemon_cpu", place["variant"])
        cells = [f"{found[k] / 1e6:.2f}" if found else "-" for _, k in COLUMNS]
        table.append([row["row"], *cells, f"{cost['median']:.2f}" if cost else "-"])
        table.append(["  published", *(f"{row['values'][key]:g}" for _, key in COLUMNS), "-"])
        if not found:
            missing.append(f"{row['row']}: {reason}")
    head = " / ".join(implementations(results)) or "nothing measured"
    return [f"ESP: {head}", *aligned(table), *missing]


def tcp_lines(results):
    """iperf3's line for each second, of the last round."""
    for name, one in results.items():
        for variant in one.document["values"]["throughput"]["variants"]:
            outputs = one.outputs("source", variant, "run-step1")
            if not name.startswith("tcp_") or not outputs:
                continue
            yield f"{name}, {variant}"
            for interval in json.loads(outputs[-1])["intervals"]:
                s = interval["sum"]
                yield (
                    f"{s['start']:.2f}-{s['end']:.2f}\tsec\t{s['bytes'] / GIGABYTE:.2f}\tGBytes"
                    f"\t{s['bits_per_second'] / 1e9:.2f}\tGbits/sec"
                )


def packet_lines(results):
    """Packets per second as sink.py printed them, and both ends' means, of the last round."""
    for name, one in results.items():
        for variant in one.document["values"]["received"]["variants"]:
            outputs = one.outputs("sink", variant, "startup-spawn1")
            if not name.startswith("packets_") or not outputs:
                continue
            yield f"{name}, {variant}, sink"
            yield from (line for line in outputs[-1].splitlines() if line.endswith(" pps"))
            for value in "sent", "received":
                found, reason = one.summary(value, variant)
                yield f"{value}: median {found['median']:.0f} pps" if found else reason


def published_samples(rows):
    for row in rows:
        values = ", ".join(f"{value:.10g}" for value in row["values"]["samples"])
        yield f"published, {row['row']}: {values} {row['unit']}"


def main(folders):
    published = json.loads((HERE / "published_004.json").read_text(encoding="utf-8"))
    results = {one.name: one for one in map(Results, folders)}
    sections = by_section(published)
    kinds = {name.split("_")[0] for name in results}
    parts = (
        ("Baseline TCP Measurement", {"tcp"}, tcp_lines),
        ("Baseline pkt-gen Measurement", {"packets"}, packet_lines),
    )
    for title, wanted, lines in parts:
        if kinds & wanted:
            chosen = {n: r for n, r in results.items() if n.split("_")[0] in wanted}
            print("\n".join([title, *lines(chosen), *published_samples(sections[title]), ""]))
    if kinds & {"ciphers", "null"}:
        title = "Overall Picture"
        print("\n".join([f"{title}, Mbit/s", *cipher_table(sections[title], results)]))
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, ValueError, KeyError) as error:
        print(f"published_layout.py: {error}", file=sys.stderr)
        sys.exit(1)
