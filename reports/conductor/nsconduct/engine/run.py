# SPDX-License-Identifier: MIT
# An experiment -> all its trials, into a result folder.
import time

from nsreport import signals
from nsreport.text import plural

from ..collectors.registry import COLLECTORS
from ..config import programs
from ..environment import gather, unlike
from ..errors import EXIT_FAILED, EXIT_MISSING, EXIT_OK, ConductError
from ..results import folder as folders, parquet, summaries
from ..transports import registry
from ..transports.settings import Settings
from . import plan, resume, unfinished
from .progress import Progress
from .trial import TrialRunner


def run(experiment, options, say):
    """options: of the command line.  say(text, is_error=False).  Returns an exit code."""
    folder = folders.ResultFolder(options.output)
    folder.create()
    done = resume.trials_done(folder, experiment, options.resume)
    seed = resume.seed(folder, experiment)
    planned = plan.trials(experiment.variants, experiment.warmup, experiment.trials, seed)
    missing = [t for t in planned if t.key not in done]
    if done:
        say(f"{folder.path}: {len(planned) - len(missing)} of {len(planned)} trials are done")
    settings = Settings(experiment.folder, experiment.network, options.inventory)
    with registry.players(experiment, settings) as players:
        check_programs(experiment, players)
        environment = _environment(folder, players, options.version, say)
        _write_experiment(folder, experiment, seed, environment)
        unfinished.reset(folder, experiment, players, planned, say)
        try:
            _run_trials(experiment, players, folder, missing, options, say)
        finally:
            with signals.held():
                write_results(folder, say)
    trials = folder.read_lines(folders.TRIALS)
    failed = [t for t in trials if t["status"] != "ok"]
    say(f"{plural(len(trials), 'trial')}, {len(failed)} failed: {folder.path}")
    return EXIT_FAILED if failed else EXIT_OK


def _run_trials(experiment, players, folder, missing, options, say):
    with Progress(len(missing), options.quiet) as progress:
        for trial in missing:
            _check_alive(players)
            progress.begin(trial)
            runner = TrialRunner(experiment, players, folder.path, trial, progress.show)
            with unfinished.noted(folder, trial):
                result = runner.run()
            progress.end()
            if result["failure"]:
                say(f"{trial}: failed: {result['failure']}", True)
            with signals.held():  # both files, or an error
                folder.append(folders.STEPS, runner.steps())
                folder.append(folders.TRIALS, [result])


def _check_alive(players):
    """A trial without one of its players measures nothing."""
    for name, player in players.items():
        alive = player.alive()
        if alive is not True:
            raise ConductError(
                EXIT_FAILED, f"player {name}: {alive}; stopped (continue with --resume)"
            )


def write_results(folder, say):
    trials = folder.read_lines(folders.TRIALS)
    document = summaries.document(folder.read_json(folders.EXPERIMENT), trials)
    folder.write_json(folders.RESULTS, document)
    for absent in (summaries.missing(), parquet.write(folder.path, trials)):
        if absent:
            say(absent)


def _environment(folder, players, version, say):
    """Of all players.  That of the first trials is kept when the experiment continues."""
    found = {
        "toolkit": version,
        "players": {
            name: gather.environment(player, folder.path, f"environment-{name}")
            for name, player in players.items()
        },
    }
    if not folder.has_results():
        return found
    earlier = folder.read_json(folders.EXPERIMENT).get("environment") or found
    for reason in unlike.reasons_of_runs(earlier, found):
        say(f"warning: earlier trials ran in another environment: {reason}")
    return earlier


def _write_experiment(folder, experiment, seed, environment):
    earlier = folder.read_json(folders.EXPERIMENT) if folder.has_results() else {}
    folder.write_json(
        folders.EXPERIMENT,
        {
            "format": folders.FORMAT,
            "name": experiment.name,
            "master": experiment.path,
            "files": experiment.files,
            "players": experiment.transport_texts(),
            "settings": experiment.settings,
            "variants": list(experiment.variants),
            "values": [value.name for value in experiment.values],
            "trials": experiment.trials,
            "warmup": experiment.warmup,
            "seed": seed,
            "started": earlier.get("started") or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "environment": environment,
        },
    )


def check_programs(experiment, players):
    """Before anything runs: every program that a step plainly names is there."""
    problems = []
    for name, player in players.items():
        wanted = {}
        for steps in experiment.players[name].phases.values():
            for step in steps:
                for program in programs.programs(step.command):
                    wanted.setdefault(program, f"{step.path}:{step.line}: {step.name}")
        for kind in experiment.collectors.get(name, []):
            for program in COLLECTORS[kind].PROGRAMS:
                wanted.setdefault(program, f"collector {kind}")
        for program in player.check(list(wanted)):
            problems.append(f'player {name}: program "{program}" is missing ({wanted[program]})')
    if problems:
        raise ConductError(EXIT_MISSING, "\n".join(problems))


def check_players(experiment, options):
    """Whether all players can be reached and have the programs of their steps."""
    settings = Settings(experiment.folder, experiment.network, options.inventory)
    with registry.players(experiment, settings) as players:
        check_programs(experiment, players)
