# SPDX-License-Identifier: MIT
# Collectors that are a program of the player, which runs during the Run phase.
import time

from .collector import CollectorError
from .snapshot import ShellCollector

_START_S = 10
_LOOK_S = 0.02
_END_S = 60  # for what the program writes at its end

# Its CPU time so far, the signal, and its end: gone, or a zombie.
_STOP = """cat /proc/{pid}/schedstat
kill -INT {pid}
running='^State:[[:space:]]*[^ZX[:space:]]'
while grep -q "$running" /proc/{pid}/status 2>/dev/null; do sleep 0.02; done"""


class BackgroundCollector(ShellCollector):
    """A program that ends by SIGINT, and then has written its figures."""

    def begin(self, command):
        """Starts a shell text that ends in `exec PROGRAM`."""
        self._output = self.spawn(f"echo $$; {command}", "program")
        end_s = time.monotonic() + _START_S
        while not (words := self._output.read_text().split()):
            if time.monotonic() > end_s:
                raise CollectorError(f"not started within {_START_S} s")
            time.sleep(_LOOK_S)
        self._process, self._began = int(words[0]), time.monotonic()

    def end(self):
        """-> what the program wrote to standard error."""
        seconds = time.monotonic() - self._began
        script = _STOP.format(pid=self._process)
        printed = self.run(script, "end", timeout_s=_END_S, may_fail=True)
        used = printed.text.split()
        used_s = int(used[0]) / 1e9 if used and used[0].isdigit() else None
        self.cost.add(seconds, used_s)
        return self._output.with_suffix(".err").read_text(errors="replace")


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "ended without a message"
