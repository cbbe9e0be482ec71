# SPDX-License-Identifier: MIT
# Programs that a measurement runs -> their output; none stays behind.
import contextlib
import os
import subprocess

from .. import signals
from ..errors import EXIT_TOOL, ReportError, shown


def failed(command, said):
    """The last line of its message."""
    name = os.path.basename(command[0])
    lines = [line for line in said.splitlines() if line.strip()] or ["no message"]
    line = lines[-1].removeprefix(f"{name}: ")
    return ReportError(EXIT_TOOL, f"{name}: {shown(line)[:400]}")


@contextlib.contextmanager
def started(command, cpu=None, environment=None, **options):
    """The process, pinned to a CPU; killed at the end of the block if it still runs.  environment:
    variables to add."""
    pin = None if cpu is None else lambda: os.sched_setaffinity(0, {cpu})
    process = None
    try:
        with signals.held():
            try:
                process = subprocess.Popen(
                    command,
                    text=True,
                    errors="replace",
                    env={**os.environ, **(environment or {})},
                    stdout=subprocess.PIPE,
                    preexec_fn=pin,
                    **options,
                )
            except OSError as error:
                raise failed(command, f"cannot run: {error.strerror}") from error
        yield process
    finally:
        if process:
            with signals.held():
                if process.returncode is None:
                    process.kill()
                    process.wait()
                for pipe in (process.stdin, process.stdout):
                    if pipe:
                        with contextlib.suppress(OSError):
                            pipe.close()
