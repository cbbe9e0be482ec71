#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsreport --qos for real, with little traffic: its report is consistent, nothing stays behind, and
what is missing is named."""

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
LOST = ("full", "refused", "unsent", "too_long", "missed")


class Qos(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="nsreport-qos-")
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name) / "report"

    def report(self, *words, **environment):
        return subprocess.run(
            [NSREPORT, "--qos", *words, "-o", self.out],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | environment,
        )

    def test_what_was_measured_agrees_with_what_the_node_did(self):
        done = self.report("-d", "0.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        points = json.loads((self.out / "data/results.json").read_text())["points"]
        self.assertEqual(len(points), 22)
        for point in points:
            node = point["node"]
            self.assertEqual(sum(node[key] for key in ("sent", "lost", *LOST[:4])), node["packets"])
            for one in point["reports"]:
                if one["delay_ms"] is not None:
                    self.assertGreaterEqual(
                        one["delay_p50_ms"], point["set"] * (point["part"] == "delay")
                    )
        whole = [one for one in points if one["part"] == "loss" and one["set"] in (0, 100)]
        for point in whole:  # on a loaded machine the measurement itself may lose packets
            by_measurement = sum(point["node"][key] for key in LOST) + point["second_lost"]
            for one in point["reports"]:
                least, most = (one["sent"],) * 2 if point["set"] == 100 else (0, by_measurement)
                self.assertGreaterEqual(one["lost"], least, point)
                self.assertLessEqual(one["lost"], most, point)
        for name in ("delay.png", "packet_loss.svg", "index.html", "data/packet_loss.csv"):
            self.assertGreater((self.out / name).stat().st_size, 100)

    def test_an_interrupt_leaves_no_program_and_no_report(self):
        child = subprocess.Popen(
            [NSREPORT, "--qos", "-o", self.out], stderr=subprocess.PIPE, start_new_session=True
        )
        self.assertTrue(wait_until(lambda: len(in_session(child.pid)) >= 4))
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=20)[1]
        self.assertEqual(child.returncode, 128 + signal.SIGINT)
        self.assertIn(b"interrupted", said)
        self.assertEqual(in_session(child.pid), [])
        self.assertFalse(self.out.exists())

    def test_a_missing_program_is_named(self):
        done = self.report(MAPI_QOS="/nosuch/mapi-qos")
        self.assertEqual(done.returncode, 5)
        self.assertIn(
            "/nosuch/mapi-qos: not a program that can be run (correct MAPI_QOS)", done.stderr
        )


if __name__ == "__main__":
    needs.tools("ethtool", "gnuplot", "ps")
    if not (os.environ.get("MAPI_QOS") or (BIN / "mapi-qos").exists()):
        needs.skip("mapi-qos is not built")
    enter_name_space(is_own_user=False)
    unittest.main()
