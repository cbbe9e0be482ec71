# SPDX-License-Identifier: MIT
# `nscalibrate --memory` -> its checked JSON.
import json
import subprocess
import tempfile

from .. import check
from ..errors import EXIT_INPUT, EXIT_SCHEMA, ReportError, cannot_read, shown
from ..traffic import child, programs

SCHEMA = "netslice-memory-1"
MAKE = "make one with `nscalibrate --memory --json -o FILE`"
MOST_BYTES = 16 << 20

_MEDIAN = {"ticks": "p", "ns": "p", "ns_low": "p", "ns_high": "p", "batches": "n"}
_LATENCY = {"alone": _MEDIAN, "overlapped": _MEDIAN}
SHAPE = {
    "schema": "s",
    "context": {"cpu": "s", "kernel": "s", "virtualised": "s", "date": "s", "cpu_number": "n"},
    "clock": {"source": "s", "hz": "p"},
    "method": {"passes": "n", "chains_overlapped": "n"},
    "caches": [{"level": "n", "bytes": "n", "cpus": "s?", "source": "s"}],
    "page_bytes": "n",
    "huge_share": "w",
    "why_not_huge": "s?",
    "levels": [
        {
            "name": "s",
            "bytes": "n?",
            "measured_bytes": "n",
            "step_bytes": "n?",
            "step_agrees": "b?",
            "small": _LATENCY,
            "huge?": _LATENCY,
        }
    ],
    "small": [{"bytes": "n", **_LATENCY}],
    "huge": [{"bytes": "n", **_LATENCY}],
    "by_page": [{"pages": "n", "alone": _MEDIAN, "page_ns": "x?"}],
    "warnings": ["s"],
    "trusted": "b",
}


def _checked(text, name):
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(EXIT_INPUT, f"{name}: not usable JSON: {error} ({MAKE})") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise ReportError(EXIT_SCHEMA, f"{name}: no schema {SCHEMA} ({MAKE})")
    try:
        return check.check_shape(SHAPE, document)
    except check.ShapeError as error:
        raise ReportError(
            EXIT_SCHEMA, f"{name}: {SCHEMA} {error} (use programs of the same version)"
        ) from error


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(MOST_BYTES)
    except OSError as error:
        raise cannot_read(path, error, MAKE) from error
    return _checked(text, shown(path))


def find(program):
    return programs.find(program, "nscalibrate")


def measured(nscalibrate):
    """Exit code 1 is a measurement with warnings that spoil it; these are in the JSON."""
    command = [nscalibrate, "--memory", "--json"]
    with (
        tempfile.TemporaryFile("w+") as said,
        child.started(command, stdin=subprocess.DEVNULL, stderr=said) as process,
    ):
        text = process.stdout.read()
        if process.wait() not in (0, 1) or not text:
            said.seek(0)
            raise child.failed(command, said.read())
    return _checked(text, "nscalibrate --memory")


def best(level):
    """The latency with huge pages if they were available, else with small ones."""
    return level["huge"] or level["small"]
