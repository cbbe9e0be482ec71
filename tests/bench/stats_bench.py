#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a second, and memory, of `nsdump stats` on traces in the page cache: four names and two threads, and 10,000 names in 1,000 threads."""
import json
import os
import subprocess
import sys
import tempfile

RECORDS = 100_000_000
MANY_RECORDS = 50_000_000
MANY = ["--threads", "500", "--sites", "10000", "--share-sites"]  # on each of two CPUs; any thread runs any of them


def measure(make_trace, nsdump, folder, records, options):
    """Drained records, the raw figures of three runs, and the middle one's CPU seconds."""
    with tempfile.TemporaryDirectory(dir=folder) as temp:
        trace = os.path.join(temp, "big.nsl")
        subprocess.run([make_trace, trace, "--records", str(records), "--cpus", "2", *options], check=True, stdout=sys.stderr)
        seconds, peak_kib = [], []
        for _ in range(3):
            process = subprocess.Popen([nsdump, "stats", trace], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            if status != 0:
                sys.exit(f"nsdump stats ended with status {status}")
            seconds.append(usage.ru_utime + usage.ru_stime)
            peak_kib.append(usage.ru_maxrss)
        info = json.loads(subprocess.run([nsdump, "export", trace, "--what", "stats", "--format", "json"],
                                         check=True, capture_output=True).stdout)
    seconds.sort()
    return {"records": info["losses"]["drained"], "cpu_s": seconds, "trace_bytes": info["trace"]["bytes"], "peak_kib": peak_kib}


def tell(name, of, raw, rate_bar, memory_bar):
    rate = raw["records"] / raw["cpu_s"][len(raw["cpu_s"]) // 2] / 1e6
    print(json.dumps({"figure": f"nsdump_stats{name}_mrecords_per_s", "value": rate, "bar": rate_bar, "sense": "at least",
                      "unit": "million records/s", "raw": raw, "note": f"{of}; user + system time of one thread, file on tmpfs"}))
    print(json.dumps({"figure": f"nsdump_stats{name}_resident_mbytes", "value": max(raw["peak_kib"]) / 1024, "bar": memory_bar, "sense": "below",
                      "unit": "MB", "raw": raw, "note": f"{of}; peak resident memory of the same runs"}))


def main():
    make_trace, nsdump = sys.argv[1:3]
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    tell("", "four names, two threads", measure(make_trace, nsdump, folder, RECORDS, []), 30, 100)
    tell("_many_names", "10,000 names in 1,000 threads", measure(make_trace, nsdump, folder, MANY_RECORDS, MANY), 20, 150)


if __name__ == "__main__":
    main()
