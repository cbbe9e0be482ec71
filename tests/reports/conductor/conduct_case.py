# SPDX-License-Identifier: MIT
# Runs nsconduct on files that a test writes -> exit code, messages, results.
import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("NETSLICE_SOURCE") or os.path.normpath(os.path.join(HERE, "../../.."))
NSCONDUCT = os.path.join(os.environ.get("NETSLICE_BIN", ""), "nsconduct")
SKIP = 77
PATIENCE_S = 60  # a loaded machine is slow; nothing takes this long otherwise

sys.path[:0] = [os.path.join(SOURCE, "reports"), os.path.join(SOURCE, "reports", "conductor")]


def needs(*packages):
    """Skips the whole test if one of these Python packages is missing."""
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            print(f"skipped: {error}")
            sys.exit(SKIP)


class ConductCase(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory(prefix="nsconduct-test-")
        self.addCleanup(temp.cleanup)
        self.folder = temp.name
        self.out = self.path("out")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def master(self, *players, test="trials: 1", more=""):
        """A master file with these players, whose files are NAME.cfg."""
        names = "".join(f"{name}: {name}.cfg\n" for name in players)
        return self.write("master.cfg", f"[Test]\n{test}\n[Clients]\n{names}{more}")

    def player(self, name, **phases):
        """phases: text of [Startup] and so on."""
        text = "".join(f"[{phase.title()}]\n{steps}\n" for phase, steps in phases.items())
        return self.write(f"{name}.cfg", text)

    def command(self, *arguments):
        return [sys.executable, "-B", NSCONDUCT, *arguments]

    def conduct(self, *arguments, env=None):
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def run_master(self, *arguments, code=0, env=None):
        """Runs master.cfg -> messages."""
        done = self.conduct("run", self.path("master.cfg"), "-o", self.out, *arguments, env=env)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    @contextlib.contextmanager
    def running(self, *arguments):
        """master.cfg in the background."""
        process = subprocess.Popen(
            self.command("run", self.path("master.cfg"), "-o", self.out, *arguments),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def lines(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def trials(self):
        return self.lines("trials.jsonl")

    def steps(self):
        return self.lines("steps.jsonl")

    def results(self):
        with open(os.path.join(self.out, "results.json"), encoding="utf-8") as file:
            return json.load(file)

    def output(self, *place):
        with open(os.path.join(self.out, "output", *place), encoding="utf-8") as file:
            return file.read()

    def wait_for(self, condition, what):
        end_s = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), end_s, f"not seen: {what}")
            time.sleep(0.01)

    def wait_for_file(self, name):
        self.wait_for(lambda: os.path.exists(self.path(name)), name)

    def assert_nothing_left(self):
        """No process that works in this test's folder or has its name in the command line."""
        self.wait_for(lambda: not self.processes(), f"the end of {self.processes()}")

    def processes(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    command = file.read().decode(errors="replace").replace("\0", " ")
                if int(pid) != os.getpid() and (
                    self.folder in command or os.readlink(f"/proc/{pid}/cwd") == self.folder
                ):
                    found.append(command)
        return found


def main():
    if not os.access(NSCONDUCT, os.R_OK):
        print(f"skipped: no nsconduct in NETSLICE_BIN ({NSCONDUCT})")
        sys.exit(SKIP)
    unittest.main(verbosity=2)
