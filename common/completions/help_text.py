# SPDX-License-Identifier: MIT
"""help_text: what a program's --help says -> its commands and options.

All programs print their help in one form, out of their tables of arguments.
"""

import dataclasses
import re
import subprocess

FILES = {"FILE", "FILES", "RULES", "TRACE", "MASTER", "CAPTURE", "SOCKET"}
FOLDERS = {"FOLDER", "DIR"}
SPEC = re.compile(r"^ {2,4}(-\S.*?)(?: {2,}(\S.*))?$")
NAME = re.compile(r"^--?[\w-]+$")
WORDS = re.compile(r"^\w[\w.-]*(\|\w[\w.-]*)+$")
COMMAND = re.compile(r"^ {2,4}([a-z][\w-]*)(?: {2,}(\S.*))?$")
COMMANDS_OF = re.compile(r"^(?:SUBCOMMANDS|positional arguments):$", re.IGNORECASE)


@dataclasses.dataclass
class Option:
    letters: list  # "-w"
    longs: list  # "--write"
    value: str  # "" without one; "file", "folder", "text", or words separated by |
    says: str

    def names(self):
        return self.letters + self.longs

    def choices(self):
        return self.value.split("|") if "|" in self.value else []


@dataclasses.dataclass
class Command:
    name: str  # "" of the program itself
    says: str
    options: list


@dataclasses.dataclass
class Program:
    name: str
    itself: Command
    commands: list


def value_of(kind):
    if kind in FILES:
        return "file"
    if kind in FOLDERS:
        return "folder"
    return kind if WORDS.match(kind) else "text" if kind else ""


def option_of(spec, says):
    """ "-w,--write FILE", "-o DIR, --output DIR" """
    words = re.split(r",\s*|\s+", spec)
    names = [word for word in words if NAME.match(word)]
    kinds = [word for word in words if word and word not in names]
    return Option(
        [name for name in names if not name.startswith("--")],
        [name for name in names if name.startswith("--")],
        value_of(kinds[0] if kinds else ""),
        says,
    )


def described(first, following):
    """The description, which may begin and continue in the following lines."""
    words = [first] if first else []
    for line in following:
        if not line.startswith(" " * 8) or SPEC.match(line):
            break
        words.append(line.strip())
    return " ".join(words)


def options_of(text):
    lines = text.splitlines()
    options = []
    for number, line in enumerate(lines):
        if match := SPEC.match(line):
            spec, says = match.groups()
            options.append(option_of(spec, described(says, lines[number + 1 :])))
    return options


def commands_of(text, program):
    """{name: what it does}"""
    found = {}
    is_inside = False
    for line in text.splitlines():
        if COMMANDS_OF.match(line):
            is_inside = True
        elif is_inside and not line.startswith(" "):
            is_inside = False
        elif is_inside and (match := COMMAND.match(line)):
            found[match[1]] = match[2] or ""
    in_usage = re.findall(rf"^(?:usage:)?\s+{program} ([a-z|]+) \[", text, re.MULTILINE)
    for name in "|".join(in_usage).split("|"):
        if name:
            found.setdefault(name, "")
    return found


def help_of(path, *words):
    return subprocess.run(
        [path, *words, "--help"], capture_output=True, text=True, check=True
    ).stdout


def program_of(path, name):
    text = help_of(path)
    commands = [
        Command(command, says, options_of(help_of(path, command)))
        for command, says in commands_of(text, name).items()
    ]
    return Program(name, Command("", "", options_of(text)), commands)
