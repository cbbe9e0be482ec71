#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What nsconduct reports of real ssh servers before anything runs on them."""

import os
import unittest

import ssh_hosts
from ssh_experiments import STEPS, ExperimentCase


class Checks(ExperimentCase):
    def test_a_missing_program_is_reported_before_anything_runs(self):
        case = self.experiment(sink=STEPS.replace("echo run", "no-such-pktgen -i ix0"))
        case.run()
        self.assertEqual(case.code, 3, case.said)
        self.assertIn("client3", case.said)
        self.assertIn("no-such-pktgen", case.said)
        self.assertFalse((case.results / "steps.jsonl").exists())
        self.assertEqual(self.have_reset(), [])
        self.require_nothing_left()

    def test_an_unknown_host_is_reported_before_anything_runs(self):
        case = self.experiment()
        case.run("--transport", "ssh:nobody-here")
        self.assertEqual(case.code, 2, case.said)
        self.assertIn('player client1: "nobody-here" is not in the inventory', case.said)
        self.assertEqual(self.have_reset(), [])
        self.require_nothing_left()

    def test_a_refused_key_is_reported_before_anything_runs(self):
        ssh_hosts.make_key(self.world.folder / "other")
        self.world.write_inventory(key="other")
        self.addCleanup(self.world.write_inventory)
        case = self.experiment()
        case.run()
        self.assertEqual(case.code, 2, case.said)
        self.assertRegex(case.said, "player client[13]: key refused .*Permission denied")
        self.assertEqual(self.have_reset(), [])
        self.require_nothing_left()

    def test_without_an_inventory_the_name_is_one_of_ssh(self):
        known, key = self.world.folder / "known_hosts", self.world.folder / "key"
        config = self.world.folder / "config"  # as the user's own would be
        config.write_text(f"Host *\nUserKnownHostsFile {known}\nIdentityFile {key}\n")
        os.environ["ANSIBLE_SSH_COMMON_ARGS"] = f"-F {config}"
        self.addCleanup(os.environ.pop, "ANSIBLE_SSH_COMMON_ARGS")
        case = self.experiment()
        case.inventory = []
        case.run()
        self.assertEqual(case.code, 0, case.said)
        self.assertEqual(self.have_reset(), ["source", "sink"])
        self.require_nothing_left()


if __name__ == "__main__":
    ssh_hosts.enter()
    unittest.main()
