#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TCP between two hosts, directly and through one and two others, for a second each."""

import json

from experiment_case import ExperimentCase, main, require

ETHERNET_HEADER = 14


class Tcp(ExperimentCase):
    def test_all_bytes_go_through_each_host_in_between(self):
        for hosts, between in ((3, ["dut"]), (4, ["gateway_a", "gateway_b"])):
            for variant, trial in self.conduct_experiment(f"tcp/tcp_{hosts}_hosts", 1).items():
                end = json.loads(self.output("1", variant, "source", "run-step1.out"))["end"]
                received = end["sum_received"]["bytes"]
                self.assertGreater(received, 0)
                self.assertEqual(self.value(trial, "retransmits"), end["sum_sent"]["retransmits"])
                for host in between:
                    for name, way in (("left", "rx"), ("right", "tx")):
                        counted = self.interface(trial, host, name)[f"{way}_bytes"]
                        self.assertGreaterEqual(counted, received, f"{variant} {host} {name}")

    def test_without_offload_packets_have_the_size_of_the_mtu(self):
        trials = self.conduct_experiment("tcp/tcp_2_hosts", 1)
        sizes = {}
        for variant, trial in trials.items():
            sent = self.interface(trial, "source", "eth0")
            sizes[variant] = sent["tx_bytes"] / sent["tx_packets"]
            self.assertGreater(self.value(trial, "throughput"), 0)
        self.assertLessEqual(sizes["offload_off"], 1500 + ETHERNET_HEADER)
        self.assertGreater(sizes["offload_off"], 1400)
        self.assertGreater(sizes["offload_on"], 1500 + ETHERNET_HEADER)


if __name__ == "__main__":
    require("iperf3", "ethtool", "ip", "ss", "unshare", "nsenter")
    main()
