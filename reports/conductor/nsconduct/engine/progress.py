# SPDX-License-Identifier: MIT
# Progress of the trials with the time left -> one line of standard error, on a terminal only.
import time

from nsreport import messages

_SHOW_S = 0.5


class Progress:
    def __init__(self, count, quiet):
        self._count = count
        self._quiet = quiet
        self._done = 0
        self._trial = None
        self._begin_s = time.monotonic()
        self._shown_s = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        messages.progress(self._quiet, "")

    def begin(self, trial):
        self._trial = trial
        self._shown_s = 0.0
        self.show()

    def end(self):
        self._done += 1
        messages.progress(self._quiet, "")

    def show(self, phase=None):
        now_s = time.monotonic()
        if now_s - self._shown_s < _SHOW_S:
            return
        self._shown_s = now_s
        messages.progress(
            self._quiet,
            f"trial {self._done + 1} of {self._count}: {self._trial}{', ' if phase else ''}"
            f"{phase or ''}{self._left(now_s)}",
        )

    def _left(self, now_s):
        """By the mean of the trials that are done."""
        if not self._done:
            return ""
        took_s = now_s - self._begin_s
        left_s = max(0.0, took_s / self._done * self._count - took_s)
        return f", {clock(left_s)} left"


def clock(seconds):
    whole = int(seconds + 0.5)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
