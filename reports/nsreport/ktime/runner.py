# SPDX-License-Identifier: MIT
# ktime-runner -> times of runs, asked for while it runs.
import contextlib
import json
import subprocess
import tempfile

from ..traffic import child
from ..traffic.namespace import RECEIVING, SENDING


def check(programs):
    """Ends the report before anything is made if capabilities or run statistics are missing."""
    command = [programs["ktime-runner"], "--check"]
    with child.started(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        said = process.stderr.read()
        if process.wait() != 0:
            raise child.failed(command, said)


class Runner:
    def __init__(self, process, command, said):
        self._process, self._command, self._said = process, command, said
        self.about = self._line()

    def _line(self):
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        self._said.seek(0)
        raise child.failed(self._command, self._said.read())

    def _ask(self, question):
        with contextlib.suppress(BrokenPipeError):  # it has ended; its message follows
            self._process.stdin.write(f"{question}\n")
            self._process.stdin.flush()
        return self._line()

    def run(self, program, packets=1, before="nothing"):
        """One attachment: run_ns and clock_ns of each packet, sent, others and mode."""
        return self._ask(f"run {program} {packets} {before}")

    def pauses(self):
        return self._ask("pauses")


@contextlib.contextmanager
def opened(programs, cpu, timeout_ms, ends=(SENDING, RECEIVING)):
    """cpu: on which it sends, and on which the softirq of the other end then runs the program."""
    command = [programs["ktime-runner"], *ends, str(timeout_ms)]
    with tempfile.TemporaryFile("w+") as said:
        pipes = {"stdin": subprocess.PIPE, "stderr": said}
        with child.started(command, cpu, **pipes) as process:
            yield Runner(process, command, said)
