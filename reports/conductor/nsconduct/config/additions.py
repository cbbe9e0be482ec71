# SPDX-License-Identifier: MIT
# Sections of the master file that Conductor does not have: [Transport], [Settings], [Variants],
# [Values], [Collectors].
import re
import warnings

from ..collectors.registry import COLLECTORS
from .experiment import ONLY_VARIANT, PHASES, Value

KINDS = ("local", "namespace", "ssh")
VALUE_KINDS = ("json", "regex", "seconds")
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")  # also the name of a folder
_VALUE_FORM = "PLAYER PHASE STEP UNIT json PATH | regex EXPRESSION | seconds"


def transports(file, players, override):
    """override: of the command line, for all players."""
    chosen = {name: ("local", "") for name in players}
    section = file.section("Transport")
    for entry in section.entries if section else ():
        if not _known(file, entry, players):
            continue
        parsed = transport(entry.value)
        if parsed and parsed[1].startswith("-"):
            file.problems.error(file.path, entry.line, f'{entry.name}: "{parsed[1]}" is no host')
        elif parsed:
            chosen[entry.key] = parsed
        else:
            file.problems.error(
                file.path,
                entry.line,
                f'{entry.name}: "{entry.value}" is no transport (local, namespace, namespace NAME, '
                "ssh HOST)",
            )
    if override:
        chosen = {name: override for name in players}
    return {
        name: (kind, argument or (_address(file, players[name]) if kind == "ssh" else ""))
        for name, (kind, argument) in chosen.items()
    }


def _address(file, player):
    """The host of ssh that its own file has.  Ansible would take -x as an option."""
    if not player.address or player.address.startswith("-"):
        file.problems.error(
            player.path, 1, "the host's address is required for ssh ([Master] player: ADDRESS)"
        )
    return player.address


def transport(text):
    """Its kind and argument, or None."""
    words = text.split()
    most = {"local": 1, "namespace": 2, "ssh": 2}
    if not words or words[0] not in KINDS or len(words) > most[words[0]]:
        return None
    return words[0], words[1] if len(words) > 1 else ""


def settings(file, changed):
    """changed: of the command line; only what the file has can be changed."""
    section = file.section("Settings")
    found = {}
    for entry in section.entries if section else ():
        if not entry.name.isidentifier():
            file.problems.error(
                file.path,
                entry.line,
                f'"{entry.name}" is no name of a setting (letters, digits, _)',
            )
        found[entry.name] = entry.value
    for key, value in changed.items():
        if key not in found:
            file.problems.error(file.path, section.line if section else 1, f'no setting "{key}"')
        found[key] = value
    return found


def variants(file, fixed):
    """fixed: keys that are settings."""
    section = file.section("Variants")
    found = {}
    for entry in section.entries if section else ():
        settings = {}
        if not _NAME.fullmatch(entry.name):
            file.problems.error(
                file.path,
                entry.line,
                f'"{entry.name}" is no name of a variant (letters, digits, .+-_)',
            )
        for word in entry.value.split():
            key, equals, value = word.partition("=")
            if not equals or not key.isidentifier():
                file.problems.error(
                    file.path, entry.line, f'{entry.name}: "{word}" is not of the form key=value'
                )
            if key in fixed:
                file.problems.error(file.path, entry.line, f'"{key}" is already in [Settings]')
            settings[key] = value
        found[entry.name] = settings
    _check_same_keys(file, section, found)
    return found or {ONLY_VARIANT: {}}


def _check_same_keys(file, section, found):
    every = {key for settings in found.values() for key in settings}
    for name, settings in found.items():
        for key in sorted(every - set(settings)):
            file.problems.error(file.path, section.line, f'[Variants]: {name} has no "{key}"')


def values(file, players):
    section = file.section("Values")
    found = []
    for entry in section.entries if section else ():
        value = _value(file, entry, players)
        if value:
            found.append(value)
    return found


def _value(file, entry, players):
    words = entry.value.split(None, 5)
    if len(words) < 5 or words[4] not in VALUE_KINDS or (len(words) < 6) != (words[4] == "seconds"):
        file.problems.error(file.path, entry.line, f"{entry.name}: required: {_VALUE_FORM}")
        return None
    player, phase, step_name, unit, kind = words[:5]
    player, phase = player.lower(), phase.lower()
    if player not in players:
        file.problems.error(file.path, entry.line, f'{entry.name}: no player "{player}"')
        return None
    if phase not in PHASES:
        file.problems.error(
            file.path, entry.line, f'{entry.name}: "{phase}" is no phase ({", ".join(PHASES)})'
        )
        return None
    step = players[player].step(phase, step_name)
    if not step:
        file.problems.error(
            file.path, entry.line, f'{entry.name}: {player} has no step "{step_name}" in {phase}'
        )
        return None
    argument = words[5] if len(words) > 5 else ""
    if kind == "regex" and not _is_expression(file, entry, argument):
        return None
    return Value(entry.name, player, phase, step, unit, kind, argument)


def _is_expression(file, entry, text):
    try:
        with warnings.catch_warnings(action="ignore"):  # of a later syntax
            groups = re.compile(text).groups
    except (re.error, OverflowError, RecursionError) as error:
        file.problems.error(file.path, entry.line, f'{entry.name}: "{text}": {error}')
        return False
    if groups != 1:
        file.problems.error(
            file.path, entry.line, f'{entry.name}: "{text}" requires one group, around the number'
        )
    return groups == 1


def collectors(file, players):
    section = file.section("Collectors")
    found = {}
    for entry in section.entries if section else ():
        for name in entry.value.split():
            if name not in COLLECTORS:
                file.problems.error(
                    file.path,
                    entry.line,
                    f'{entry.name}: no collector "{name}" ({", ".join(COLLECTORS)})',
                )
        if _known(file, entry, players):
            found[entry.key] = entry.value.split()
    return found


def _known(file, entry, players):
    if entry.key not in players:
        file.problems.error(
            file.path, entry.line, f'no player "{entry.name}" (players: {", ".join(players)})'
        )
    return entry.key in players
