#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A trace of 20 GB: the memory of `nsdump stats`, and how long `nsdump show --unit` takes."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

RECORDS_PER_GBYTE = 60_000_000
GBYTES = 20
UNITS = 5
RECORDS_PER_NUMBER = 110  # make_trace: 102; each of both CPUs has a unit of each number


def tell(figure, value, bar, unit, raw, note):
    print(
        json.dumps(
            {
                "figure": figure,
                "value": value,
                "bar": bar,
                "sense": "below",
                "unit": unit,
                "raw": raw,
                "note": note,
            }
        )
    )


def main():
    make_trace, nsdump = sys.argv[1:3]
    root = os.environ.get("NETSLICE_BIG", "/var/tmp")
    if shutil.disk_usage(root).free < (GBYTES + 5) * 1_000_000_000:
        print(f"{root} has no room for {GBYTES} GB (NETSLICE_BIG=FOLDER)", file=sys.stderr)
        sys.exit(77)
    with tempfile.TemporaryDirectory(dir=root) as folder:
        trace = os.path.join(folder, "big.nsl")
        records = RECORDS_PER_GBYTE * GBYTES
        subprocess.run(
            [make_trace, trace, "--records", str(records), "--cpus", "2"],
            check=True,
            stdout=sys.stderr,
        )
        started = time.monotonic()
        process = subprocess.Popen([nsdump, "stats", "-q", trace], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"nsdump stats ended with status {status}")
        raw = {
            "trace_bytes": os.path.getsize(trace),
            "stats_s": time.monotonic() - started,
            "stats_cpu_s": usage.ru_utime + usage.ru_stime,
        }
        tell(
            "nsdump_20_gbytes_stats_resident_mbytes",
            usage.ru_maxrss / 1024,
            200,
            "MB",
            raw,
            "peak resident memory",
        )
        seconds = []
        for part in range(UNITS + 1):  # the first one also makes the index, if it is not there
            number = records // RECORDS_PER_NUMBER * part // UNITS
            started = time.monotonic()
            shown = subprocess.run(
                [nsdump, "show", "-q", trace, "--unit", str(number)],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            seconds.append(time.monotonic() - started)
            if not re.search(r"INIT", shown):
                sys.exit(f"unit {number} was not found")
        tell(
            "nsdump_20_gbytes_unit_s",
            max(seconds[1:]),
            1,
            "s",
            {"first_s": seconds[0], "next_s": seconds[1:]},
            "the slowest of 5 units over the trace, after a first one that makes the index",
        )


if __name__ == "__main__":
    main()
