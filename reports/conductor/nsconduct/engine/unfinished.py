# SPDX-License-Identifier: MIT
# The trial that is running, as a file of the results: what it leaves when nsconduct is killed, its
# Reset undoes when the experiment continues.
import contextlib
import os

from ..results.folder import FORMAT
from . import phases, plan

_FILE = "running.json"


@contextlib.contextmanager
def noted(folder, trial):
    """The file is there while the block runs."""
    folder.write_json(_FILE, {"format": FORMAT, **_key(trial)})
    try:
        yield
    finally:
        os.remove(folder.file(_FILE))


def _key(trial):
    return {"warmup": trial.warmup, "round": trial.round, "variant": trial.variant}


def reset(folder, experiment, players, planned, say):
    """Runs Reset if an earlier process was killed in a trial."""
    if not os.path.exists(folder.file(_FILE)):
        return
    found = folder.read_json(_FILE)
    trial = next((t for t in planned if _key(t).items() <= found.items()), None)
    trial = trial or plan.Trial(1, next(iter(experiment.variants)), False, 1)
    say(f"{trial} was cut short: its Reset runs first")
    runner = phases.PhaseRunner(experiment, players, folder.path, trial, lambda _phase: None)
    for failure in runner.run("reset"):
        say(failure)
    os.remove(folder.file(_FILE))
