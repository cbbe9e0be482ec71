# SPDX-License-Identifier: MIT
# mapi-qos -> packets of observation points in a store, and figures of two points.
import contextlib
import json
import signal
import socket
import subprocess
import tempfile
import time

from ..errors import EXIT_TOOL, ReportError
from ..traffic import child

_READY_S = 60
_SOCKETS = "/proc/thread-self/net/packet"  # of the namespace that this process is in


def listening(interface, path=_SOCKETS):
    """Number of packet sockets that get the interface's packets."""
    index = socket.if_nametoindex(interface)
    with open(path, encoding="ascii") as file:
        lines = [line.split() for line in file][1:]
    return sum(int(line[4]) == index and line[5] == "1" for line in lines)


class Collector:
    """mapi-qos collect at one point."""

    def __init__(self, process, command, said):
        self._process, self._command, self._said = process, command, said

    def end(self):
        self._process.send_signal(signal.SIGINT)
        code = self._process.wait()
        if code not in (0, 1):  # 1: packets were lost, which the report has
            raise self._failed(f"ended with exit code {code}")

    def _failed(self, why):
        """Its last message, or why if it has said nothing."""
        self._said.seek(0)
        return child.failed(self._command, self._said.read().strip() or why)

    def wait_until_listening(self, interface, before):
        end_s = time.monotonic() + _READY_S
        while listening(interface) <= before:
            if self._process.poll() is not None:
                raise self._failed(f"ended with exit code {self._process.returncode}")
            if time.monotonic() > end_s:
                raise self._failed(f"does not read {interface} after {_READY_S} s (try again)")
            time.sleep(0.01)


@contextlib.contextmanager
def collecting(programs, interface, store, rate):
    """A point named as its interface."""
    command = [programs["mapi-qos"], "collect", "-i", interface, "--point", interface]
    command += ["--store", store, "--rate", f"{rate:g}%"]
    with tempfile.NamedTemporaryFile("w") as empty, tempfile.TemporaryFile("w+") as said:
        environment = {"MAPI_SOCKET": "none", "MAPI_CONF": empty.name}
        before = listening(interface)
        pipes = {"stdin": subprocess.DEVNULL, "stderr": said}
        with child.started(command, None, environment, **pipes) as process:
            one = Collector(process, command, said)
            one.wait_until_listening(interface, before)
            yield one


def report(programs, store, first, second, rate):
    """What mapi-qos reports of the packets selected at this rate, in percent."""
    command = [programs["mapi-qos"], "report", "--store", store, "--from", first, "--to", second]
    command += ["--rate", f"{rate:g}%", "--one-way", "--synchronised", "--json", "--quiet"]
    with tempfile.TemporaryFile("w+") as said:
        with child.started(command, stdin=subprocess.DEVNULL, stderr=said) as process:
            text = process.stdout.read()
            process.wait()
        said.seek(0)
        return _figures_of(command, text, said.read(), rate)


def _figures_of(command, text, said, rate):
    try:
        return figures(json.loads(text), rate)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        if said.strip():
            raise child.failed(command, said) from error
        raise ReportError(
            EXIT_TOOL, f"mapi-qos report: unexpected output: {type(error).__name__}: {error}"
        ) from error


def figures(document, rate):
    """The JSON of `mapi-qos report` -> what is kept of it."""
    path = document["paths"][0]
    delay = path["delay_ms"] or {}
    kept = ("sent", "received", "lost", "loss", "loss_ci95", "duplicates", "reordered", "jitter_ms")
    return {
        "rate": rate,
        **{key: path[key] for key in kept},
        "delay_ms": delay.get("mean"),
        "delay_ci95_ms": delay.get("mean_ci95"),
        "delay_p50_ms": delay.get("p50"),
        "collided": document["digests"]["collided_packets"],
        "points": {
            one["name"]: {key: one[key] for key in ("packets", "selected", "lost", "unread")}
            for one in document["points"]
        },
    }
