#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PKT_COUNTER + BPF_FILTER over a large capture in the page cache, against `tcpdump -r F --count EXPR`, expression by expression."""
import json
import os
import re
import statistics
import subprocess
import sys
import time

ROUNDS = 5
MBYTES = 1024


def big_capture(source, build):
    """The capture that shared data makes, else the demo capture again and again; kept in the build folder.

    On a disk's file system, not tmpfs: a file's page cache comes in large folios there, and reading tmpfs page by page
    costs both programs twice the time of everything else.
    """
    folder = os.path.join(build, "bench-data")
    path = os.path.join(folder, "big.pcap")
    if os.path.exists(path):
        return path
    os.makedirs(folder, exist_ok=True)
    whole = make_capture(source, path + ".part")
    os.rename(whole, path)
    return path


def make_capture(source, path):
    maker = os.path.join(os.environ.get("NETSLICE_DATA", os.path.join(source, "..", "shared", "data")), "make_big.sh")
    if os.path.exists(maker):
        made = subprocess.run([maker, path, str(MBYTES)], stdout=sys.stderr, check=False)
        if made.returncode == 0:
            return path
    with open(os.path.join(source, "mapi-core/apps/demo/demo.pcap"), "rb") as demo:
        header, packets = demo.read(24), demo.read()
    with open(path, "wb") as out:
        out.write(header)
        for _ in range(MBYTES * 1024 * 1024 // len(packets)):
            out.write(packets)
    return path


def timed(command):
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    elapsed_s = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    return elapsed_s, done.stdout


def tcpdump_count(text):
    return int(re.search(r"(\d+) packets?", text).group(1))


def compare(mapi_count, capture, expression):
    """Runs in turn, so that a change of the machine's speed meets both."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        elapsed_s, text = timed([mapi_count, capture, expression])
        ours.append(elapsed_s)
        our_count = int(text.split("\t")[0])
        elapsed_s, text = timed(["tcpdump", "-r", capture, "--count", expression])
        theirs.append(elapsed_s)
        their_count = tcpdump_count(text)
    return {"expression": expression, "mapi_s": statistics.median(ours), "tcpdump_s": statistics.median(theirs),
            "ratio": statistics.median(t / o for t, o in zip(theirs, ours)),
            "mapi_packets": our_count, "tcpdump_packets": their_count}


def expressions(here):
    with open(os.path.join(here, "filters.txt"), encoding="utf-8") as lines:
        return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def main():
    mapi_count, source, build = sys.argv[1:4]
    capture = big_capture(source, build)
    packets = int(timed([mapi_count, capture])[1].split("\t")[0])
    rows = [compare(mapi_count, capture, e) for e in expressions(os.path.dirname(os.path.abspath(__file__)))]
    size = os.path.getsize(capture)
    ratios = [row["ratio"] for row in rows]
    raw = {"packets": packets, "capture_bytes": size, "rows": rows, "median_ratio": statistics.median(ratios)}
    print(json.dumps({"figure": "mapi_over_tcpdump_ratio", "value": min(ratios), "bar": 3, "sense": "at least",
                      "unit": "ratio of packets/s", "raw": raw,
                      "note": f"whole processes, the slowest of {len(rows)} expressions; their median ratio is "
                              f"{statistics.median(ratios):.2f}"}))
    wrong = [row["expression"] for row in rows if row["mapi_packets"] != row["tcpdump_packets"]]
    print(json.dumps({"figure": "mapi_tcpdump_count_differences", "value": len(wrong), "bar": 0, "sense": "equal",
                      "unit": "expressions", "raw": {"expressions": len(rows), "differ": wrong},
                      "note": "packets counted for each expression"}))


if __name__ == "__main__":
    main()
