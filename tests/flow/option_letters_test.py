#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All programs have one dialect of options: a letter has one long form and one meaning, as in the
table of netslice(7); help and errors have the same form."""

import collections
import os
import pathlib
import re
import subprocess
import unittest

BIN = pathlib.Path(os.environ["NETSLICE_BIN"])
PAGE = pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "common/netslice.7"
PROGRAMS = {
    "nsdump": [
        *("record", "kernel", "snapshot", "top", "show", "stats", "export", "check", "counters")
    ],
    "nscalibrate": [],
    "nsreport": [],
    "nsconduct": ["run", "check", "show", "compare"],
    "mapid": [],
    "mapi-info": ["devices", "flows", "functions", "record"],
    "mapi-count": [],
    "mapi-flow": [],
    "mapi-cost": [],
    "mapi-gen": [],
    "mapi-impair": [],
    "mapi-qos": ["collect", "report"],
    "sids": [],
    "snort2sids": [],
}
OPTION = re.compile(r"^ +(?:-(?P<letter>\w)(?:,| \S+, |, ))?(?P<long>--[\w-]+)", re.MULTILINE)
ROW = re.compile(
    r"^\\-(?P<letter>\w)\t(?P<long>\\-\\-\S+).*?T\}\tT\{\n(?P<programs>.*?)\nT\}",
    re.MULTILINE | re.DOTALL,
)


def run(*words):
    return subprocess.run(
        [BIN / words[0], *words[1:]], capture_output=True, text=True, check=False, timeout=60
    )


def built():
    return [program for program in PROGRAMS if (BIN / program).exists()]


def commands():
    """Programs, and their commands."""
    for program in built():
        yield (program,)
        yield from ((program, command) for command in PROGRAMS[program])


def options():
    """{(program, command): [(letter or None, long name)]}"""
    found = {}
    for words in commands():
        done = run(*words, "--help")
        assert done.returncode == 0, f"{words}: {done.stderr}"
        found[words] = [(match["letter"], match["long"]) for match in OPTION.finditer(done.stdout)]
        assert ("h", "--help") in found[words], f"{words}: {done.stdout}"
    return found


def words_of(programs):
    """ "nsdump (record, kernel), mapid" -> the same words as of commands(); "(not record)": all
    commands but record."""
    found = set()
    for program, named in re.findall(r"([\w-]+)(?: \(([^)]*)\))?", programs):
        every = set(PROGRAMS[program])
        chosen = set((named or "").removeprefix("not ").split(", ")) - {""}
        assert chosen <= every, f"{program}: {chosen - every}"
        chosen = every - chosen if not named or named.startswith("not ") else chosen
        found |= {(program, command) for command in chosen} if every else {(program,)}
    return found


def table():
    """{letter: (long name, words of programs and commands)} of netslice(7)."""
    rows = {}
    for match in ROW.finditer(PAGE.read_text()):
        programs = match["programs"].replace("\\", "")
        programs = ", ".join(PROGRAMS) if programs == "all" else programs.replace("\n", " ")
        rows[match["letter"]] = (match["long"].replace("\\", ""), words_of(programs))
    return rows


class Options(unittest.TestCase):
    def test_a_letter_has_one_long_form_in_all_programs(self):
        forms = collections.defaultdict(lambda: collections.defaultdict(list))
        for words, found in options().items():
            for letter, long in found:
                if letter:
                    forms[letter][long].append(" ".join(words))
        for letter, longs in forms.items():
            self.assertEqual(len(longs), 1, f"-{letter}: {dict(longs)}")

    def test_the_table_of_the_manual_has_the_letters_of_all_programs(self):
        self.assertEqual(set(built()) - set(PROGRAMS), set())
        forms, users = {}, collections.defaultdict(set)
        for words, found in options().items():
            for letter, long in found:
                if letter:
                    forms[letter] = long
                    users[letter].add(words)
        rows = table()
        self.assertEqual({letter: long for letter, (long, _) in rows.items()}, forms)
        for letter, (_, listed) in rows.items():
            listed = {words for words in listed if words[0] in built()}
            # an option of the program may also follow its commands
            missing = {words for words in listed if not {words, words[:1]} & users[letter]}
            self.assertEqual(missing, set(), f"-{letter}: in the table, not in --help")
            of_programs = {words[:1] for words in listed}
            unlisted = users[letter] - listed - of_programs
            self.assertEqual(unlisted, set(), f"-{letter}: in --help, not in the table")
            self.assertEqual({words[:1] for words in users[letter]}, of_programs, f"-{letter}")

    def test_json_is_the_short_form_of_a_format(self):
        for words, found in options().items():
            longs = [long for _, long in found]
            self.assertEqual("--json" in longs, "--format" in longs, words)

    def test_help_names_the_program_and_shows_readable_placeholders(self):
        for words in commands():
            text = run(*words, "--help").stdout
            self.assertRegex(text, rf"(?im)^usage: {words[0]} ", words)
            for raw in ("UINT", "FLOAT", "INT:", "{false}", " in [", "REQUIRED"):
                self.assertNotIn(raw, text, words)

    def test_version_has_no_letter(self):
        for program in built():
            self.assertRegex(run(program, "--version").stdout, rf"^{program} \d+\.\d+")
            self.assertEqual(run(program, "-V").returncode, 2, program)

    def test_an_unknown_option_is_reported_with_program_and_remedy(self):
        for words in commands():
            done = run(*words, "--no-such-option")
            self.assertEqual(done.returncode, 2, words)
            self.assertRegex(
                done.stderr, rf"^{words[0]}: .+ \(see {' '.join(words)}.* --help\)\n$", words
            )


if __name__ == "__main__":
    unittest.main()
