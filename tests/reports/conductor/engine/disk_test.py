# SPDX-License-Identifier: MIT
# A disk that gets full at Collect: Reset runs, the case is reported, the files are whole, and
# --resume continues.
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import SKIP, ConductCase, main  # noqa: E402


class DiskTest(ConductCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.out)
        mount = ["mount", "-t", "tmpfs", "-o", "size=1M", "nsconduct-test", self.out]
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"no tmpfs: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.out], check=True)

    def test_a_full_disk_at_collect(self):
        self.master("a", test="trials: 3")
        self.player(
            "a",
            collect="step1: test ! -e fill || head -c 4000000 /dev/zero",
            reset="step1: echo reset >> log",
        )
        self.write("fill", "")
        said = self.run_master(code=1)
        self.assertIn(f"a: collect step1: {self.out}: no space left on the disk", said)
        self.assertIn("cannot write: No space left on device (make room", said)
        self.assertEqual(self.read("log").split(), ["reset"])
        self.assert_whole()

        os.remove(self.path("fill"))
        os.remove(os.path.join(self.out, "output/1/default/a/collect-step1.out"))
        self.run_master("--resume")
        self.assertEqual([t["status"] for t in self.trials()], ["ok"] * 3)
        self.assertEqual(self.results()["failures"], [])

    def assert_whole(self):
        """Every line and document can be read; those that could not be written are not there."""
        for name in os.listdir(self.out):
            if name.endswith(".jsonl"):
                self.lines(name)
            self.assertFalse(name.endswith(".new"), name)


if os.geteuid() != 0:
    print("skipped: requires root, for a small file system")
    sys.exit(SKIP)
main()
