# SPDX-License-Identifier: MIT
# SIGINT, SIGTERM, SIGHUP -> one Interrupted exception, which is delayed inside held() blocks.
# Python checks for signals between bytecodes: a signal that arrives after the check and before a
# blocking system call would wait until the call returns.  A periodic timer interrupts such calls.
import contextlib
import signal

from .errors import Interrupted

_LOOK_S = 0.1
_depth = 0
_waiting = None


def _arrived(number, _frame):
    global _waiting
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)  # a second Ctrl-C must not interrupt the cleanup
    _waiting = number
    if not _depth:
        raise Interrupted(number)


@contextlib.contextmanager
def installed():
    """The signals raise Interrupted inside the block."""
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    for number in before:
        if before[number] != signal.SIG_IGN:  # nohup
            signal.signal(number, _arrived)
    signal.signal(signal.SIGALRM, lambda _number, _frame: None)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
    try:
        yield
    finally:
        # At exit Python restores the default action of SIGALRM, which terminates the process.
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # one may be pending
        if _waiting is None:
            for number in before:
                signal.signal(number, before[number])


@contextlib.contextmanager
def held():
    """A signal that arrives inside the block takes effect at its end."""
    global _depth, _waiting
    before = _waiting
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
    if _waiting is not None and before is None and not _depth:
        raise Interrupted(_waiting)
