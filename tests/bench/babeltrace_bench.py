#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events per second of one CPU: `nsdump stats` on a trace, and babeltrace2 counting the events of
the same trace as CTF.  Both are files of a file system, as a user's are, in the page cache."""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

RECORDS = 20_000_000
ROUNDS = 5
OWN_RUNS = 7  # in a round: each is so short that one disturbance doubles it
ONE_CPU = {max(os.sched_getaffinity(0))}
COUNTER = ["-c", "sink.utils.counter", "--params", "hide-zero=no,step=+0"]


def cpu_seconds(command):
    """Of the program on one CPU; its standard output."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: os.sched_setaffinity(0, ONE_CPU),
        )
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{command[0]} ended with status {status}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, out.read().decode(errors="replace")


def main():
    make_trace, nsdump = sys.argv[1:3]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        trace, ctf = os.path.join(folder, "big.nsl"), os.path.join(folder, "ctf")
        subprocess.run(
            [make_trace, trace, "--records", str(RECORDS), "--cpus", "2"],
            check=True,
            stdout=sys.stderr,
        )
        subprocess.run([nsdump, "export", trace, "-q", "--format", "ctf", "-o", ctf], check=True)
        os.sync()  # no writing to the disk beside the measurement
        own, peer = [], []
        for _ in range(ROUNDS):
            runs = [cpu_seconds([nsdump, "stats", "-q", trace])[0] for _ in range(OWN_RUNS)]
            own.append(statistics.median(runs))
            seconds, text = cpu_seconds(["babeltrace2", ctf, *COUNTER])
            peer.append(seconds)
    counted = re.search(r"(\d+) event messages", text.replace(",", ""))
    drained = RECORDS if not counted else int(counted[1])
    ratios = sorted(b / a for a, b in zip(own, peer))
    print(
        json.dumps(
            {
                "figure": "nsdump_stats_over_babeltrace2_ratio",
                "value": ratios[len(ratios) // 2],
                "bar": 50,
                "sense": "at least",
                "unit": "ratio",
                "raw": {"events": drained, "stats_cpu_s": own, "babeltrace2_cpu_s": peer},
                "note": "user + system time on one CPU; babeltrace2 counts messages",
            }
        )
    )


if __name__ == "__main__":
    main()
