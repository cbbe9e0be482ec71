#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a second, and memory, of `nsdump stats` on a trace of 100 million records in the page cache."""
import json
import os
import subprocess
import sys
import tempfile

RECORDS = 100_000_000



def main():
    make_trace, nsdump = sys.argv[1:3]
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=folder) as temp:
        trace = os.path.join(temp, "big.nsl")
        subprocess.run([make_trace, trace, "--records", str(RECORDS), "--cpus", "2"], check=True,
                       stdout=sys.stderr)
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
    drained = info["losses"]["drained"]
    seconds.sort()
    cpu_s = seconds[len(seconds) // 2]
    raw = {"records": drained, "cpu_s": seconds, "trace_bytes": info["trace"]["bytes"], "peak_kib": peak_kib}
    print(json.dumps({"figure": "nsdump_stats_mrecords_per_s", "value": drained / cpu_s / 1e6, "bar": 30,
                      "sense": "at least", "unit": "million records/s", "raw": raw,
                      "note": "user + system time of one thread, file on tmpfs"}))
    print(json.dumps({"figure": "nsdump_stats_resident_mbytes", "value": max(peak_kib) / 1024, "bar": 100,
                      "sense": "below", "unit": "MB", "raw": raw, "note": "peak resident memory of the same runs"}))


if __name__ == "__main__":
    main()
