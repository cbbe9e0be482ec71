#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completions of all programs: what bash and fish offer, against what the programs' help says."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["NETSLICE_SOURCE"])
BIN = pathlib.Path(os.environ["NETSLICE_BIN"])
GENERATE = SOURCE / "common/completions/generate.py"
NAME = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")

# Fills in what bash fills in when the user presses Tab after the words.
COMPLETE = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
function=$(complete -p "$1" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
$function
[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' "${COMPREPLY[@]}"
"""


def run(*words):
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, timeout=60
    )


def names_in(text):
    """The options that a help lists, without its examples."""
    lines = [line for line in text.splitlines() if re.match(r" {2,4}-", line)]
    return {name for line in lines for name in NAME.findall(line.strip().split("  ")[0])}


class Completions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="netslice-completions-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        # Those that are installed.
        built = BIN.parent / "share/bash-completion/completions"
        cls.programs = sorted(path.name for path in built.iterdir())
        for program in cls.programs:
            done = run("python3", "-B", GENERATE, BIN / program, cls.folder)
            assert done.returncode == 0, done.stderr

    def offered(self, *words):
        script = self.folder / "bash-completion/completions" / words[0]
        done = run("bash", "-c", COMPLETE, "bash", script, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return set(done.stdout.splitlines())

    def test_bash_offers_every_option_of_every_program(self):
        for program in self.programs:
            wanted = names_in(run(BIN / program, "--help").stdout)
            self.assertIn("--help", wanted)
            self.assertEqual(self.offered(program, "-"), wanted, program)

    def test_bash_offers_commands_and_their_options(self):
        self.assertEqual(self.offered("nsdump", "ch"), {"check"})
        self.assertEqual(self.offered("nsdump", "re"), {"record"})
        self.assertLessEqual({"record", "top", "stats"}, self.offered("nsdump", ""))
        self.assertEqual(self.offered("nsconduct", "com"), {"compare"})
        self.assertEqual(self.offered("nsreport", "pap"), {"papers"})
        for program, command in (
            *(("nsdump", command) for command in self.offered("nsdump", "")),
            *(("nsconduct", command) for command in self.offered("nsconduct", "")),
        ):
            wanted = names_in(run(BIN / program, command, "--help").stdout)
            self.assertEqual(self.offered(program, command, "-"), wanted, command)

    def test_bash_offers_the_words_of_a_value(self):
        self.assertEqual(self.offered("nsdump", "top", "--sort", ""), {*SORTS})
        self.assertEqual(self.offered("nsdump", "top", "--sort", "=", "pa"), {"packet"})
        self.assertEqual(self.offered("nsdump", "top", "--sort", "="), {*SORTS})
        self.assertEqual(self.offered("nsdump", "top", "--interval", "-"), set())

    def test_bash_leaves_files_to_the_shell_where_several_are_expected(self):
        script = (self.folder / "bash-completion/completions/nsdump").read_text()
        (line,) = [line for line in script.splitlines() if '"diff --baseline"' in line]
        (trace_line,) = [line for line in script.splitlines() if '"stats -r"' in line]
        self.assertEqual(line, trace_line)

    def test_bash_leaves_the_words_of_another_program_alone(self):
        self.assertEqual(self.offered("nsdump", "record", "--", "app", "-"), set())

    def test_fish_offers_commands_options_and_words(self):
        self.need("fish")
        script = self.folder / "fish/vendor_completions.d/nsdump.fish"
        for line, wanted in (
            ("nsdump che", {"check"}),
            ("nsdump top --fil", {"--filter"}),
            ("nsdump top --sort pa", {"packet"}),
        ):
            done = run("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
            found = {one.split("\t")[0] for one in done.stdout.splitlines()}
            self.assertEqual(found, wanted, done.stderr)

    def test_fish_and_zsh_accept_every_file(self):
        for shell, place in (("fish", "fish/vendor_completions.d"), ("zsh", "zsh/site-functions")):
            self.need(shell)
            files = sorted((self.folder / place).iterdir())
            self.assertEqual(len(files), len(self.programs))
            for file in files:
                done = run(shell, "-n", file)
                self.assertEqual((done.returncode, done.stderr), (0, ""), file)

    def test_zsh_offers_commands_and_options(self):
        self.need("zsh")
        folder = self.folder / "zsh/site-functions"
        for words, wanted in (("nsdump che", "check"), ("nsdump top --filt", "--filter")):
            done = run("zsh", "-f", "-c", ZSH, "zsh", folder, words, wanted)
            self.assertIn(f"{words.rpartition(' ')[0]} {wanted}", done.stdout, done.stderr)

    def need(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"not installed: {shell}")

    def test_a_program_without_help_is_reported(self):
        wrong = self.folder / "wrong"
        wrong.write_text("#!/bin/sh\nexit 3\n")
        wrong.chmod(0o755)
        done = run("python3", "-B", GENERATE, wrong, self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("completions of wrong: its --help cannot be read", done.stderr)
        self.assertFalse((self.folder / "bash-completion/completions/wrong").exists())


SORTS = ("time", "instructions", "packet", "rate")

# A line of an interactive zsh after Tab.
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; PS1=; echo RE''ADY"
zpty -r -m shell line '*READY*'
zpty -w -n shell "$2"$'\\t'
for ((i = 0; i < 100; ++i)); do
    while zpty -r -t shell piece; do line+=$piece; done
    [[ $line == *$3* ]] && break
    sleep 0.1
done
print -r -- "$line"
zpty -d shell
"""


if __name__ == "__main__":
    unittest.main()
