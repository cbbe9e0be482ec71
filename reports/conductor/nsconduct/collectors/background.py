# SPDX-License-Identifier: MIT
# Collectors that are a program of the player, which runs during the Run phase.
#
# What it prints goes to files on the player: a transport may fetch the output of a spawned command
# only at its end.
import shlex

from .collector import CollectorError
from .snapshot import ShellCollector

_START_S = 20
_END_S = 60  # for what the program writes at its end

# The shell becomes the program.  It is not in the background of a shell, which would ignore SIGINT.
_START = "cd {folder} && echo $$ >pid && exec sh -c {command} >out 2>err"
_WAIT = """cd {folder}
until [ -s pid ]; do sleep 0.02; done
until {ready} || ! kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.02; done
kill -0 "$(cat pid)" 2>/dev/null || { tail -n 1 err >&2; exit 1; }"""
# Its CPU time so far; the signal; its end, which may be that of a zombie; what it printed.
_STOP = """cd {folder} && pid=$(cat pid)
cat "/proc/$pid/schedstat"
kill -INT "$pid"
running='^State:[[:space:]]*[^ZX[:space:]]'
while grep -q "$running" "/proc/$pid/status" 2>/dev/null; do sleep 0.02; done
echo '==> err <=='
cat err"""


class BackgroundCollector(ShellCollector):
    """A program that ends by SIGINT, and then has written its figures."""

    def __init__(self, player, folder):
        super().__init__(player, folder)
        self.place = None  # the program's folder on the player

    def begin(self, command, ready="true"):
        """command: exec PROGRAM; ready: of the shell in the folder, true when the program is."""
        self.place = self.make_folder()
        names = {"folder": shlex.quote(self.place), "command": shlex.quote(command)}
        self.spawn(_filled(_START, **names), "program")
        self.run(_filled(_WAIT, ready=ready, **names), "start", timeout_s=_START_S)

    def end(self):
        """-> what the program wrote to standard error."""
        script = _filled(_STOP, folder=shlex.quote(self.place))
        printed = self.run(script, "end", timeout_s=_END_S, may_fail=True)
        head, _, text = printed.text.partition("==> err <==\n")
        used = head.split()
        self.cost.add_program(int(used[0]) / 1e9 if used and used[0].isdigit() else None)
        return text.partition("\n==> ")[0]

    def finish(self):
        """Removes the program's files."""
        if self.place:
            place, self.place = self.place, None
            self.remove_folder(place)
        for path in self.shell.paths(f"collector-{self.NAME}-program"):
            path.unlink(missing_ok=True)  # empty
        return {}


def _filled(script, **values):
    """As format(), in a text with braces of the shell."""
    for name, value in values.items():
        script = script.replace("{" + name + "}", value)
    return script


def reason(program, text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return CollectorError(f"{program}: {lines[-1] if lines else 'ended without a message'}")
