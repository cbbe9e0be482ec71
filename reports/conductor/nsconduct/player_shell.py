# SPDX-License-Identifier: MIT
# A shell text that runs on a player, by whatever transport it has -> what it printed.
import pathlib
import shlex
from dataclasses import dataclass

TIMEOUT_S = 30


class ShellError(Exception):
    """The text could not be run, or ended with an error."""


@dataclass(frozen=True)
class Printed:
    text: str
    error: str
    start_unix_ns: int
    duration_ns: int


def quoted(script):
    """As one command, whether the transport splits it into words or gives it to a shell."""
    return f"sh -c {shlex.quote(script)}"


def files_text(*paths):
    """Shell text that prints files with a head line for each; it is the only process, so that its
    own /proc/self/schedstat, read last, has the whole cost."""
    return "exec tail -v -n +1 " + " ".join(map(shlex.quote, paths))


class PlayerShell:
    """Runs texts on one player; what they print is kept in a folder of the results if they fail."""

    def __init__(self, player, folder):
        self._player = player
        self._folder = pathlib.Path(folder)

    def paths(self, name):
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{name}.out", self._folder / f"{name}.err"

    def run(self, script, name, timeout_s=TIMEOUT_S, may_fail=False):
        out, err = self.paths(name)
        result = self._player.run(quoted(script), timeout_s, str(out), str(err))
        if result.failure or result.timed_out:
            raise ShellError(result.failure or f"no end after {timeout_s} s")
        text, error = _text(out), _text(err)
        if result.exit_code and not may_fail:
            last = error.strip().splitlines()[-1:] or [f"exit code {result.exit_code}"]
            raise ShellError(last[0])
        for path in (out, err):  # kept if it failed
            path.unlink(missing_ok=True)
        return Printed(text, error, result.start_unix_ns, result.duration_ns)

    def spawn(self, script, name):
        """Runs on until the player's spawned processes are ended; its output file."""
        out, err = self.paths(name)
        result = self._player.spawn(quoted(script), str(out), str(err))
        if result.failure:
            raise ShellError(result.failure)
        return out

    def fetch(self, path, name, timeout_s):
        """Copies a file of the player -> its path here, and what the shell's /proc/PID/stat had."""
        self._folder.mkdir(parents=True, exist_ok=True)
        here, err = self._folder / name, self._folder / f"{name}.err"
        script = f"cat {shlex.quote(path)} && cat /proc/$$/stat >&2"
        result = self._player.run(quoted(script), timeout_s, str(here), str(err))
        if result.failure or result.timed_out or result.exit_code:
            raise ShellError(result.failure or f"{path}: cannot be copied: {_text(err).strip()}")
        stat = _text(err)
        err.unlink()
        return here, Printed("", stat, result.start_unix_ns, result.duration_ns)


def _text(path):
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def sections(text):
    """What files_text() printed -> {path: content}."""
    found, path = {}, None
    for line in text.splitlines():
        if line.startswith("==> ") and line.endswith(" <=="):
            path = line[4:-4]
            found[path] = []
        elif path is not None:
            found[path].append(line)
    return {path: "\n".join(lines).strip() for path, lines in found.items()}
