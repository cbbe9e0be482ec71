# SPDX-License-Identifier: MIT
# A player's file -> its steps by phase.
#
# Steps run in the order of the file.  "spawn" anywhere in a step's name starts it in the
# background; timeoutN ends it after N seconds.  Conductor knows both in [Run] only; here any phase
# may have them.
import re

from . import ini
from .experiment import PHASES, PlayerFile, Step

_TIMEOUT = re.compile(r"timeout([0-9]+)")
_NAME = re.compile(r"[^/\x00-\x1f]{1,100}")  # also part of a file's name
_PORTS = ("cmdport", "resultsport")
_KNOWN = {"Master", "Coordinator", ini.DEFAULTS, *(phase.title() for phase in PHASES)}
MAX_TIMEOUT_S = 7 * 24 * 3600


def read(path, text, problems):
    file = ini.IniFile(path, text, problems, _may_repeat)
    for section in file.sections.values():
        if section.name not in _KNOWN:
            problems.warn(path, section.line, f"[{section.name}] is unknown and has no effect")
    if not any(phase.title() in file.sections for phase in PHASES):
        problems.error(
            path, 1, "no steps: [Startup], [Run], [Collect] or [Reset] is required in a player file"
        )
    address = _address(file)
    return PlayerFile(path, address, {phase: _steps(file, phase) for phase in PHASES})


def _may_repeat(section, key):
    """Two steps of a phase may have the same timeout."""
    return section.lower() in PHASES and bool(_TIMEOUT.fullmatch(key))


def _address(file):
    head = file.section("Master", "Coordinator")
    address = ""
    for entry in head.entries if head else ():
        value = entry.value.split("#")[0].strip()
        if entry.key == "player":
            address = value
        elif entry.key in _PORTS and ini.whole(value, 1, 65535) is None:
            file.problems.error(
                file.path, entry.line, f'{entry.name}: "{entry.value}" is no port (1 to 65535)'
            )
    return address


def _steps(file, phase):
    section = file.section(phase.title())
    steps, used = [], {}
    for entry in section.entries if section else ():
        seconds = _timeout(file, entry)
        if not _NAME.fullmatch(entry.key):
            file.problems.error(
                file.path,
                entry.line,
                f'"{entry.name}" is no name of a step (1 to 100 characters, no /)',
            )
        if not entry.value:
            file.problems.error(file.path, entry.line, f"{entry.name}: a command is required")
        used[entry.key] = used.get(entry.key, 0) + 1
        again = f"-{used[entry.key]}" if used[entry.key] > 1 else ""
        steps.append(
            Step(
                name=entry.key + again,
                place=len(steps) + 1,
                command=entry.value,
                spawn="spawn" in entry.key,
                timeout_s=seconds,
                path=file.path,
                line=entry.line,
            )
        )
    return steps


def _timeout(file, entry):
    if "timeout" not in entry.key or "spawn" in entry.key:
        return None
    found = _TIMEOUT.fullmatch(entry.key)
    seconds = ini.whole(found[1], 1, MAX_TIMEOUT_S) if found else None
    if seconds is None:
        file.problems.error(
            file.path,
            entry.line,
            f'"{entry.name}": timeout must be followed by whole seconds, 1 to {MAX_TIMEOUT_S} '
            "(example: timeout10)",
        )
        return None
    return seconds
