# SPDX-License-Identifier: MIT
# SIGINT, SIGTERM, SIGHUP -> one Interrupted exception, which waits while something must not be left half done.
import contextlib
import signal

from .errors import Interrupted

_depth = 0
_waiting = None


def _arrived(number, _frame):
    global _waiting
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)  # a second Ctrl-C must not break the cleaning up
    _waiting = number
    if not _depth:
        raise Interrupted(number)


def install():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, _arrived)


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
