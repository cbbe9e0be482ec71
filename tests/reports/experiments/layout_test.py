#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""published_layout.py: measured values in the layout of the slides, beside the published ones."""

import json
import os
import subprocess
import sys
import unittest

from experiment_case import EXPERIMENTS, ExperimentCase

STATISTICS = {"min": 1.5e6, "max": 3.5e6, "median": 2e6, "mean": 2.25e6, "stddev": 0.5e6}


class Layout(ExperimentCase):
    def results(self, name, values, failures=()):
        """A result folder with these statistics, by value and variant."""
        folder = self.path(name)
        document = {
            "format": 1,
            "experiment": name,
            "values": {value: {"variants": variants} for value, variants in values.items()},
            "failures": [{"variant": variant, "failure": cause} for variant, cause in failures],
        }
        os.makedirs(folder)
        self.write(f"{name}/results.json", json.dumps(document))
        return folder

    def step_output(self, text, *place):
        folder = self.path(os.path.join(*place[:-1]))
        os.makedirs(folder, exist_ok=True)
        self.write(os.path.join(*place), text)

    def shown(self, *folders, code=0):
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(EXPERIMENTS, "published_layout.py"), *folders],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def row(self, text, name):
        lines = text.splitlines()
        place = next(i for i, line in enumerate(lines) if line.startswith(name))
        return lines[place].removeprefix(name).split(), lines[place + 1].split()

    def test_ciphers_have_a_row_each_or_the_reason_why_not(self):
        ciphers = self.results(
            "ciphers_2_hosts",
            {
                "throughput": {
                    "hmac_sha1": {"samples": [2e6], **STATISTICS},
                    "aes_gcm_hard_128": {"samples": []},
                },
                "daemon_cpu": {"hmac_sha1": {"samples": [12.34], "median": 12.34}},
            },
            [("aes_gcm_hard_128", "source: startup step2: no such cipher; sink: gone")],
        )
        said = "implementation: strongSwan 5.9.8\ncipher: NULL\n"
        self.step_output(said, "ciphers_2_hosts/output/1/hmac_sha1/source", "collect-step1.out")
        text = self.shown(ciphers)
        self.assertIn("ESP: strongSwan 5.9.8\n", text)
        measured, published = self.row(text, "HMAC-SHA1")
        self.assertEqual(measured, ["1.50", "3.50", "2.00", "2.25", "0.50", "12.34"])
        self.assertEqual(published, ["published", "615", "632", "628", "623.3", "7.98", "-"])
        self.assertEqual(self.row(text, "AES-GCM Hard 128")[0], ["-"] * 6)
        self.assertIn("AES-GCM Hard 128: source: startup step2: no such cipher\n", text)
        self.assertIn("NULL 4 Host: not measured\n", text)

    def test_tcp_has_a_line_for_each_second(self):
        variants = {"offload_on": {"samples": [2e9], **STATISTICS}}
        tcp = self.results("tcp_2_hosts", {"throughput": variants})
        second = {"start": 0, "end": 1.0, "bytes": 1170378588, "bits_per_second": 9.41e9}
        said = json.dumps({"intervals": [{"sum": second}]})
        self.step_output(said, "tcp_2_hosts/output/1/offload_on/source", "run-step1.out")
        text = self.shown(tcp)
        self.assertIn("0.00-1.00\tsec\t1.09\tGBytes\t9.41\tGbits/sec\n", text)
        self.assertIn("published, rate: 9.41, 9.41, 9.41, 9.41, 9.41, 9.42, ", text)

    def test_a_folder_without_results_is_named(self):
        self.assertIn("results.json", self.shown(self.folder, code=1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
