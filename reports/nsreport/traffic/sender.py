# SPDX-License-Identifier: MIT
# mapi-gen -> packets sent, refused and the CPU time for them.
import json
import os
import subprocess
import tempfile

from . import child
from .namespace import SENDING


class Sender:
    """Sends from one CPU, on which the receiving end's softirq also runs: a veth pair has no
    hardware between its ends."""

    def __init__(self, programs, cpu):
        self.path, self.cpu = programs["mapi-gen"], cpu
        self.method = None  # that of the first measurement, for all

    def command(self, packets, rate=None, seconds=None, bit_rate=None):
        """packets: a frame size with its checksum, or the path of a capture."""
        words = [self.path, "--cpus", str(self.cpu), "--json", "--quiet"]
        words += ["--method", self.method] if self.method else []
        words += ["--capture", packets] if isinstance(packets, str) else ["--size", str(packets)]
        words += ["--rate", str(rate)] if rate else []
        words += ["--bit-rate", str(bit_rate)] if bit_rate else []
        words += ["--duration", f"{seconds:g}"] if seconds else []
        return [*words, SENDING]

    def send(self, packets, **options):
        """The object that mapi-gen prints, with its cpu_s."""
        command = self.command(packets, **options)
        with tempfile.TemporaryFile("w+") as said:
            with child.started(command, stdin=subprocess.DEVNULL, stderr=said) as process:
                text = process.stdout.read()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            sent = _object(text)
            if sent is None:
                raise child.failed(command, said.read())
        self.method = sent["method"]
        return {**sent, "cpu_s": usage.ru_utime + usage.ru_stime}


_KEYS = ("method", "packets", "bytes", "refused", "dropped", "seconds", "behind")


def _object(text):
    lines = text.strip().splitlines()
    try:
        sent = json.loads(lines[-1])
        return {key: sent[key] for key in _KEYS}
    except (IndexError, ValueError, KeyError, TypeError):
        return None
