#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records per second and memory of `nsdump stats` on traces in the page cache: four names and two
threads, 10,000 names in 1,000 threads, the same with slices of 10 ns to 10 s, where each name
fills a wide histogram, and the same with random thinning, with these names inside three others."""

import json
import os
import re
import subprocess
import sys
import tempfile

RECORDS = 100_000_000
MANY_RECORDS = 50_000_000
WIDE_RECORDS = 20_000_000
THINNED_RECORDS = 20_000_000
# on each of two CPUs; each thread uses all of them
MANY = ["--threads", "500", "--sites", "10000", "--share-sites"]


def measure(make_trace, nsdump, folder, records, options):
    """Drained records, the raw figures of three runs, and the median run's CPU seconds."""
    with tempfile.TemporaryDirectory(dir=folder) as temp:
        trace = os.path.join(temp, "big.nsl")
        subprocess.run(
            [make_trace, trace, "--records", str(records), "--cpus", "2", *options],
            check=True,
            stdout=sys.stderr,
        )
        seconds, peak_kib = [], []
        for _ in range(3):
            process = subprocess.Popen([nsdump, "stats", "--all", trace], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            if status != 0:
                sys.exit(f"nsdump stats ended with status {status}")
            seconds.append(usage.ru_utime + usage.ru_stime)
            peak_kib.append(usage.ru_maxrss)
        head = subprocess.run(
            [nsdump, "stats", "--all", trace], check=True, capture_output=True, text=True
        ).stdout
        read = re.search(r"^trace .* (\d+) bytes, (\d+) records", head)
    seconds.sort()
    return {
        "records": int(read[2]),
        "cpu_s": seconds,
        "trace_bytes": int(read[1]),
        "peak_kib": peak_kib,
    }


def tell_rate(name, of, raw, bar):
    rate = raw["records"] / raw["cpu_s"][len(raw["cpu_s"]) // 2] / 1e6
    print(
        json.dumps(
            {
                "figure": f"nsdump_stats{name}_mrecords_per_s",
                "value": rate,
                "bar": bar,
                "sense": "at least",
                "unit": "million records/s",
                "raw": raw,
                "note": f"{of}; user + system time of one thread, file on tmpfs",
            }
        )
    )


def tell_memory(name, of, raw, bar):
    print(
        json.dumps(
            {
                "figure": f"nsdump_stats{name}_resident_mbytes",
                "value": max(raw["peak_kib"]) / 1024,
                "bar": bar,
                "sense": "below",
                "unit": "MB",
                "raw": raw,
                "note": f"{of}; peak resident memory of the same runs",
            }
        )
    )


def main():
    make_trace, nsdump = sys.argv[1:3]
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    of, raw = "four names, two threads", measure(make_trace, nsdump, folder, RECORDS, [])
    tell_rate("", of, raw, 30)
    tell_memory("", of, raw, 100)
    of, raw = (
        "10,000 names in 1,000 threads",
        measure(make_trace, nsdump, folder, MANY_RECORDS, MANY),
    )
    tell_rate("_many_names", of, raw, 20)
    tell_memory("_many_names", of, raw, 150)
    of, raw = (
        "the same with slices of 10 ns to 10 s",
        measure(make_trace, nsdump, folder, WIDE_RECORDS, [*MANY, "--wide"]),
    )
    tell_memory("_wide", of, raw, 150)
    of, raw = (
        "10,000 names in 1,000 threads with random thinning",
        measure(make_trace, nsdump, folder, THINNED_RECORDS, [*MANY, "--thinned"]),
    )
    tell_rate("_thinned", of, raw, 3)
    tell_memory("_thinned", of, raw, 150)


if __name__ == "__main__":
    main()
