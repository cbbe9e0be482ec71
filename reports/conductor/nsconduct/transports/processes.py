# SPDX-License-Identifier: MIT
# Processes of steps: started in a session of their own, ended with all their descendants.
#
# Each process of a player has a mark in its environment, which its descendants inherit, also those
# that left the session (daemons).  /proc shows which processes have it.
import contextlib
import os
import secrets
import select
import signal
import subprocess
import time

from ..errors import TransportError

MARK = "NSCONDUCT_MARK"
GRACE_S = 2.0  # between SIGTERM and SIGKILL
_LOOK_S = 0.02
_STOPPED_S = 0.1


def new_mark():
    return secrets.token_hex(8)


def start(command, mark, folder, stdout_path, stderr_path):
    """command: list of words.  Raises OSError."""
    with open(stdout_path, "wb") as out, open(stderr_path, "wb") as err:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=folder,
            env={**os.environ, MARK: mark},
            start_new_session=True,
        )


def wait(process, seconds, stopped):
    """Exit code, or None when the time is over or stopped() is true."""
    end_s = None if seconds is None else time.monotonic() + seconds
    descriptor = os.pidfd_open(process.pid)  # readable at its end: the time of a step is exact
    try:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        while True:
            left_s = _STOPPED_S if end_s is None else min(_STOPPED_S, end_s - time.monotonic())
            if ended.poll(max(0, left_s) * 1000):
                return process.wait()
            if stopped() or (end_s is not None and time.monotonic() >= end_s):
                return None
    finally:
        os.close(descriptor)


def end(process):
    """Ends a step's session -> exit code."""
    for number, seconds in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            break
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # those that outlived their parent
    return process.returncode


def marked(mark):
    """Processes that have the mark, but not this one."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
            if wanted in file.read().split(b"\0"):
                found.append(int(name))
    return found


def in_namespace(namespace):
    """Processes in a network namespace, given as /proc/PID/ns/net shows it."""
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.readlink(f"/proc/{name}/ns/net") == namespace:
                found.append(int(name))
    return found


def end_marked(mark):
    """Ends every process that has the mark."""
    end_all(lambda: marked(mark))


def end_all(found):
    """Ends the processes that found() returns, until it returns none."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        end_s = time.monotonic() + GRACE_S
        while True:
            pids = [pid for pid in found() if not _is_dead(pid)]
            if not pids:
                return
            for pid in pids:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            if time.monotonic() > end_s:
                break
            time.sleep(_LOOK_S)


def checked(words):
    """Runs a command of the transport itself -> what it printed; raises TransportError."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise TransportError(f"{words[0]}: cannot start: {error.strerror}") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise TransportError(said[-1] if said else f"{words[0]}: exit code {done.returncode}")
    return done.stdout.decode(errors="replace")


def _is_dead(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] in "ZX"
    return True
