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


if __name__ == "__main__":
    require_esp()
    main()
