#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `nsdump top` costs mapid: packets per second of its packet thread's CPU time while it is
watched, relative to one that nothing is attached to, and to one that `nsdump record` records."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import mapid_probes_bench
from big_capture import big_capture, load

ROUNDS = int(os.environ.get("TOP_ROUNDS", mapid_probes_bench.ROUNDS))  # with each process


class Attached(mapid_probes_bench.Measured):
    """A mapid with an nsdump beside it that is attached for the whole run."""

    def __init__(self, mapid, program, capture, *nsdump):
        super().__init__(mapid, program, capture, NETSLICE="attach=yes")
        self.output = tempfile.TemporaryFile("w+")
        self.nsdump = subprocess.Popen(
            [*nsdump, "--pid", str(self.daemon.process.pid)],
            stdout=self.output,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}),
        )
        self.daemon.process.send_signal(signal.SIGCONT)
        if not mapid.wait_until(self.is_attached):
            super().close()
            self.output.seek(0)
            sys.exit(f"{' '.join(nsdump)}: not attached: {self.output.read()}")
        self.daemon.process.send_signal(signal.SIGSTOP)

    def is_attached(self):
        """Either command says something once it has records, and before only if it fails."""
        return self.nsdump.poll() is None and os.fstat(self.output.fileno()).st_size > 0

    def close(self):
        """Returns what nsdump said in the whole run."""
        self.daemon.process.send_signal(signal.SIGCONT)
        has_stayed = self.nsdump.poll() is None
        with contextlib.suppress(ProcessLookupError):
            self.nsdump.send_signal(signal.SIGINT)
        self.nsdump.wait()
        self.output.seek(0)
        said = self.output.read()
        self.output.close()
        super().close()
        if not has_stayed:
            sys.exit(f"nsdump ended before the measurement did: {said}")
        return said


def top_counts(said):
    """(records read, records lost); the last interval is not printed."""
    intervals = [json.loads(line) for line in said.splitlines()]
    return (
        sum(one["records"] for one in intervals),
        sum(sum(one["lost"].values()) for one in intervals),
    )


def record_counts(said):
    drained, issued = map(int, re.search(r"(\d+) records? of (\d+) issued", said).groups())
    return drained, issued - drained


def main():
    mapid_path, nsdump, source, build = sys.argv[1:5]
    if not pathlib.Path("/proc/self/schedstat").exists():
        mapid_probes_bench.skip(
            "this kernel does not report the CPU time of threads (CONFIG_SCHED_INFO)"
        )
    os.environ["NETSLICE_BUILD"] = build
    os.environ["NETSLICE_SOURCE"] = source
    sys.path.insert(0, os.path.join(source, "tests/flow"))
    import mapid  # pylint: disable=import-outside-toplevel

    capture = os.path.abspath(big_capture(source, build))
    load(capture)
    (alone, top, record), (_, top_said, record_said) = mapid_probes_bench.in_turn(
        [
            lambda: mapid_probes_bench.Measured(mapid, mapid_path, capture, NETSLICE="attach=yes"),
            lambda: Attached(mapid, mapid_path, capture, nsdump, "top", "--json"),
            lambda: Attached(
                mapid, mapid_path, capture, nsdump, "record", "--verbose", "-w", "/dev/null"
            ),
        ],
        ROUNDS,
    )
    read, lost = map(sum, zip(*map(top_counts, top_said)))
    recorded, not_recorded = map(sum, zip(*map(record_counts, record_said)))
    if read == 0 or recorded == 0:
        sys.exit("nsdump has no records of mapid")
    counts = {"top_records": read, "top_lost": lost}
    tell = mapid_probes_bench.figure
    tell("nsdump_top_over_none_ratio", 0.98, top, alone, "nsdump top / nothing attached", **counts)
    counts |= {"recorded": recorded, "recorder_lost": not_recorded}
    tell("nsdump_top_over_record_ratio", 0.98, top, record, "nsdump top / nsdump record", **counts)


if __name__ == "__main__":
    main()
