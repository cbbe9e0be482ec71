#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsreport --sids for real, with little traffic: its report is consistent, and nothing stays
behind."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import needs
from mapi_interfaces import enter_name_space, in_session, wait_until

BIN = pathlib.Path(os.environ["NETSLICE_BIN"])
NSREPORT = BIN / "nsreport"


class Sids(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="nsreport-sids-")
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name) / "report"

    def test_rules_that_no_packet_matches_are_counted_as_such(self):
        done = subprocess.run(
            [NSREPORT, "--sids", "--quick", "-d", "0.2", "-o", self.out],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        points = json.loads((self.out / "data/results.json").read_text())["points"]
        self.assertEqual(len(points), 16)
        for point in points:
            self.assertGreater(point["sent"], 0)
            self.assertLessEqual(point["received"], point["sent"])
            self.assertGreater(point["cpu_s"], 0)
        few = [point for point in points if point["number"] == 1]
        self.assertGreater(sum(point["received"] for point in few), 0)
        for name in ("header_rules.png", "pattern_rules.svg", "index.html"):
            self.assertGreater((self.out / name).stat().st_size, 100)

    def test_an_interrupt_leaves_no_program_and_no_report(self):
        child = subprocess.Popen(
            [NSREPORT, "--sids", "-o", self.out], stderr=subprocess.PIPE, start_new_session=True
        )
        self.assertTrue(wait_until(lambda: len(in_session(child.pid)) >= 2))
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=20)[1]
        self.assertEqual(child.returncode, 128 + signal.SIGINT)
        self.assertIn(b"interrupted", said)
        self.assertEqual(in_session(child.pid), [])
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    needs.tools("ethtool", "gnuplot", "ps")
    if not (os.environ.get("SIDS") or (BIN / "sids").exists()):
        needs.skip("sids is not built")
    enter_name_space(is_own_user=False)
    unittest.main()
