#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TCP through ESP between two hosts by cipher, for a second each."""

from cipher_case import CIPHERS, CipherCase, require_esp
from experiment_case import main


class Ciphers(CipherCase):
    def test_each_cipher_encrypts_all_bytes_and_leaves_nothing_behind(self):
        trials = self.conduct_experiment("ciphers/ciphers_2_hosts", 1)
        self.assertEqual(set(trials), {"no_ipsec", *CIPHERS})
        self.check_trials(trials, ("source", "sink"))
        if self.is_in_user_space():
            self.check_costs({name: self.value(trials[name], "daemon_cpu") for name in trials})

    def is_in_user_space(self):
        return "strongSwan" in self.output("1", "hmac_sha1", "source", "collect-step1.out")

    def check_costs(self, cost):
        """CPU time of a byte: a busy machine changes it less than the throughput."""
        self.assertEqual(cost["no_ipsec"], 0)
        soft, hard = (
            cost[f"aes_gcm_{kind}_128"] + cost[f"aes_gcm_{kind}_256"] for kind in ("soft", "hard")
        )
        self.assertGreater(soft, hard)
        self.assertGreater(cost["hmac_sha1"], 0)


if __name__ == "__main__":
    require_esp()
    main()
