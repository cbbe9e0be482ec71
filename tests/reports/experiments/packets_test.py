#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packets of 64 bytes between two hosts, directly and through one and two others."""

import json
import re

from experiment_case import ExperimentCase, main, require


class Packets(ExperimentCase):
    def sent(self, variant):
        return json.loads(self.output("1", variant, "source", "run-step1.out"))

    def sink(self, variant):
        return self.output("1", variant, "sink", "startup-spawn1.out")

    def test_the_sink_counts_all_packets_and_prints_their_rate_each_second(self):
        for variant, trial in self.conduct_experiment("packets/packets_2_hosts", 1.2).items():
            self.assertRegex(self.sink(variant), r"(?m)^\d+\.\d{6} [1-9]\d* pps$")
            sent = self.sent(variant)
            counted = int(re.search(r"^packets (\d+)$", self.sink(variant), re.MULTILINE)[1])
            self.assertGreater(counted, 0)
            dropped = int(re.search(r"^dropped (\d+)$", self.sink(variant), re.MULTILINE)[1])
            self.assertEqual(counted + dropped, sent["packets"], variant)
            self.assertEqual(sent["bytes"], 64 * sent["packets"])
            self.assertGreater(self.value(trial, "received"), 0)

    def test_hosts_in_between_forward_what_arrives(self):
        for hosts, last in ((3, "dut"), (4, "gateway_b")):
            trials = self.conduct_experiment(f"packets/packets_{hosts}_hosts", 0.5)
            self.assertEqual(set(trials), {"senders_thread", "own_threads"})
            for variant, trial in trials.items():
                counted = int(re.search(r"^packets (\d+)$", self.sink(variant), re.MULTILINE)[1])
                self.assertGreater(counted, 0)
                self.assertLessEqual(counted, self.sent(variant)["packets"])
                forwarded = self.interface(trial, last, "right")["tx_packets"]
                self.assertGreater(forwarded, 0, f"{variant} {last}")


if __name__ == "__main__":
    require("mapi-gen", "mapi-flow", "ethtool", "ip", "unshare", "nsenter")
    main()
