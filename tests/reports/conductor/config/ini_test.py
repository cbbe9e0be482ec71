# SPDX-License-Identifier: MIT
# Files in configparser's format are read as configparser, and with it Conductor, reads them.
import configparser
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import conduct_case  # noqa: E402,F401
from nsconduct.config import ini  # noqa: E402

TEXTS = {
    "comments and both separators": "# c\n; c\n[Test]\ntrials: 3\n  # c\nx = a:b\n",
    "continued lines": "[Run]\nstep1: a \\\n    b\n\tc\nstep2: d\n\n\n  e\n[Reset]\n",
    "a value on the next line": "[Run]\nstep1:\n  a\nstep2 :b\n",
    "names in capitals": "[Run]\nStep1: A=B\nSTEP2=c = d\n",
    "escaped and expanded values": "[DEFAULT]\nd: x\n[Run]\na: %(d)s-%(b)s\nb: y%%z\n",
    "comment in a continued value": "[Run]\nstep1: a\n  # no\n  b\n\nstep2: c\n",
    "a comment behind a value belongs to it": "[Master]\nplayer = 10.0.0.1   # address\n",
    "an indented section": "[Run]\nstep1: a\n  [Reset]\n",
}


def read(text):
    problems = ini.Problems()
    file = ini.IniFile("f.cfg", text, problems)
    return file, problems.errors


class IniTest(unittest.TestCase):
    def test_values_are_those_of_configparser(self):
        for what, text in TEXTS.items():
            with self.subTest(what):
                parser = configparser.ConfigParser()
                parser.read_string(text)
                file, errors = read(text)
                self.assertEqual(errors, [])
                for name in parser.sections():
                    own = {key: parser[name][key] for key in parser._sections[name]}
                    found = {entry.key: entry.value for entry in file.sections[name].entries}
                    self.assertEqual(found, own)

    def test_what_configparser_refuses_is_an_error_with_its_line(self):
        for text, line in (
            ("trials: 1\n", 1),
            ("[Test]\n\nno separator\n", 3),
            ("[Test]\na: 1\n\nA: 2\n", 4),
            ("[Test]\n[Other]\n[Test]\n", 3),
            ("[Test]\na: %(missing)s\n", 2),
        ):
            with self.subTest(text):
                with self.assertRaises(configparser.Error):
                    parser = configparser.ConfigParser()
                    parser.read_string(text)
                    {name: dict(parser[name]) for name in parser.sections()}
                _, errors = read(text)
                self.assertEqual(len(errors), 1, errors)
                self.assertTrue(errors[0].startswith(f"f.cfg:{line}: "), errors)

    def test_a_single_percent_sign_is_kept(self):
        file, errors = read("[Run]\nstep1: date +%s; printf '%d%%'\n")
        self.assertEqual(errors, [])
        self.assertEqual(file.sections["Run"].entries[0].value, "date +%s; printf '%d%'")

    def test_an_entry_knows_the_line_that_it_starts_in(self):
        file, _ = read("\n[Run]\nstep1: a\n  b\nstep2: c\n")
        self.assertEqual([e.line for e in file.sections["Run"].entries], [3, 5])


if __name__ == "__main__":
    unittest.main(verbosity=2)
