#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PKT_COUNTER + BPF_FILTER over a large capture in the page cache, compared with `tcpdump -r F
--count EXPR`, expression by expression."""

import json
import os
import re
import statistics
import subprocess
import sys
import time

from big_capture import big_capture, load

ROUNDS = 5
# expressions to measure again repeatedly: the minimum of thirty noisy medians is below the true
# minimum
SLOWEST = 6
MORE_TIMES = 3
COSTS_FILTER = "tcp"
PCAP_HEADER_BYTES = 24


def timed(command):
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    elapsed_s = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    return elapsed_s, done.stdout


def tcpdump_count(text):
    return int(re.search(r"(\d+) packets?", text).group(1))


class Row:
    """One expression, alternating both programs, so that a change of the machine's speed affects
    both."""

    def __init__(self, mapi_count, capture, expression):
        self.expression = expression
        self.ours_command = [mapi_count, "-r", capture, expression]
        self.theirs_command = ["tcpdump", "-r", capture, "--count", expression]
        self.ours_s, self.theirs_s = [], []
        self.our_counts, self.their_counts = set(), set()

    def run(self):
        for _ in range(ROUNDS):
            elapsed_s, text = timed(self.ours_command)
            self.ours_s.append(elapsed_s)
            self.our_counts.add(int(text.split("\t")[0]))
            elapsed_s, text = timed(self.theirs_command)
            self.theirs_s.append(elapsed_s)
            self.their_counts.add(tcpdump_count(text))
        return self

    @property
    def ratio(self):
        return statistics.median(theirs / ours for theirs, ours in zip(self.theirs_s, self.ours_s))

    @property
    def differs(self):
        return self.our_counts != self.their_counts

    def raw(self):
        return {
            "expression": self.expression,
            "mapi_s": statistics.median(self.ours_s),
            "tcpdump_s": statistics.median(self.theirs_s),
            "ratio": self.ratio,
            "rounds": len(self.ours_s),
            "mapi_packets": min(self.our_counts),
            "tcpdump_packets": min(self.their_counts),
        }


class Costs:
    """The parts of the time of mapi-count and tcpdump: rows of seconds, medians over rounds that
    measure all rows in turn."""

    FLOORS = ("read() only", "read() and visiting each record", "read() only, two CPUs")

    def __init__(self, mapi_count, read_floor, capture, folder):
        self.read_floor, self.capture = read_floor, capture
        empty = os.path.join(folder, "no-packets.pcap")
        with open(capture, "rb") as whole, open(empty, "wb") as head:
            head.write(whole.read(PCAP_HEADER_BYTES))
        one_cpu = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
        self.commands = {
            "start-up, mapi-count": [mapi_count, "-r", empty, COSTS_FILTER],
            "start-up, tcpdump": ["tcpdump", "-r", empty, "--count", COSTS_FILTER],
            "mapi-count without a filter, one CPU": [*one_cpu, mapi_count, "-r", capture],
            "mapi-count with a filter, one CPU": [
                *one_cpu,
                mapi_count,
                "-r",
                capture,
                COSTS_FILTER,
            ],
            "mapi-count with a filter": [mapi_count, "-r", capture, COSTS_FILTER],
            "tcpdump with a filter": ["tcpdump", "-r", capture, "--count", COSTS_FILTER],
        }
        self.seconds = {name: [] for name in (*self.FLOORS, *self.commands)}

    def run(self):
        for _ in range(ROUNDS):
            for name, line in zip(self.FLOORS, timed([self.read_floor, self.capture])[1].split()):
                self.seconds[name].append(float(line))
            for name, command in self.commands.items():
                self.seconds[name].append(timed(command)[0])
        return self

    def medians(self):
        return {name: statistics.median(all_s) for name, all_s in self.seconds.items()}

    def lines(self, packets):
        medians = self.medians()
        filter_s = (
            medians["mapi-count with a filter, one CPU"]
            - medians["mapi-count without a filter, one CPU"]
        )
        rows = [*medians.items(), ("only the filter, one CPU: the difference", filter_s)]
        return [
            f"{name:42} {seconds * 1e3:8.1f} ms {seconds * 1e9 / packets:8.1f} ns/packet"
            for name, seconds in rows
        ]


def expressions(here):
    with open(os.path.join(here, "filters.txt"), encoding="utf-8") as lines:
        return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def main():
    mapi_count, read_floor, source, build = sys.argv[1:5]
    capture = big_capture(source, build)
    load(capture)
    packets = int(timed([mapi_count, "-r", capture])[1].split("\t")[0])
    rows = [
        Row(mapi_count, capture, e).run()
        for e in expressions(os.path.dirname(os.path.abspath(__file__)))
    ]
    for _ in range(MORE_TIMES):
        for row in sorted(rows, key=lambda row: row.ratio)[:SLOWEST]:
            row.run()
    costs = Costs(mapi_count, read_floor, capture, os.path.dirname(capture)).run()
    ratios = [row.ratio for row in rows]
    raw = {
        "packets": packets,
        "capture_bytes": os.path.getsize(capture),
        "rows": [row.raw() for row in rows],
        "median_ratio": statistics.median(ratios),
        "costs_s": costs.medians(),
    }
    print(
        json.dumps(
            {
                "figure": "mapi_over_tcpdump_ratio",
                "value": min(ratios),
                "bar": 4,
                "sense": "at least",
                "unit": "ratio of packets/s",
                "raw": raw,
                "lines": costs.lines(packets),
                "note": (
                    f"whole processes, the slowest of {len(rows)} expressions; their median ratio "
                    f"is {statistics.median(ratios):.2f}"
                ),
            }
        )
    )
    wrong = [row.expression for row in rows if row.differs]
    print(
        json.dumps(
            {
                "figure": "mapi_tcpdump_count_differences",
                "value": len(wrong),
                "bar": 0,
                "sense": "equal",
                "unit": "expressions",
                "raw": {"expressions": len(rows), "differ": wrong},
                "note": "packets counted for each expression",
            }
        )
    )


if __name__ == "__main__":
    main()
