# SPDX-License-Identifier: MIT
# Parts that are not there yet -> their results in the output folder, one part after the other.
import contextlib
import os
import shutil
import tempfile
import time
from dataclasses import dataclass

from .. import signals
from ..errors import EXIT_TOOL, ReportError
from . import child, commands, kept, parts, sender

_DONE = (0, 1)  # exit codes with a result; 1: findings, which the results name


@dataclass
class Context:
    program: str
    share: str
    version: str
    form: str
    kept: kept.Kept
    say: object  # a line, and whether it is an error
    progress: object  # a line that the next one replaces
    clock: object = time.monotonic


def chosen(context, only, again):
    """Parts to be measured, in order."""

    def is_wanted(name):
        return name in again or not context.kept.is_fresh(name, context.form, context.version)

    candidates = [part for part in parts.PARTS if not only or part.name in only]
    return [part for part in candidates if is_wanted(part.name)]


def measure_all(context, todo):
    left_s = sum(parts.seconds(part, context.form) for part in todo)
    for number, part in enumerate(todo, 1):
        expected_s = parts.seconds(part, context.form)
        context.say(
            f"nsreport papers: {number} of {len(todo)}: {part.name} ({part.words}), "
            f"{_time(expected_s)}; {_time(left_s)} left"
        )
        _measure(context, part, left_s - expected_s)
        left_s -= expected_s


def _time(seconds):
    return f"about {seconds / 60:.0f} min" if seconds > 90 else f"about {max(1, seconds):.0f} s"


def _measure(context, part, after_s):
    """A part that fails leaves the reason; the others go on."""
    begin_s, started = context.clock(), kept.now()
    status = {"form": context.form, "version": context.version, "started": started}
    status |= {**kept.machine(), "load": os.getloadavg()[0], "commands": []}
    with signals.held():
        work = tempfile.mkdtemp(prefix=f".{part.name}.", dir=context.kept.folder)
    try:
        failures = _run(context, part, work, status, after_s)
        parts.document(part, work)
        status |= {"seconds": round(context.clock() - begin_s, 1), "failures": failures}
        with signals.held():
            context.kept.keep(part.name, work, status)
            os.chmod(context.kept.place(part.name), 0o755)
    except (ReportError, OSError) as error:
        why = str(error)
        context.kept.keep_failure(part.name, {**status, "why": why})
        context.progress("")
        context.say(f"nsreport papers: {part.name}: {why}", True)
    finally:
        with signals.held():
            shutil.rmtree(work, ignore_errors=True)


def _run(context, part, work, status, after_s):
    """All commands; those of experiments are independent of each other."""
    made = commands.commands(part, context.program, context.share, work, context.form)
    places = (context.kept.folder, context.share, commands.experiment_folder(context.share))
    status["commands"] = [
        one.shown(*places).replace(os.path.basename(work), part.name) for one in made
    ]
    failures = []
    with contextlib.ExitStack() as stack:
        exchange = None
        if part.name == "send":
            port, exchange = stack.enter_context(sender.connected())
            made[0].words += ["--port", str(port)]
            status["commands"][0] += f" --port {port}"
        end_s = context.clock() + parts.seconds(part, context.form) + after_s

        def tick():
            if exchange:
                exchange()
            left_s = end_s - context.clock()
            context.progress(f"{part.name}: {part.words}; {_time(left_s)} left")

        for one in made:
            why = _one(context, one, os.path.join(work, "said.txt"), tick)
            if why and part.name not in parts.EXPERIMENTS:
                raise ReportError(EXIT_TOOL, why)
            failures += [why] if why else []
    if failures and len(failures) == len(made):
        raise ReportError(EXIT_TOOL, failures[0])
    return failures


def _one(context, command, said_path, tick):
    """Why there is no result, or nothing."""
    code = child.run(command, os.path.dirname(context.program), said_path, tick)
    if code in _DONE and (not command.makes or os.path.exists(command.makes)):
        return ""
    said = child.last_line(said_path)
    return said if code >= 0 else f"{command.name}: killed by signal {-code} ({said})"
