# SPDX-License-Identifier: MIT
# SIGINT, SIGTERM, SIGHUP -> one Interrupted exception, which waits while something must not be left half done.
# Python looks for signals between its own steps: one that comes after the look and before a system call that blocks would wait for the
# call's end.  A timer ends such calls.
import contextlib
import signal

from .errors import Interrupted

_LOOK_S = 0.1
_depth = 0
_waiting = None


def _arrived(number, _frame):
    global _waiting
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)  # a second Ctrl-C must not break the cleaning up
    _waiting = number
    if not _depth:
        raise Interrupted(number)


@contextlib.contextmanager
def installed():
    """Inside the block the signals raise Interrupted."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number in before:
        if before[number] != signal.SIG_IGN:  # nohup
            signal.signal(number, _arrived)
    signal.signal(signal.SIGALRM, lambda _number, _frame: None)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
    try:
        yield
    finally:
        # Python's own end gives SIGALRM back its default action, which is to end the process by it.
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # one may be on its way
        if _waiting is None:
            for number in before:
                signal.signal(number, before[number])


@contextlib.contextmanager
def held():
    """A signal inside the block takes effect at its end."""
    global _depth, _waiting
    before = _waiting
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
    if _waiting is not None and before is None and not _depth:
        raise Interrupted(_waiting)
