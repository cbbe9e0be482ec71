# SPDX-License-Identifier: MIT
# One phase on all players at a time: its end is a barrier.
import concurrent.futures
import dataclasses
import os
import threading

from nsreport import signals

from ..config import variables
from ..transports.transport import StepResult

_FULL_BYTES = 256 * 1024  # less free space than this is a full disk
_LOOK_S = 0.1


@dataclasses.dataclass
class StepRecord:
    """A step and how it ended; steps.jsonl has one line of each."""

    player: str
    phase: str
    step: str
    command: str
    spawned: bool
    result: StepResult
    stdout: str  # relative to the result folder
    stderr: str
    failure: str | None

    def as_json(self, trial):
        return {
            **{"round": trial.round, "variant": trial.variant, "warmup": trial.warmup},
            **{"player": self.player, "phase": self.phase, "step": self.step},
            **{"command": self.command, "spawned": self.spawned},
            **{"exit_code": self.result.exit_code, "timed_out": self.result.timed_out},
            **{"start_unix_ns": self.result.start_unix_ns},
            **{"duration_ns": self.result.duration_ns},
            **{"stdout": self.stdout, "stderr": self.stderr, "failure": self.failure},
        }


class PhaseRunner:
    """The phases of one trial.  folder: of the results.  prelude: of a player -> shell text in
    front of what it runs in the Run phase."""

    def __init__(self, experiment, players, folder, trial, progress, prelude=None):
        self.experiment = experiment
        self.players = players
        self.folder = folder
        self.trial = trial
        self.progress = progress
        self.prelude = prelude or (lambda player: "")
        self.records = []
        self._lock = threading.Lock()

    def run(self, phase):
        """Steps of all players; returns when all have ended -> failures as texts."""
        failures = []
        with concurrent.futures.ThreadPoolExecutor(max_workers=len(self.players)) as pool:
            try:
                running = [
                    pool.submit(self._player, phase, name, failures) for name in self.players
                ]
                while concurrent.futures.wait(running, timeout=_LOOK_S).not_done:
                    self.progress(phase)
            except BaseException:
                with signals.held():
                    for player in self.players.values():
                        player.interrupt()
                raise
        for done in running:
            done.result()
        return failures

    def _player(self, phase, name, failures):
        """All steps of a phase run, whatever failed before, as in Conductor; but not on a player
        that is gone."""
        player = self.players[name]
        steps = self.experiment.players[name].phases[phase]
        alive = player.alive() if steps else True
        if alive is not True:
            with self._lock:
                failures.append(f"{name}: {phase}: {alive}")
            return
        for step in steps:
            record = self._step(player, phase, step)
            with self._lock:
                self.records.append(record)
                failures.extend([record.failure] if record.failure else [])
            if record.result.failure:
                return

    def _step(self, player, phase, step):
        command = variables.replaced(step.command, self.experiment.words(self.trial.variant))
        base = os.path.join("output", self.trial.folder, player.name, f"{phase}-{step.name}")
        record = StepRecord(
            player=player.name,
            phase=phase,
            step=step.name,
            command=command,
            spawned=step.spawn,
            result=StepResult(None, False, None, 0, 0),
            stdout=base + ".out",
            stderr=base + ".err",
            failure=None,
        )
        out, err = (os.path.join(self.folder, name) for name in (record.stdout, record.stderr))
        unkept = _created(out, err)
        if unkept:  # the step runs nevertheless: it may be one of Reset
            out = err = os.devnull
        limit_s = step.timeout_s or self.experiment.timeout_s
        started = self.prelude(player.name) + command if phase == "run" else command
        record.result = (
            player.spawn(started, out, err)
            if step.spawn
            else player.run(started, limit_s, out, err)
        )
        what = self._failure(step, record.result, err) or unkept
        if what:
            record.failure = f"{player.name}: {phase} {step.name}: {what}"
        return record

    def _failure(self, step, result, stderr):
        if result.failure:
            return result.failure
        if result.timed_out:
            return None if step.timeout_s else f"hung: ended after {self.experiment.timeout_s} s"
        if is_full(self.folder):
            return f"{self.folder}: no space left on the disk"
        if result.exit_code is None or result.exit_code == 0:
            return None
        return f"{ended(result.exit_code)}{last_line(stderr)}"


def _created(*paths):
    """None, or why the files of a step's output cannot be created."""
    try:
        for path in paths:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb"):
                pass
    except OSError as error:
        return f"its output is not kept: {error.strerror}"
    return None


def ended(code):
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def last_line(path):
    """What the command said last, as the end of a sentence."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {said[:200]}" if said else ""


def is_full(folder):
    try:
        space = os.statvfs(folder)
    except OSError:
        return False
    return space.f_bavail * space.f_frsize < _FULL_BYTES
