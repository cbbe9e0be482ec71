#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TCP between two hosts, through ESP between two gateways: the experiment with fewer variants."""

import os
import re
import shutil

from cipher_case import CipherCase, require_esp
from experiment_case import EXPERIMENTS, main

KEPT = ("hmac_sha1", "aes_gcm_soft_128", "aes_gcm_hard_256")


class Gateways(CipherCase):
    def test_gateways_encrypt_for_hosts_that_know_nothing_of_it(self):
        shutil.copytree(os.path.join(EXPERIMENTS, "ciphers"), self.path("ciphers"))
        master = self.read("ciphers/ciphers_4_hosts.cfg")
        lines = [one for one in master.splitlines() if "cipher=" not in one or one.startswith(KEPT)]
        self.write("ciphers/ciphers_4_hosts.cfg", "\n".join(lines))
        trials = self.conduct_experiment("ciphers/ciphers_4_hosts", 1, folder=self.folder)
        self.assertEqual(set(trials), set(KEPT))
        self.check_trials(trials, ("gateway_a", "gateway_b"))
        for variant in KEPT:
            for host in ("source", "sink"):
                steps = [s for s in self.steps() if (s["player"], s["variant"]) == (host, variant)]
                self.assertFalse(any(re.search(r"\besp\b", step["command"]) for step in steps))


if __name__ == "__main__":
    require_esp()
    main()
