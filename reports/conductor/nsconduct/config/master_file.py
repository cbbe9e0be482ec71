# SPDX-License-Identifier: MIT
# A master file and the player files that it names -> Experiment, or all errors in them.
import os
import re

from ..errors import EXIT_USAGE, ConductError, ConfigErrors
from . import additions, ini, network, player_file
from .experiment import DEFAULT_TIMEOUT_S, Experiment

_PLAYER_SECTIONS = ("Clients", "Workers")
_KNOWN = {
    *("Test", "Transport", "Settings", "Variants", "Values", "Collectors", "Network"),
    *_PLAYER_SECTIONS,
    ini.DEFAULTS,
}
# Conductor's own have no effect here: players need no port, and results have one form.
_OF_CONDUCTOR = ("host", "cmdport", "resultsport", "format", "output")
MAX_TRIALS = 100000
_NAME = re.compile(r"\w[^/\x00-\x1f]{0,99}")  # also the name of a folder


def read(path, transport=None, settings=None):
    """transport: (kind, argument) for all players; settings: in place of those of the file."""
    problems = ini.Problems()
    text = _text(path)
    file = ini.IniFile(
        path, text, problems, lambda section, key: section == "Network" and network.may_repeat(key)
    )
    for section in file.sections.values():
        if section.name not in _KNOWN:
            problems.warn(path, section.line, f"[{section.name}] is unknown and has no effect")
    test = _Test(file)
    players, files = _players(file)
    transports = additions.transports(file, players, transport)
    files[path] = text
    known = additions.settings(file, settings or {})
    experiment = Experiment(
        name=os.path.splitext(os.path.basename(path))[0],
        path=path,
        folder=os.path.dirname(os.path.abspath(path)),
        files=files,
        trials=test.number("trials", 1, 1, MAX_TRIALS),
        warmup=test.number("warmup", 0, 0, MAX_TRIALS),
        seed=test.number("seed", None, 0, 2**63 - 1),
        timeout_s=test.number("timeout", DEFAULT_TIMEOUT_S, 1, player_file.MAX_TIMEOUT_S),
        players=players,
        transports=transports,
        settings=known,
        variants=additions.variants(file, known),
        values=additions.values(file, players),
        collectors=additions.collectors(file, players),
        network=network.read(file, transports),
        warnings=problems.warnings,
    )
    if problems.errors:
        raise ConfigErrors(problems.errors)
    return experiment


def _text(path):
    try:
        with open(path, "rb") as file:
            content = file.read(ini.MAX_BYTES + 1)
    except OSError as error:
        raise ConductError(EXIT_USAGE, f"{path}: cannot open: {error.strerror}") from error
    if len(content) > ini.MAX_BYTES:
        raise ConductError(EXIT_USAGE, f"{path}: longer than {ini.MAX_BYTES} bytes")
    place = content.find(b"\0")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        place = error.start
    if place >= 0:
        line = content[:place].count(b"\n") + 1
        raise ConductError(EXIT_USAGE, f"{path}:{line}: not UTF-8 text")
    return text


class _Test:
    """[Test]: whole numbers."""

    def __init__(self, file):
        self._file = file
        section = file.section("Test")
        self._entries = {entry.key: entry for entry in section.entries} if section else {}
        if not section:
            file.problems.error(file.path, 1, "[Test] is required in a master file")
        for entry in self._entries.values():
            if entry.key not in ("trials", "warmup", "seed", "timeout", *_OF_CONDUCTOR):
                file.problems.warn(
                    file.path, entry.line, f'"{entry.name}" is unknown in [Test] and has no effect'
                )

    def number(self, key, default, least, most):
        entry = self._entries.get(key)
        if entry is None:
            return default
        number = ini.whole(entry.value, least, most)
        if number is None:
            self._file.problems.error(
                self._file.path,
                entry.line,
                f'{entry.name}: "{entry.value}" is no whole number from {least} to {most}',
            )
            return default
        return number


def _players(file):
    """Players in the file's order, and the text of each file."""
    section = file.section(*_PLAYER_SECTIONS)
    if section is None or not section.entries:
        file.problems.error(
            file.path, section.line if section else 1, "[Clients] with name: file is required"
        )
        return {}, {}
    players, files = {}, {}
    for entry in section.entries:
        if not _NAME.fullmatch(entry.key):
            file.problems.error(
                file.path,
                entry.line,
                f'"{entry.name}" is no name of a player (1 to 100 characters, no /)',
            )
            continue
        path = _beside(file.path, entry.value)
        try:
            if os.path.exists(path) and not os.path.isfile(path):  # a pipe might never end
                raise ConductError(EXIT_USAGE, f"{path}: not a regular file")
            files[path] = _text(path)
        except ConductError as error:
            file.problems.error(file.path, entry.line, f"{entry.name}: {error}")
            continue
        players[entry.key] = player_file.read(path, files[path], file.problems)
    return players, files


def _beside(master, name):
    """Relative to the master file; if not there, to the working folder, as in Conductor."""
    beside = os.path.join(os.path.dirname(master), name)
    return beside if os.path.exists(beside) or not os.path.exists(name) else name
