# SPDX-License-Identifier: MIT
# Steps of known number -> a line with the time left.
import time


class Progress:
    def __init__(self, tell, steps, clock=time.monotonic):
        self._tell, self.steps, self._clock = tell, steps, clock
        self._begin_s, self._done = clock(), 0

    def step(self, words):
        """Called at the begin of each step."""
        self._tell(f"{self._done + 1} of {self.steps}: {words}{self._left()}")
        self._done += 1

    def _left(self):
        if not self._done:
            return ""
        left_s = (self._clock() - self._begin_s) / self._done * (self.steps - self._done)
        return f"; {left_s / 60:.0f} min left" if left_s > 90 else f"; {left_s:.0f} s left"
