#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conductor's own example, with the programs of Linux, on two real ssh servers: four phases in
order, and each step's output, exit code and time."""

import unittest

import ssh_hosts
from ssh_experiments import PHASES, Experiment, left_behind

SOURCE = """
[Startup]
step1:ip addr add 172.16.0.2/24 dev ix0
step2:ip addr add 172.16.1.2/24 dev ix1
step3:ping -c 3 172.16.0.1
step4:ping -c 3 172.16.1.3

[Run]
step1:echo "running"
step2:cp /proc/net/snmp /tmp/pktgen-instruction-retired.pmc

[Collect]
step1:echo "collecting"
step2:mkdir /tmp/results
step3:cp -f /tmp/pktgen-instruction-retired.pmc /tmp/results/
step4:sort -o /tmp/results/pktgen-instruction-retired.graph \\
    /tmp/results/pktgen-instruction-retired.pmc
step5:sed s/Icmp:/ICMP:/ /tmp/results/pktgen-instruction-retired.pmc \\
    > /tmp/results/pktgen-instruction-retired.ann
step6:cat /tmp/results/pktgen-instruction-retired.ann

[Reset]
step1:ip addr flush dev ix0
step2:ip addr flush dev ix1
step3:echo "system_reset:goodbye"
"""
SINK = """
[Startup]
step1:ip addr add 172.16.0.1/24 dev ix0
step2:ip addr add 172.16.1.3/24 dev ix1

[Run]
step1:echo "running"

[Collect]
step1:echo "collecting"

[Reset]
step1:ip addr flush dev ix0
step2:ip addr flush dev ix1
step3:echo "system_reset:goodbye"
"""


class Seed(unittest.TestCase):
    def setUp(self):
        self.world = ssh_hosts.World("source", "sink")
        self.addCleanup(self.world.close)
        for device in ("ix0", "ix1"):
            self.world.join("source", "sink", device)

    def test_the_example_runs_on_two_hosts(self):
        hosts = self.world.hosts.values()
        case = Experiment(self.world, "seed", *hosts, {"source": SOURCE, "sink": SINK})
        case.run()
        self.assertEqual(case.code, 0, case.said)
        steps = case.lines("steps.jsonl")
        self.assertEqual({step["exit_code"] for step in steps}, {0})
        self.assertEqual(len(steps), 15 + 7)
        for phase, after in zip(PHASES, PHASES[1:]):  # on one machine, thus with one clock
            end = max(s["start_unix_ns"] + s["duration_ns"] for s in steps if s["phase"] == phase)
            begin = min(step["start_unix_ns"] for step in steps if step["phase"] == after)
            self.assertLess(end, begin)
        by_name = {(step["player"], step["phase"], step["step"]): step for step in steps}
        ping = by_name["client1", "startup", "step3"]
        self.assertGreater(ping["duration_ns"], 2e9)
        self.assertIn("3 packets transmitted", (case.results / ping["stdout"]).read_text())
        annotated = by_name["client1", "collect", "step6"]
        self.assertIn("ICMP:", (case.results / annotated["stdout"]).read_text())
        goodbye = by_name["client3", "reset", "step3"]
        self.assertEqual((case.results / goodbye["stdout"]).read_text(), "system_reset:goodbye\n")
        self.assertEqual(left_behind(self.world, *hosts), [])


if __name__ == "__main__":
    ssh_hosts.enter()
    unittest.main()
