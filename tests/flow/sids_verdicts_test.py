#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A packet for each content rule of Snort 2.2, and packets that almost match, by snort2sids and
sids: each alert is one of Snort, and each of Snort's is there."""

import json
import subprocess
import unittest
from collections import defaultdict

import needs
from mapid import BUILD, DATA
from sids_library import SidsTest, alerts_of

PACKETS = DATA / "rule-packets"
PORTS = {"HTTP": "[80,81,8080,8000,3128]", "SHELLCODE": "!80", "ORACLE": "1521"}
FIRST_S = 1100000000  # the time of packet n is n ms later


def number_of(timestamp):
    """2004-11-09T11:33:20.000000 is FIRST_S."""
    clock, fraction = timestamp[11:26].split(".")
    hours, minutes, seconds = map(int, clock.split(":"))
    passed = (hours * 60 + minutes) * 60 + seconds - (FIRST_S % 86400)
    return passed * 1000 + int(fraction) // 1000


class Verdicts(SidsTest):
    def convert(self):
        """The rules as those of sids."""
        ports = [f"--var={name}_PORTS={ports}" for name, ports in PORTS.items()]
        done = subprocess.run(
            [BUILD / "bin/snort2sids", *ports, PACKETS / "snort220_AB.rules"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def alerts(self):
        """The ids of the rules of each packet."""
        output = self.table(self.convert(), "-r", PACKETS / "rp_snort220.pcap", "--json")
        alerts, stats = alerts_of(output)
        found = defaultdict(set)
        for alert in alerts:
            found[number_of(alert["timestamp"])].add(alert["alert"]["signature_id"])
        self.assertEqual(sum(map(len, found.values())), stats["alerts"])
        self.assertEqual(stats["given_up"], 0)
        return found

    def test_every_undisputed_verdict_is_that_of_snort(self):
        expected = json.loads((PACKETS / "expected.json").read_text())
        disputed = {
            int(number): set(ids) for number, ids in expected["disputed_by_bruteforce"].items()
        }
        of_snort = {
            int(number): set(ids) for number, ids in expected["snort_alerts_by_packet"].items()
        }
        self.assertEqual(sum(map(len, of_snort.values())), expected["alerts_total"])
        found = self.alerts()
        wrong = {
            number: (sorted(found[number] - ids), sorted(ids - found[number]))
            for number, ids in (
                (number, of_snort.get(number, set())) for number in range(expected["packets"])
            )
            if (found[number] ^ ids) - disputed.get(number, set())
        }
        self.assertEqual(wrong, {})


if __name__ == "__main__":
    needs.captures(PACKETS)
    unittest.main()
