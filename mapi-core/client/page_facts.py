# SPDX-License-Identifier: MIT
"""page_facts: files of pages/ -> facts about each function or call, and parts of a manual page."""

import re
import sys

TEXTS = ("summary", "text", "result", "returns", "threads")


class Fact:
    """Facts about one function or call."""

    def __init__(self):
        self.arguments = {}
        self.errors = None  # number -> cause; None: not specified yet
        self.texts = {}

    def add(self, where, kind, name, text):
        if kind == "argument":
            self.arguments[name] = text
        elif kind == "error":
            self.errors = self.errors or {}
            if name in self.errors:
                sys.exit(f"{where}: error {name} is specified twice")
            self.errors[name] = text
        elif kind in TEXTS and kind not in self.texts:
            self.texts[kind] = text
        else:
            sys.exit(f"{where}: {kind} is unknown here, or specified twice")

    def check(self, name, arguments, texts):
        """Checks that nothing is missing, and that the arguments are those of the synopsis."""
        if list(self.arguments) != arguments:
            sys.exit(f"{name}: mapi.3 has the arguments {arguments}, pages/ {list(self.arguments)}")
        missing = [text for text in texts if text not in self.texts] + (
            ["error"] if self.errors is None else []
        )
        if missing:
            sys.exit(f"{name}: pages/ lacks: {', '.join(missing)}")


class Facts(dict):
    """Name -> Fact; heads are the names that share one, common_errors come before the first head of
    a file."""

    def __init__(self, paths, numbers):
        super().__init__()
        self.heads = []
        self.common_errors = {}
        self.names = numbers
        for path in paths:
            self._read(path, numbers)

    def _read(self, path, numbers):
        fact = Fact()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{path.name}:{number}"
            if line.startswith("= "):
                fact = self._begin(where, line[2:].split(", "))
            elif match := re.fullmatch(
                r"(error) (\d+): (.+)|(argument) (\w+): (.+)|(\w+)(): (.+)", line
            ):
                kind, name, text = (part for part in match.groups() if part is not None)
                if kind == "error" and int(name) not in numbers:
                    sys.exit(f"{where}: errors.h has no {name}")
                fact.add(where, kind, name, text)
            elif line == "error none":
                fact.errors = {}
            elif line and not line.startswith("#"):
                sys.exit(f"{where}: malformed line: {line}")
            if not self.heads:
                self.common_errors = fact.errors or {}

    def _begin(self, where, names):
        fact = Fact()
        for name in names:
            if name in self:
                sys.exit(f"{where}: {name} is specified twice")
            self[name] = fact
        self.heads.append(names)
        return fact


def read_numbers(header):
    return {
        int(number): name
        for name, number in re.findall(r"^\s+(\w+) = (\d+)", header.read_text(), re.MULTILINE)
    }


def roff(text):
    """Escapes a leading dot or quote, which would be a request."""
    return re.sub(r"^(?=[.'])", r"\\\\&", text)


def argument_list(arguments):
    return "\n".join(f".TP\n.I {name}\n{roff(text)}" for name, text in arguments.items())


def error_list(errors, names):
    return "\n".join(
        f'.TP\n.BR {number} " {names[int(number)]}"\n{roff(text)}'
        for number, text in errors.items()
    )
