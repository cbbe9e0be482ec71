# SPDX-License-Identifier: MIT
# A file in the format of Python's configparser, which Conductor uses -> sections, whose entries
# know their lines.
#
# configparser itself does not keep line numbers.  tests/reports/conductor/config_test.py compares
# both.
import dataclasses
import re

DEFAULTS = "DEFAULT"
_HEADER = re.compile(r"\[(.+)\]")
_OPTION = re.compile(r"(.*?)\s*[=:]\s*(.*)$")
_REFERENCE = re.compile(r"%%|%\(([^)]+)\)s")
MAX_BYTES = 1 << 20
_WHOLE = re.compile(r"[0-9]{1,19}")


def whole(text, least, most):
    """A whole number in these limits, or None."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and least <= number <= most else None


@dataclasses.dataclass
class Entry:
    key: str  # lower case, as configparser has it
    name: str  # as written
    value: str
    line: int


@dataclasses.dataclass
class Section:
    name: str
    line: int
    entries: list


class Problems:
    """Errors and warnings of one or several files, in their order."""

    def __init__(self):
        self.errors = []
        self.warnings = []

    def error(self, path, line, message):
        self.errors.append(f"{path}:{line}: {message}")

    def warn(self, path, line, message):
        self.warnings.append(f"{path}:{line}: warning: {message}")


class IniFile:
    """repeatable(section, key) allows a second entry of the same name."""

    def __init__(self, path, text, problems, repeatable=lambda _section, _key: False):
        self.path = path
        self.problems = problems
        self.sections = {}
        self._repeatable = repeatable
        self._read(text)
        for section in self.sections.values():
            for entry in section.entries:
                entry.value = self._expanded(section, entry)

    def section(self, *names):
        """The first of these sections that the file has, or None."""
        return next((self.sections[name] for name in names if name in self.sections), None)

    def _read(self, text):
        section, entry, indent = None, None, 0
        for number, line in enumerate(text.split("\n"), start=1):
            stripped = line.strip()
            if stripped.startswith(("#", ";")):
                continue
            if not stripped:
                if entry:
                    entry.value += "\n"
                continue
            depth = len(line) - len(line.lstrip())
            if entry and depth > indent:
                entry.value += "\n" + stripped
                continue
            indent = depth
            header = _HEADER.match(stripped)
            if header:
                section, entry = self._new_section(header[1], number), None
            else:
                entry = self._new_entry(section, stripped, number) or entry
        for found in self.sections.values():
            for read in found.entries:
                read.value = read.value.rstrip()

    def _new_section(self, name, line):
        if name in self.sections:
            earlier = self.sections[name].line
            self.problems.error(self.path, line, f"[{name}] is already in line {earlier}")
        return self.sections.setdefault(name, Section(name, line, []))

    def _new_entry(self, section, text, line):
        option = _OPTION.match(text)
        if section is None:
            self.problems.error(self.path, line, "a [Section] is required before this line")
            return None
        if not option or not option[1]:
            self.problems.error(
                self.path, line, f'"{text}" is neither "name: value" nor a [Section]'
            )
            return None
        key = option[1].lower()
        for earlier in section.entries:
            if earlier.key == key and not self._repeatable(section.name, key):
                self.problems.error(
                    self.path,
                    line,
                    f'"{option[1]}" is already in line {earlier.line} of [{section.name}]',
                )
                break
        entry = Entry(key, option[1], option[2], line)
        section.entries.append(entry)
        return entry

    def _expanded(self, section, entry):
        """%% is %, %(name)s the value of another entry; any other % stays."""
        known = {}
        for source in (self.sections.get(DEFAULTS), section):
            known.update({other.key: other.value for other in source.entries} if source else {})

        def replacement(found):
            if found[0] == "%%":
                return "%"
            if found[1].lower() not in known:
                self.problems.error(
                    self.path, entry.line, f'"{found[0]}": [{section.name}] has no "{found[1]}"'
                )
                return found[0]
            return known[found[1].lower()].replace("%%", "%")

        return _REFERENCE.sub(replacement, entry.value)
