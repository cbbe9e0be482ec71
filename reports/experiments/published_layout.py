#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""published_layout.py RESULTS...: result folders of these experiments, in the layout in which the
measurements that they repeat were published, with the published values beside them."""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PLACES = ("../nsreport", "../reports/nsreport")  # in the source tree, and where it is installed
PUBLISHED = "papers/published/conductor.json"
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


def published_items():
    """What nsreport papers has of the slides, by id."""
    paths = [HERE / place / PUBLISHED for place in PLACES]
    path = next(filter(pathlib.Path.exists, paths), paths[0])
    document = json.loads(path.read_text(encoding="utf-8"))
    return {item["id"]: item for item in document["items"]}


def implementations(results):
    """What encrypted, as `esp.sh describe` printed it."""
    found = {}
    for one in results.values():
        for path in sorted(one.folder.glob("output/*/*/*/collect-step1.out")):
            for line in path.read_text(errors="replace").splitlines():
                if line.startswith("implementation: ") and not line.endswith("no IPsec"):
                    found[line.removeprefix("implementation: ")] = None
    return list(found)


def cipher_table(item, results):
    """Mbit/s and the daemon's CPU time, each published row below what was measured."""
    table = [["Algorithm", *(title for title, _ in COLUMNS), "CPU ns/byte"]]
    missing = []
    for row in item["rows"]:
        experiment, variant = row["measured_by"]
        found, cost, reason = None, None, "not measured"
        if experiment in results:
            found, reason = results[experiment].summary("throughput", variant)
            cost, _ = results[experiment].summary("daemon_cpu", variant)
        cells = [f"{found[k] / 1e6:.2f}" if found else "-" for _, k in COLUMNS]
        table.append([row["name"], *cells, f"{cost['median']:.2f}" if cost else "-"])
        table.append(["  published", *(f"{value:g}" for value in row["values"]), "-"])
        if not found:
            missing.append(f"{row['name']}: {reason}")
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


def published_samples(item):
    """Each column of the seconds that were printed."""
    for column, about in enumerate(item["columns"]):
        values = ", ".join(f"{row['values'][column]:.10g}" for row in item["rows"])
        yield f"published, {about['name']}: {values} {about['unit']}"


def main(folders):
    published = published_items()
    results = {one.name: one for one in map(Results, folders)}
    kinds = {name.split("_")[0] for name in results}
    parts = (
        ("Baseline TCP Measurement", "baseline-tcp", {"tcp"}, tcp_lines),
        ("Baseline pkt-gen Measurement", "baseline-packets", {"packets"}, packet_lines),
    )
    for title, item, wanted, lines in parts:
        if kinds & wanted:
            chosen = {n: r for n, r in results.items() if n.split("_")[0] in wanted}
            print("\n".join([title, *lines(chosen), *published_samples(published[item]), ""]))
    if kinds & {"ciphers", "null"}:
        rows = cipher_table(published["ciphers"], results)
        print("\n".join(["Overall Picture, Mbit/s", *rows]))
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
