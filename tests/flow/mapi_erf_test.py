#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every packet of the ERF captures has the time, the lengths and the link layer that tshark
finds."""

import os
import pathlib
import subprocess
import sys
import unittest

import needs

PRINT = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "tests/print_packets"
DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)
CAPTURES = sorted(DATA.glob("derived-erf/*.erf")) + sorted(
    DATA.glob("LibtraceTeam+libtrace/test/traces/*.erf")
)
LINKS = {"1": "eth"}


def ours(capture):
    done = subprocess.run([PRINT, "erf_file", capture], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()], done.stderr.strip()


def tsharks(capture):
    fields = ["frame.number", "frame.time_epoch", "frame.len", "frame.cap_len", "frame.protocols"]
    done = subprocess.run(
        [
            "tshark",
            "-n",
            "-r",
            capture,
            "-T",
            "fields",
            *(word for field in fields for word in ("-e", field)),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


class Erf(unittest.TestCase):
    def test_packets_are_tsharks(self):
        packets = 0
        for capture in CAPTURES:
            mine, message = ours(capture)
            wanted = tsharks(capture)
            self.assertEqual(message, "", capture)
            self.assertEqual(len(mine), len(wanted), capture)
            for (time_ns, wire_len, caplen, link, _), (
                number,
                time_s,
                length,
                captured,
                protocols,
            ) in zip(mine, wanted):
                seconds, fraction = time_s.split(".")
                self.assertEqual(
                    (int(time_ns), wire_len, caplen),
                    (int(seconds + fraction), length, captured),
                    f"{capture}, packet {number}",
                )
                self.assertEqual(
                    LINKS[link], protocols.split(":")[1], f"{capture}, packet {number}"
                )
            packets += len(mine)
        print(f"{packets} packets of {len(CAPTURES)} captures", file=sys.stderr)
        self.assertGreater(packets, 10000)

    def test_captures_of_older_cards_are_refused(self):
        for name, link in ("legacyeth", "Ethernet"), ("legacypos", "POS"):
            path = DATA / "LibtraceTeam+libtrace/test/traces" / name
            done = subprocess.run([PRINT, "erf_file", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, name)
            self.assertIn(
                f"{path}: is not ERF but in the legacy {link} format of DAG cards", done.stderr
            )


if __name__ == "__main__":
    needs.tools("tshark")
    if not CAPTURES:
        needs.skip("no captures")
    unittest.main()
