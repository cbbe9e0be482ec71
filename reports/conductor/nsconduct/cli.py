# SPDX-License-Identifier: MIT
# Options -> work and exit code. The other modules do the work.
import dataclasses
import os
import sys

from nsreport import errors as texts, messages, signals
from nsreport.messages import say, tell

from . import errors
from .arguments import parse_arguments
from .config import master_file
from .engine import dry_run, run
from .results import comparison, tables


def main(arguments, version, **_):
    options = parse_arguments(arguments, version)
    options.version = version
    try:
        with signals.installed():
            return _COMMANDS[options.command](options)
    except errors.ConductError as error:
        for line in str(error).split("\n"):
            tell(texts.shown(f"nsconduct: {line}"))
        return error.code
    except texts.Interrupted as error:
        resumed = " (continue with --resume)" if options.command == "run" else ""
        tell(f"nsconduct: interrupted{resumed}")
        return 128 + error.signal_number
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return errors.EXIT_OK
    except Exception as error:  # any bug: the user gets a message and scripts an exit code
        said = texts.bug(error, "nsconduct")
        tell(f"nsconduct: {said} (please report this with the configuration)")
        return errors.EXIT_FAILED


def _run(options):
    experiment = master_file.read(options.master, options.transport, dict(options.settings))
    changed = {
        name: value
        for name in ("trials", "warmup", "seed")
        if (value := getattr(options, name)) is not None
    }
    experiment = dataclasses.replace(experiment, **changed)
    for warning in experiment.warnings:
        say(options.quiet, f"nsconduct: {warning}")
    if options.dry_run:
        print(dry_run.text(experiment), end="")
        return errors.EXIT_OK
    return run.run(experiment, options, lambda text: _say(options, text))


def _say(options, text):
    messages.progress(options.quiet, "")
    say(options.quiet, f"nsconduct: {text}")


def _check(options):
    experiment = master_file.read(options.master, options.transport)
    for warning in experiment.warnings:
        tell(texts.shown(f"nsconduct: {warning}"))
    if options.players:
        run.check_players(experiment, options)
    print(dry_run.summary(experiment))
    return errors.EXIT_OK


def _show(options):
    sys.stdout.write(tables.shown(options.folder, options.format == "json", options.precision))
    return errors.EXIT_OK


def _compare(options):
    sys.stdout.write(comparison.shown(options))
    return errors.EXIT_OK


_COMMANDS = {"run": _run, "check": _check, "show": _show, "compare": _compare}
