# SPDX-License-Identifier: MIT
"""sids as a process on rules of a test."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from mapid import BUILD, wait_until

SIDS = BUILD / "bin/sids"
SOURCE = pathlib.Path(os.environ["NETSLICE_SOURCE"])
DEMO = SOURCE / "mapi-core/apps/demo/demo.pcap"


def environment(socket="none"):
    return os.environ | {"MAPI_SOCKET": str(socket)}


def rows(text):
    """The columns of each rule of a table, by id."""
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return {int(words[0]): words[1:] for words in lines}


def packets(text):
    """The packets of each rule of a table, by id."""
    return {number: int(words[0]) for number, words in rows(text).items()}


def tables(text):
    """Each table of an output with several."""
    return text.split("#id\t")[1:]


def ask(program, number):
    """Sends a signal, if the program catches it already; otherwise it would end."""
    for line in pathlib.Path(f"/proc/{program.pid}/status").read_text().splitlines():
        if line.startswith("SigCgt") and int(line.split()[1], 16) & 1 << (number - 1):
            program.send_signal(number)
            return True
    return False


class SidsTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.rules = self.folder / "a.rules"

    def sids(self, rules, *arguments, socket="none"):
        """A run on the rules to its end."""
        self.rules.write_text(rules)
        return subprocess.run(
            [SIDS, "-R", self.rules, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env=environment(socket),
        )

    def table(self, rules, *arguments, socket="none"):
        program = self.sids(rules, *arguments, socket=socket)
        self.assertEqual((program.stderr, program.returncode), ("", 0))
        return program.stdout

    def begin(self, rules, *arguments, socket="none", stdin=None):
        """A run in the background, whose outputs are files."""
        self.rules.write_text(rules)
        self.out, self.err = self.folder / "out", self.folder / "err"
        with open(self.out, "w") as out, open(self.err, "w") as err:
            program = subprocess.Popen(
                [SIDS, "-R", self.rules, *map(str, arguments)],
                stdin=stdin,
                stdout=out,
                stderr=err,
                cwd=self.folder,
                env=environment(socket),
            )
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program

    def last_table(self):
        shown = tables(self.out.read_text())
        return packets("#" + shown[-1]) if shown else {}

    def until(self, condition):
        """Waits; with what the program has written if it was in vain."""
        self.assertTrue(wait_until(condition), self.out.read_text() + self.err.read_text())


def alerts_of(text):
    """Alerts and, at the end, statistics."""
    lines = [json.loads(line) for line in text.splitlines()]
    return lines[:-1], lines[-1]["stats"]
