# SPDX-License-Identifier: MIT
# Collectors that read files of the player before and after the Run phase.
import abc
import shlex

from .. import player_shell
from ..environment import cpu_times
from .collector import Collector, CollectorError

SELF = "/proc/self/schedstat"  # CPU time of the process that reads, in ns, comes first
# schedstat shows the time up to the last tick or switch, so 0 for a process that is younger;
# the kernel brings it up to date when the process reads its own stat (thread_group_cputime).
_UPDATE = "/proc/self/stat"
FETCH_S = 300  # a trace of gigabytes over a network
CHILDREN = "children"  # /proc/PID/stat of the shell, with the times of those it waited for
# Behind a text whose programs are children of the shell; ticks, usually of 10 ms.
_CHILDREN_TEXT = f"\nended=$?; echo; echo '==> {CHILDREN} <=='; cat /proc/$$/stat; exit $ended"


class Cost:
    """What a collector's own commands took on the player."""

    def __init__(self):
        self.commands, self.wall_s, self.cpu_s = 0, 0.0, 0.0
        self.program_cpu_s = 0.0  # of a program that ran beside the steps

    def add(self, wall_s, cpu_s):
        """cpu_s: None if the player cannot tell; the sum then cannot either."""
        self.commands += 1
        self.wall_s += wall_s
        self.cpu_s = None if cpu_s is None or self.cpu_s is None else self.cpu_s + cpu_s

    def add_program(self, cpu_s):
        known = cpu_s is not None and self.program_cpu_s is not None
        self.program_cpu_s = self.program_cpu_s + cpu_s if known else None

    def as_json(self):
        return {
            "commands": self.commands,
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
            "program_cpu_s": self.program_cpu_s,
        }


class ShellCollector(Collector):
    """One that runs shell texts on its player, and counts what they cost."""

    def __init__(self, player, folder):
        super().__init__(player, folder)
        self.shell = player_shell.PlayerShell(player, folder)
        self.cost = Cost()

    def run(self, script, name, **options):
        """-> what it printed.  A text that does not read SELF is asked for its children's time."""
        if SELF not in script:
            script += _CHILDREN_TEXT
        try:
            printed = self.shell.run(script, f"collector-{self.NAME}-{name}", **options)
        except player_shell.ShellError as error:
            raise CollectorError(f"{name}: {error}") from error
        found = player_shell.sections(printed.text)
        self.cost.add(printed.duration_ns / 1e9, _cpu_s(found))
        return printed

    def spawn(self, script, name):
        try:
            return self.shell.spawn(script, f"collector-{self.NAME}-{name}")
        except player_shell.ShellError as error:
            raise CollectorError(f"{name}: {error}") from error

    def make_folder(self):
        """A new folder on the player, for files that are not printed."""
        lines = self.run("mktemp -d", "folder").text.splitlines()
        if not lines or not lines[0].startswith("/"):
            raise CollectorError("mktemp: made no folder on the player")
        return lines[0]

    def remove_folder(self, folder):
        self.run(f"rm -r {shlex.quote(folder)}", "remove", may_fail=True)

    def fetch(self, path, name):
        try:
            here, printed = self.shell.fetch(path, f"collector-{self.NAME}-{name}", FETCH_S)
        except player_shell.ShellError as error:
            raise CollectorError(str(error)) from error
        self.cost.add(printed.duration_ns / 1e9, _children_s(printed.error))
        return here


def _cpu_s(found):
    fields = found.get(SELF, "").split()
    if fields and fields[0].isdigit():
        return int(fields[0]) / 1e9
    return _children_s(found.get(CHILDREN, ""))


def _children_s(stat):
    """/proc/PID/stat -> CPU time of the process and of the children it waited for."""
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 15:
        return None
    return sum(map(int, fields[11:15])) / cpu_times.TICKS_PER_S


class SnapshotCollector(ShellCollector):
    """Figures that are the difference of two readings."""

    PROGRAMS = ("tail",)
    FILES = ()  # of the player

    def start(self):
        self._before = self._read("before")

    def _read(self, name):
        printed = self.run(player_shell.files_text(*self.FILES, _UPDATE, SELF), name, may_fail=True)
        found = player_shell.sections(printed.text)
        missing = [path for path in self.FILES if not found.get(path)]
        if missing:
            raise CollectorError(f"{missing[0]}: the player does not have it")
        return printed.start_unix_ns, found

    def stop(self):
        begin_ns, before = self._before
        end_ns, after = self._read("after")
        try:
            figures = self.difference(before, after)
        except (ValueError, IndexError) as error:
            raise CollectorError(f"{', '.join(self.FILES)}: not understood: {error}") from error
        return {"seconds": (end_ns - begin_ns) / 1e9, **figures, "cost": self.cost.as_json()}

    @abc.abstractmethod
    def difference(self, before, after):
        """{path: content} of either reading -> figures."""
