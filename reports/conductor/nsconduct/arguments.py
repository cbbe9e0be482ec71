# SPDX-License-Identifier: MIT
# Command line -> checked options.
import argparse
import sys

from nsreport import errors as texts
from nsreport.arguments import reworded
from nsreport.messages import tell

from .config import additions
from .errors import EXIT_USAGE

COMMANDS = ("run", "check", "show", "compare")
EPILOG = """Examples:
  nsconduct check master.cfg               errors in the configuration, with file and line
  nsconduct run master.cfg -o results --dry-run
                                           what would run where
  nsconduct run master.cfg -o results      all trials
  nsconduct run master.cfg -o results --resume
                                           those that are left after an interruption
  nsconduct show results                   min, max, median, mean, standard deviation
  nsconduct compare results plain gcm      whether two variants differ
  nsconduct compare before after           whether two experiments differ

Exit codes:
  0 all trials succeeded                3 a program, package or permission is missing
  1 a trial failed                      130 interrupted; Reset ran, --resume continues
  2 invalid usage or configuration"""


class Parser(argparse.ArgumentParser):
    """Reports errors as the other programs do."""

    def error(self, message):
        words = reworded(message)
        remedy = "" if words.endswith(")") else f" (see {self.prog} --help)"
        tell(texts.shown(f"nsconduct: {words}{remedy}"))
        sys.exit(EXIT_USAGE)


def parse_arguments(arguments, version):
    parser = Parser(
        prog="nsconduct",
        usage=f"nsconduct {'|'.join(COMMANDS)} [OPTIONS] ...",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=EPILOG,
        description="Run declared experiments on one or many hosts: Conductor's master and player "
        "files, four phases, repeated trials.",
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"nsconduct {version}",
        help="print the version",
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", parser_class=Parser, required=True, prog="nsconduct"
    )
    _add_run(commands)
    _add_check(commands)
    _add_show(commands)
    _add_compare(commands)
    if arguments and arguments[0] in COMMANDS:
        _refuse_unknown(commands.choices[arguments[0]], arguments[1:])
    return parser.parse_args(arguments)


def _refuse_unknown(parser, words):
    """argparse would report a missing argument first."""
    known = parser._option_string_actions
    for word in words:
        if word == "--":
            return
        name = word.split("=")[0] if word.startswith("--") else word[:2]
        if name.startswith("-") and name != "-" and name not in known:
            parser.error(f"unrecognized arguments: {word}")


def _command(commands, name, text):
    return commands.add_parser(
        name, allow_abbrev=False, help=text, description=text[0].upper() + text[1:] + "."
    )


def _add_run(commands):
    command = _command(commands, "run", "run the trials of an experiment")
    command.add_argument("master", metavar="MASTER", help="master file")
    command.add_argument(
        "-o", "--output", metavar="FOLDER", required=True, help="folder for the results"
    )
    command.add_argument("--dry-run", action="store_true", help="only show what would run where")
    command.add_argument(
        "--resume", action="store_true", help="continue an interrupted experiment in FOLDER"
    )
    command.add_argument("--trials", metavar="N", type=_count, help="instead of [Test] trials")
    command.add_argument("--warmup", metavar="N", type=_count0, help="instead of [Test] warmup")
    command.add_argument("--seed", metavar="N", type=_seed, help="instead of [Test] seed")
    command.add_argument(
        "--set",
        metavar="KEY=VALUE",
        dest="settings",
        action="append",
        default=[],
        type=_setting,
        help="instead of the master file's setting; may be repeated",
    )
    _add_transport(command)
    command.add_argument("-q", "--quiet", action="store_true", help="report errors only")


def _add_check(commands):
    command = _command(commands, "check", "check the configuration of an experiment")
    command.add_argument("master", metavar="MASTER", help="master file")
    command.add_argument(
        "--players", action="store_true", help="also whether players have the programs of the steps"
    )
    _add_transport(command)


def _add_transport(command):
    command.add_argument(
        "--transport",
        metavar="KIND",
        type=_transport,
        help="instead of [Transport], for all players: local, namespace, ssh or ssh:HOST",
    )
    command.add_argument("--inventory", metavar="FILE", help="hosts of ssh, as for Ansible")


def _add_show(commands):
    command = _command(commands, "show", "show the results of an experiment as tables")
    command.add_argument("folder", metavar="FOLDER", help="folder of results")
    _add_precision(command)
    _add_format(command)


def _add_precision(command):
    command.add_argument(
        "--precision",
        metavar="PERCENT",
        type=_percent,
        default=1.0,
        help="how many trials an interval of this half width needs (default: 1)",
    )


def _percent(text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.001 <= value <= 100:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number from 0.001 to 100')
    return value


def _add_compare(commands):
    command = _command(commands, "compare", "compare two experiments, or two variants of one")
    command.add_argument("folder", metavar="FOLDER", help="folder of results")
    command.add_argument("others", metavar="FOLDER|VARIANT VARIANT", nargs="+")
    command.add_argument("--value", metavar="NAME", help="only this value")
    _add_precision(command)
    command.add_argument(
        "--any-environment",
        action="store_true",
        help="compare two folders although their machines or settings differ",
    )
    _add_format(command)


def _add_format(command):
    command.add_argument(
        "--format", choices=("text", "json"), default="text", metavar="FORMAT", help="text or json"
    )
    command.add_argument(
        "--json",
        action="store_const",
        dest="format",
        const="json",
        help="the same as --format json",
    )


def _number(text, least, most):
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number from {least} to {most}')
    return int(text)


def _count(text):
    return _number(text, 1, 100000)


def _count0(text):
    return _number(text, 0, 100000)


def _seed(text):
    return _number(text, 0, 2**63 - 1)


def _setting(text):
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise argparse.ArgumentTypeError(f'"{text}" is not of the form KEY=VALUE')
    return key, value


def _transport(text):
    parsed = additions.transport(text.replace(":", " ", 1))
    if not parsed:
        raise argparse.ArgumentTypeError(f'"{text}" is none of local, namespace, ssh, ssh:HOST')
    return parsed
