# SPDX-License-Identifier: MIT
# Progress with the time left: on a terminal only.
import os
import pty
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import PATIENCE_S, ConductCase, main  # noqa: E402
from nsconduct.engine import progress  # noqa: E402


class ProgressTest(ConductCase):
    def setUp(self):
        super().setUp()
        self.master("a", test="trials: 3")
        self.player("a", run="step1: sleep 0.1")

    def shown(self, *options):
        """What a terminal gets."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            self.command("run", self.path("master.cfg"), "-o", self.out, *options),
            stdin=subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)
        text = b""
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # the terminal's other end is closed
                break
            if not chunk:
                break
            text += chunk
        os.close(ours)
        self.assertEqual(process.wait(PATIENCE_S), 0)
        return text.decode()

    def test_a_terminal_shows_the_trial_and_the_time_left(self):
        text = self.shown()
        self.assertIn("trial 1 of 3: round 1, variant default\r", text)
        self.assertRegex(text, r"trial 3 of 3: round 3, variant default, 0:0\d left")
        self.assertNotIn("trial 3", text.split("\x1b[K")[-1])

    def test_quiet_shows_none(self):
        self.assertEqual(self.shown("--quiet"), "")

    def test_a_file_gets_none(self):
        self.assertNotIn("trial 1 of 3", self.run_master())

    def test_the_time_left_is_readable(self):
        self.assertEqual(progress.clock(59.6), "1:00")
        self.assertEqual(progress.clock(3671), "1:01:11")


main()
