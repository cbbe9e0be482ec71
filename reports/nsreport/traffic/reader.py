# SPDX-License-Identifier: MIT
# mapi-reader -> counts and CPU time of one way to read packets, asked for while it runs.
import contextlib
import json
import subprocess
import tempfile
import time

from . import child

IDLE_S = 0.2
# Of each method and kind of device, unless mapi.conf changes it, which has no part here.
BUFFERS = {
    "xdp": "16 MiB for all CPUs together",
    "mapi": "64 MiB",
    "read": "32 MiB asked of the socket",
    "mmap": "32 MiB",
}


def buffer_of(method, device):
    return BUFFERS["xdp" if device.startswith("xdp:") else method]


class Reader:
    def __init__(self, process, command, said):
        self.process, self._command, self._said = process, command, said
        self.about = self._line()
        self.idle_share = 0.0  # of a CPU, which it uses without packets

    def _line(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self._said.seek(0)
        raise child.failed(self._command, self._said.read())

    def counts(self, question=""):
        """received, dropped, cpu_ns and instructions, since it began; "matched" also returns that,
        which takes longer."""
        try:
            self.process.stdin.write(f"{question}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; its message follows
        return self._line()

    def connect(self, number):
        """So many flows in all, of a reader that grows."""
        self.about["place"] = self.counts(str(number))["place"]

    def measure_idle(self, clock=time.monotonic, sleep=time.sleep):
        """Called before packets are sent: readers wake up from time to time to look."""
        begin_s, begin = clock(), self.counts()
        sleep(IDLE_S)
        end = self.counts()
        self.idle_share = (end["cpu_ns"] - begin["cpu_ns"]) / 1e9 / (clock() - begin_s)

    def turn_statistics_on(self):
        """The kernel measures each run of a BPF program until this reader ends -> why it does
        not, or nothing."""
        return self.counts("statistics").get("run_statistics", "mapi-reader is too old")


@contextlib.contextmanager
def opened(programs, words, cpu):
    """words: the method, the device and the work, as mapi-reader takes them."""
    command = [programs["mapi-reader"], *words]
    with tempfile.NamedTemporaryFile("w+") as empty, tempfile.TemporaryFile("w+") as said:
        # neither a running mapid nor the machine's mapi.conf has a part in the measurement
        environment = {"MAPI_SOCKET": "none", "MAPI_CONF": empty.name}
        pipes = {"stdin": subprocess.PIPE, "stderr": said}
        with child.started(command, cpu, environment, **pipes) as process:
            yield Reader(process, command, said)
