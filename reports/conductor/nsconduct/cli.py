# SPDX-License-Identifier: MIT
# Options -> work and exit code. The other modules do the work.
import dataclasses
import os

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
        _write(dry_run.text(experiment))
        return errors.EXIT_OK
    return run.run(experiment, options, lambda *said: _say(options, *said))


def _say(options, text, is_error=False):
    messages.progress(options.quiet, "")
    say(options.quiet and not is_error, f"nsconduct: {text}")


def _check(options):
    experiment = master_file.read(options.master, options.transport)
    for warning in experiment.warnings:
        tell(texts.shown(f"nsconduct: {warning}"))
    if options.players:
        run.check_players(experiment, options)
    _write(f"{texts.shown(dry_run.summary(experiment))}\n")
    return errors.EXIT_OK


def _show(options):
    _write(_printable(tables.shown(options.folder, options.format == "json", options.precision)))
    return errors.EXIT_OK


def _compare(options):
    _write(_printable(comparison.shown(options)))
    return errors.EXIT_OK


def _printable(text):
    """Names and messages in results may have control characters of a terminal."""
    return "\n".join(map(texts.shown, text.split("\n")))


def _write(text):
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python writes the rest at its end
        raise errors.ConductError(
            errors.EXIT_FAILED, f"standard output: cannot write: {error.strerror}"
        ) from error


_COMMANDS = {"run": _run, "check": _check, "show": _show, "compare": _compare}
