# SPDX-License-Identifier: MIT
# mapi-impair -> what the node did to the packets, by its log.
import contextlib
import json
import os
import signal
import statistics
import subprocess
import tempfile

from ..errors import EXIT_TOOL, ReportError
from ..traffic import child

NS_PER_MS = 1e6
_READY = "forwards between"


class Node:
    def __init__(self, process, command, log_path):
        self._process, self._command, self._log_path = process, command, log_path

    def end(self):
        """What it did to forward packets."""
        self._process.send_signal(signal.SIGINT)
        said = self._process.stderr.read()
        if self._process.wait() != 0:
            raise child.failed(self._command, said)
        with open(self._log_path, encoding="utf-8") as lines:
            return summary(lines)


def summary(lines):
    """Lines of the log -> counts, and delays in milliseconds by the clock of captures."""
    delays, end = [], None
    for line in lines:
        record = json.loads(line)
        if record["type"] == "end":
            end = record["forward"]
        elif record["type"] == "packet" and record["direction"] == "forward" and record["copies"]:
            delays.append((record["out_ns"] - record["in_ns"]) / NS_PER_MS)
    if end is None:
        raise ReportError(EXIT_TOOL, "mapi-impair: its log has no end (measure again)")
    counts = ("packets", "sent", "lost", "full", "refused", "unsent", "too_long", "missed")
    return {
        **{key: end[key] for key in counts},
        "delay_ms": statistics.fmean(delays) if delays else None,
        "delay_p50_ms": statistics.median(delays) if delays else None,
        "late_ms": end["mean_late_ns"] / NS_PER_MS,
        "most_late_ms": end["most_late_ns"] / NS_PER_MS,
    }


@contextlib.contextmanager
def started(programs, ends, impairment, seed, cpu):
    """Forwards from the first interface to the second; the other direction is not impaired."""
    with tempfile.TemporaryDirectory() as folder:
        log_path = os.path.join(folder, "log.jsonl")
        command = [
            programs["mapi-impair"],
            *impairment,
            "--direction",
            "forward",
            "--priority",
            "1",
        ]
        command += ["--seed", str(seed), "--log", log_path, "--json", *ends]
        pipes = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        with child.started(command, cpu, **pipes) as process:
            line = process.stderr.readline()
            if _READY not in line:
                raise child.failed(command, line)
            yield Node(process, command, log_path)
