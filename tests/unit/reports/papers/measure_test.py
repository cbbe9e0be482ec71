# SPDX-License-Identifier: MIT
# nsreport papers with stand-ins for programs: what is measured, kept and measured again; parts that
# fail, and interrupts.
import json
import os
import signal
import stat
import subprocess
import sys
import time

import samples
import support

CALIBRATION = os.path.join(samples.DATA, "calibration.json")
# Writes the recorded calibration into the file after -o, and a line into the log of calls.
GOOD = f"""#!/bin/sh
echo "$@" >>"$CALLS"
while [ "$1" != -o ]; do shift; done
cp {CALIBRATION} "$2"
"""
BAD = """#!/bin/sh
echo "nscalibrate: the clock stands still (wind it up)" >&2
exit 3
"""
# Says that it runs, and ends cleanly by SIGINT only.
SLOW = """#!/bin/sh
trap 'echo left >>"$CALLS"; exit 130' INT
echo begun >>"$CALLS"
while :; do sleep 0.05; done
"""


class Measure(support.ReportCase):
    def setUp(self):
        super().setUp()
        self.calls = self.path("calls")
        self.bin = self.path("bin")
        os.mkdir(self.bin)

    def program(self, text, name="nscalibrate"):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def command(self, *arguments):
        """The real program, which looks for others in PATH."""
        return [sys.executable, "-B", "-c", START, support.NSREPORT, *arguments, "-o", self.out]

    def environment(self):
        path = f"{self.bin}:/usr/bin:/bin"
        return {**os.environ, "CALLS": self.calls, "PATH": path}

    def papers(self, *arguments):
        return subprocess.run(
            self.command(*arguments),
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def called(self):
        if not os.path.exists(self.calls):
            return []
        with open(self.calls, encoding="utf-8") as file:
            return file.read().splitlines()

    def status(self, name="calibrate/status.json"):
        with open(os.path.join(self.out, "parts", name), encoding="utf-8") as file:
            return json.load(file)

    def test_a_part_is_measured_once_and_again_on_demand_or_for_the_long_form(self):
        self.program(GOOD)
        only = ("--only", "calibrate")
        for arguments, calls in ((only, 1), (only, 1), ((*only, "--again", "calibrate"), 2)):
            done = self.papers(*arguments)
            self.assertEqual(done.returncode, 1, done.stderr)  # other parts are missing
            self.assertEqual(len(self.called()), calls)
        self.papers(*only, "--long")
        self.assertIn("--thorough", self.called()[2])
        self.papers(*only)  # the long form is as good as the short one
        self.assertEqual(len(self.called()), 3)
        self.assertEqual(self.status()["form"], "long")
        self.assertEqual(
            self.status()["commands"],
            ["nscalibrate --paper --thorough -q --json -o calibrate/calibration.json"],
        )
        self.assertIn("173", self.page())

    def test_results_of_another_machine_are_measured_again(self):
        self.program(GOOD)
        self.papers("--only", "calibrate")
        kept = self.status() | {"cpu": "another CPU"}
        path = os.path.join(self.out, "parts/calibrate/status.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        self.papers("--only", "calibrate")
        self.assertEqual(len(self.called()), 2)

    def test_a_part_that_fails_says_why_and_the_others_go_on(self):
        self.program(BAD)
        done = self.papers("--only", "calibrate,budget")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("calibrate: nscalibrate: the clock stands still", done.stderr)
        self.assertIn("2 of 2: budget", done.stderr)
        self.assertIn("the clock stands still (wind it up)", self.page())
        self.program(GOOD)
        self.papers("--only", "calibrate")
        self.assertNotIn("the clock stands still", self.page())

    def test_a_program_that_is_killed_has_the_signal_as_its_reason(self):
        self.program("#!/bin/sh\nkill -9 $$\n")
        done = self.papers("--only", "calibrate")
        self.assertIn("calibrate: nscalibrate: killed by signal 9", done.stderr)

    def test_a_failure_keeps_earlier_results_beside_its_reason(self):
        self.program(GOOD)
        self.papers("--only", "calibrate")
        self.program(BAD)
        self.papers("--only", "calibrate", "--again", "calibrate")
        self.assertIn("the clock stands still", self.page())
        self.assertIn("exits to the hypervisor", self.page())

    def test_a_missing_program_is_a_reason(self):
        done = self.papers("--only", "calibrate")
        self.assertIn("nscalibrate: not found (install the toolkit)", done.stderr)
        self.assertIn("nscalibrate: not found", self.page())

    def test_an_interrupt_lets_the_program_leave_and_makes_the_page_of_what_is_there(self):
        self.program(GOOD)
        self.papers("--only", "calibrate")
        self.program(SLOW)
        child = subprocess.Popen(
            self.command("--again", "calibrate"),
            env=self.environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        while "begun" not in self.called():
            self.assertIsNone(child.poll())
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=60)[1]
        self.assertEqual(child.returncode, 128 + signal.SIGINT, said)
        self.assertIn("interrupted; the page has what was complete", said)
        self.assertEqual(self.called()[-1], "left")
        self.assertIn("exits to the hypervisor", self.page())
        self.assertIn("The measurement was interrupted", self.page())
        self.assertEqual(sorted(os.listdir(os.path.join(self.out, "parts"))), ["calibrate"])

    def test_a_kill_ends_the_program_and_the_next_run_removes_what_is_left(self):
        self.program(SLOW)
        child = subprocess.Popen(
            self.command("--only", "calibrate"), env=self.environment(), stderr=subprocess.DEVNULL
        )
        while "begun" not in self.called():
            self.assertIsNone(child.poll())
            time.sleep(0.02)
        child.kill()
        child.wait()
        end_s = time.monotonic() + 60
        while "left" not in self.called():
            self.assertLess(time.monotonic(), end_s)
            time.sleep(0.02)
        self.program(GOOD)
        self.papers("--only", "calibrate")
        self.assertEqual(os.listdir(os.path.join(self.out, "parts")), ["calibrate"])

    def test_a_part_that_fails_is_told_even_if_quiet(self):
        self.program(BAD)
        done = self.papers("--only", "calibrate", "-q")
        self.assertEqual(
            done.stderr,
            "nsreport papers: calibrate: nscalibrate: the clock stands still (wind it up)\n",
        )

    def test_wrong_usage_is_told(self):
        for arguments, words in (
            (("--only", "sid"), '"sid" is not a part (calibrate, send'),
            (("--from", "x", "--long"), "cannot be combined with --from"),
            (("--form",), 'unknown option "--form"'),
        ):
            done = self.papers(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)


# nsreport looks for programs next to itself first, where the real ones are.
START = """
import sys
path = sys.argv[1]
sys.argv = sys.argv[1:]
import os
prefix = os.path.dirname(os.path.dirname(os.path.realpath(path)))
share = os.path.join(prefix, "share/netslice/reports")
sys.path.insert(0, share)
from nsreport import cli
sys.exit(cli.main(["papers", *sys.argv[1:]], "/nowhere/nsreport", share, "1"))
"""

if __name__ == "__main__":
    support.main()
