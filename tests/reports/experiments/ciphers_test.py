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
        """Not which is less: in a second, a busy machine decides that."""
        self.assertEqual(cost["no_ipsec"], 0)
        for name in CIPHERS:
            self.assertGreater(cost[name], 0, name)


if __name__ == "__main__":
    require_esp()
    main()
