# SPDX-License-Identifier: MIT
# A command of a part -> its end; an interrupt lets it leave the machine as it was.
import contextlib
import ctypes
import os
import signal
import subprocess
import time

from .. import signals
from ..errors import EXIT_TOOL, ReportError, shown

_LOOK_S = 0.1
_LEAVE_S = 30  # to unload modules and remove namespaces
_PARENT_DEATH = 1  # PR_SET_PDEATHSIG
_prctl = ctypes.CDLL(None).prctl  # before a child that may call nothing else


def run(command, beside, said_path, tick):
    """Exit code.  beside: folder of programs that come first in PATH.  tick is called again and
    again while it runs; standard error goes to a file."""
    environment = {**os.environ, **(command.environment or {})}
    environment["PATH"] = f"{beside}:{environment.get('PATH', '/usr/bin:/bin')}"
    process = None
    with open(said_path, "wb") as said:
        try:
            with signals.held():
                process = subprocess.Popen(
                    command.words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=said,
                    env=environment,
                    start_new_session=True,
                    preexec_fn=_leave_with_parent,
                )
            while process.poll() is None:
                tick()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_S)
            return process.returncode
        except OSError as error:
            raise ReportError(
                EXIT_TOOL, f"{command.words[0]}: cannot run: {error.strerror or error}"
            ) from error
        finally:
            if process:
                with signals.held():
                    _end(process)


def _leave_with_parent():
    """Also if this process is killed."""
    _prctl(_PARENT_DEATH, signal.SIGINT, 0, 0, 0)


def _end(process):
    """SIGINT, as from a terminal; SIGKILL for it and its children if it stays."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        end_s = time.monotonic() + _LEAVE_S
        while process.poll() is None and time.monotonic() < end_s:
            time.sleep(_LOOK_S)
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def last_line(said_path):
    """The command's own words on its failure."""
    with open(said_path, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    return shown(lines[-1])[:400] if lines else "no message"
