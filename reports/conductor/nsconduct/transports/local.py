# SPDX-License-Identifier: MIT
# A player whose steps are processes of this host.
import shutil
import time

from . import processes
from .keeper import Keeper
from .transport import Player, SpawnedEnd, StepResult, Transport

SHELL = ("/bin/sh", "-c")


class LocalTransport(Transport):
    def player(self, name, argument):
        return LocalPlayer(name, self.settings.folder)


class LocalPlayer(Player):
    """keeper: ends the player's processes even if this process is killed."""

    def __init__(self, name, folder):
        super().__init__(name)
        self.folder = folder
        self.mark = processes.new_mark()
        self.keeper = None
        self._spawned = []

    def open(self):
        self.keeper = Keeper(self.mark, self.keeper_command())
        self.keeper.start()

    def keeper_command(self):
        """Words in front of the keeper's command."""
        return []

    def words(self, command):
        """A shell command -> what is started."""
        return [*SHELL, command]

    def check(self, programs):
        return [name for name in programs if not shutil.which(name)]

    def run(self, command, timeout_s, stdout_path, stderr_path):
        begin = time.time_ns(), time.monotonic_ns()
        process, failure = self._started(command, stdout_path, stderr_path)
        if failure:
            return _result(begin, failure=failure)
        code = processes.wait(process, timeout_s, self._is_over)
        if code is not None:
            return _result(begin, code, failure=self._death(code))
        timed_out = not self._is_over()
        code = processes.end(process)
        interrupted = "interrupted" if self.interrupted.is_set() else None
        return _result(begin, code, timed_out, interrupted or self._death(code))

    def spawn(self, command, stdout_path, stderr_path):
        begin = time.time_ns(), time.monotonic_ns()
        process, failure = self._started(command, stdout_path, stderr_path)
        if not failure:
            self._spawned.append((process, stdout_path, begin[1]))
        return _result(begin, failure=failure)

    def end_spawned(self):
        ended = []
        for process, stdout_path, begin_ns in self._spawned:
            still_ran = process.poll() is None
            code = processes.end(process)
            ended.append(SpawnedEnd(stdout_path, code, still_ran, time.monotonic_ns() - begin_ns))
        self._spawned = []
        processes.end_marked(self.mark)
        return ended

    def alive(self):
        if self.keeper and self.keeper.is_alive():
            return True
        return "player died: its keeper process has ended"

    def close(self):
        self.end_spawned()
        if self.keeper:
            self.keeper.close()
        processes.end_marked(self.mark)

    def _started(self, command, stdout_path, stderr_path):
        if self.interrupted.is_set():
            return None, "interrupted"
        alive = self.alive()
        if alive is not True:
            return None, alive
        try:
            words = self.words(command)
            return processes.start(words, self.mark, self.folder, stdout_path, stderr_path), None
        except (OSError, ValueError) as error:
            return None, f"cannot start: {getattr(error, 'strerror', None) or error}"

    def _is_over(self):
        return self.interrupted.is_set() or not self.keeper.is_alive()

    def _death(self, code):
        """The reason if the step ended because its player did."""
        alive = self.alive()
        return alive if alive is not True and code != 0 else None


def _result(begin, code=None, timed_out=False, failure=None):
    return StepResult(
        exit_code=code,
        timed_out=timed_out,
        failure=failure,
        start_unix_ns=begin[0],
        duration_ns=time.monotonic_ns() - begin[1],
    )
