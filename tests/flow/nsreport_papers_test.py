#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsreport papers with a real part: the way of TCP packets through the kernel, each of them
followed."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import needs

BIN = pathlib.Path(os.environ["NETSLICE_BIN"])


class Papers(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="nsreport-papers-")
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name) / "papers"

    def test_each_packet_of_the_sender_is_followed_to_the_driver(self):
        done = subprocess.run(
            [BIN / "nsreport", "papers", "-o", self.out, "--only", "send"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 1, done.stderr)  # other parts are missing
        self.assertNotIn("send", done.stderr.split("no results of", 1)[1])
        stats = json.loads((self.out / "parts/send/stats.json").read_text())
        counts = {one["name"]: one["count"] for one in stats["slices"]}
        self.assertGreater(counts["kernel:send_call"], 1000)
        self.assertGreaterEqual(counts["kernel:driver"], counts["kernel:send_call"] - 2)
        page = (self.out / "index.html").read_text()
        self.assertIn("A packet of 512 bytes over loopback: ", page)
        self.assertIn("parts/send/report/function_cost.svg", page)


if __name__ == "__main__":
    needs.tools("gnuplot")
    if os.geteuid() != 0:
        needs.skip("requires root")
    if not pathlib.Path("/sys/kernel/btf/vmlinux").exists():
        needs.skip("the kernel has no BTF")
    unittest.main()
