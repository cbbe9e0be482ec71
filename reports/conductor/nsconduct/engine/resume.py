# SPDX-License-Identifier: MIT
# A result folder that has trials already -> what is left to do.
import secrets

from ..errors import EXIT_USAGE, ConductError
from ..results import checked, folder as folders


def trials_done(folder, experiment, is_resumed):
    """Keys of trials that the folder has."""
    if not folder.has_results():
        return set()
    if not is_resumed:
        raise ConductError(
            EXIT_USAGE,
            f"{folder.path}: has results already (continue them with --resume, or use another "
            "folder)",
        )
    earlier = folder.read_json(folders.EXPERIMENT)
    problem = checked.continued_problem(earlier)
    if problem:
        raise ConductError(EXIT_USAGE, f"{folder.file(folders.EXPERIMENT)}: malformed: {problem}")
    if earlier["files"] != experiment.files or earlier["variants"] != list(experiment.variants):
        changed = sorted(
            name
            for name in {*earlier["files"], *experiment.files}
            if earlier["files"].get(name) != experiment.files.get(name)
        )
        raise ConductError(
            EXIT_USAGE,
            f"{folder.path}: its results are of another configuration: {', '.join(changed)} "
            "(use another folder)",
        )
    for what, before, now in (
        ("settings", earlier.get("settings", {}), experiment.settings),
        ("transports", earlier["players"], experiment.transport_texts()),
        ("seed", earlier["seed"], earlier["seed"] if experiment.seed is None else experiment.seed),
    ):
        if before != now:
            raise ConductError(
                EXIT_USAGE,
                f"{folder.path}: its results are of other {what}: {before} (use the same options, "
                "or another folder)",
            )
    trials = folder.read_lines(folders.TRIALS)
    done = {_key(trial) for trial in trials}
    # After a crash: a partial last line, or steps of a trial that was not recorded.
    folder.write_lines(folders.TRIALS, trials)
    folder.write_lines(
        folders.STEPS, [s for s in folder.read_lines(folders.STEPS) if _key(s) in done]
    )
    return done


def _key(document):
    return document["warmup"], document["round"], document["variant"]


def seed(folder, experiment):
    """That of the earlier trials, of the file, or a new one."""
    if folder.has_results():
        return folder.read_json(folders.EXPERIMENT)["seed"]
    return secrets.randbelow(2**31) if experiment.seed is None else experiment.seed
