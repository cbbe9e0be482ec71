# SPDX-License-Identifier: MIT
# Runs nsreport on a document or file -> exit code, output, folder.
import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")
NSREPORT = os.path.join(os.environ.get("NETSLICE_BIN", ""), "nsreport")
SKIP = 77


def load(name):
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        return json.load(file)


STATS = load("stats.json")
COST = load("mapi_cost.json")


class ReportCase(unittest.TestCase):
    def setUp(self):
        self._temp = tempfile.TemporaryDirectory(prefix="nsreport-test-")
        self.addCleanup(self._temp.cleanup)
        self.folder = self._temp.name
        self.out = os.path.join(self.folder, "report")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(self.path(name), mode, **({} if mode == "wb" else {"encoding": "utf-8"})) as file:
            file.write(content)
        return self.path(name)

    def run_report(self, *arguments, env=None, **options):
        """Runs nsreport with the replacement for nsdump."""
        environment = {
            **os.environ,
            "NSDUMP": os.path.join(DATA, "fake_nsdump"),
            "FAKE_STATS": os.path.join(DATA, "stats.json"),
            **(env or {}),
        }
        return subprocess.run(
            [sys.executable, NSREPORT, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            **options,
        )

    def report_of(self, document):
        """A document that must give a report -> text of its page."""
        done = self.run_report(self.write("input.json", json.dumps(document)), "-o", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.page()

    def page(self):
        with open(os.path.join(self.out, "index.html"), encoding="utf-8") as file:
            return file.read()

    def leftovers(self):
        """What is in the folder besides the inputs."""
        return sorted(n for n in os.listdir(self.folder) if n.startswith(".") or n == "report")


def stats():
    return copy.deepcopy(STATS)


def cost():
    return copy.deepcopy(COST)


def main():
    if not os.access(NSREPORT, os.R_OK):
        print(f"skipped: no nsreport in NETSLICE_BIN ({NSREPORT})")
        sys.exit(SKIP)
    from shutil import which

    if not which("gnuplot"):
        print("skipped: gnuplot is not installed")
        sys.exit(SKIP)
    unittest.main(verbosity=2)
