#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A function's net instructions with source step equal what valgrind counts inside it, plus a
constant number for each call."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import needs
from callgrind import EXACT, inclusive
from packets import write_capture

BIN = pathlib.Path(os.environ["NETSLICE_BIN"])
FILTER = "tcp port 80 or udp port 53"
FILES = {"BPF_FILTER": "bpf_filter.cpp", "PKT_COUNTER": "pkt_counter.cpp"}
# what is between the two probes besides the function: arguments, the call, the result
MOST_AROUND_A_CALL = 16


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


class TwoCounts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.capture = self.folder / "capture.pcap"
        write_capture(self.capture, 64 * 40)

    def stepped(self):
        """{function: (slices, net instructions)}; includes every slice, so the sum is exact."""
        trace = self.folder / "trace.nsl"
        done = run(
            BIN / "nsdump",
            "record",
            "-w",
            trace,
            "--counters",
            "instructions",
            "--source",
            "step",
            "--",
            BIN / "mapi-count",
            "--batch",
            "64",
            "-r",
            self.capture,
            FILTER,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(BIN / "nsdump", "export", trace, "--what", "slices", "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        sums = {}
        for row in csv.DictReader(done.stdout.splitlines()):
            if row["name"] in FILES:
                slices, total = sums.get(row["name"], (0, 0.0))
                sums[row["name"]] = (slices + 1, total + float(row["net_instructions"]))
        return sums

    def counted(self):
        out = self.folder / "callgrind.out"
        done = run(
            "valgrind",
            *EXACT,
            f"--callgrind-out-file={out}",
            BIN / "mapi-count",
            "--batch",
            "64",
            "-r",
            self.capture,
            FILTER,
        )
        if done.returncode != 0:
            self.skipTest("mapi-count does not run under valgrind in this build")
        return inclusive(out)

    def test_step_and_valgrind_agree_to_the_instruction(self):
        stepped, counted = self.stepped(), self.counted()
        around = set()
        for name, file in FILES.items():
            with self.subTest(function=name):
                ((calls, inside),) = [
                    total
                    for (place, function), total in counted.items()
                    if place == file and "process(" in function
                ]
                slices, net = stepped[name]
                self.assertEqual(slices, calls)
                around.add((net - inside) / calls)
        self.assertEqual(len(around), 1, around)
        each = around.pop()
        print(f"around each call: {each} instructions")
        self.assertEqual(each, int(each))
        self.assertTrue(0 < each <= MOST_AROUND_A_CALL, each)


if __name__ == "__main__":
    needs.tools("valgrind")
    unittest.main()
