# SPDX-License-Identifier: MIT
# One trial: Startup, Run, Collect and Reset, and what it measured.
import os
import time

from nsreport import signals

from ..collectors.group import CollectorGroup
from ..environment.load import LoadMeter
from ..results import values
from . import phases


class TrialRunner:
    """Runs a trial -> its line of trials.jsonl and its steps."""

    def __init__(self, experiment, players, folder, trial, progress):
        self._experiment = experiment
        self._players = players
        self._folder = folder
        self._trial = trial
        self._collectors = CollectorGroup(
            experiment.collectors, players, os.path.join(folder, "output", trial.folder)
        )
        self._phases = phases.PhaseRunner(
            experiment, players, folder, trial, progress, self._collectors.prelude
        )
        self._failures = []
        self._load = {"load_by_others": None, "steal": None}

    def run(self):
        """Raises Interrupted after Reset."""
        start_unix_ns, begin_ns = time.time_ns(), time.monotonic_ns()
        try:
            if self._phase("startup"):
                self._collectors.start()
                load = LoadMeter()
                try:
                    self._phase("run")
                finally:
                    self._load = load.stop()
                    self._collectors.stop()
                self._phase("collect")
        finally:
            with signals.held():  # whatever failed, and also when the user interrupts
                self._reset()
                self._collectors.finish()
        found = {} if self._failures else self._values()
        return {
            **{"round": self._trial.round, "variant": self._trial.variant},
            **{"warmup": self._trial.warmup, "order": self._trial.order},
            "start_unix_ns": start_unix_ns,
            "duration_ns": time.monotonic_ns() - begin_ns,
            "status": "failed" if self._failures else "ok",
            "failure": "; ".join(self._failures) or None,
            "values": found,
            "collected": self._collectors.collected,
            **self._load,
        }

    def steps(self):
        return [record.as_json(self._trial) for record in self._phases.records]

    def _phase(self, phase):
        """False if a step failed."""
        failures = self._phases.run(phase)
        self._failures.extend(failures)
        return not failures

    def _reset(self):
        """Runs on every player that still answers."""
        for player in self._players.values():
            player.resume()
        self._failures.extend(self._phases.run("reset"))
        for player in self._players.values():
            for end in player.end_spawned():
                self._note_end(player, end)

    def _note_end(self, player, end):
        """How a spawned process ended goes into its step."""
        relative = os.path.relpath(end.stdout_path, self._folder)
        record = next((r for r in self._phases.records if r.stdout == relative), None)
        if record is None:
            return
        record.result.exit_code = end.exit_code
        record.result.duration_ns = end.duration_ns
        what = end.failure
        # Reset often ends such a process by a signal, directly or through its shell.
        if not what and not end.ended_by_us and 0 < (end.exit_code or 0) < 128:
            what = phases.ended(end.exit_code) + phases.last_line(
                os.path.join(self._folder, record.stderr)
            )
        if what:
            record.failure = f"{player.name}: {record.phase} {record.step}: {what}"
            self._failures.append(record.failure)

    def _values(self):
        found = {}
        for value in self._experiment.values:
            record = next(
                r
                for r in self._phases.records
                if (r.player, r.phase, r.step) == (value.player, value.phase, value.step.name)
            )
            try:
                number = values.number(value, record, self._folder)
            except values.ValueMissing as error:
                self._failures.append(f"{value.player}: value {value.name}: {error}")
                continue
            found[value.name] = {"value": number, "unit": value.unit}
        return found
