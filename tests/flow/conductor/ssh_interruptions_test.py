#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Experiments on two real ssh servers that do not go as planned: Reset runs, and nothing stays
behind."""

import signal
import subprocess
import unittest

import ssh_hosts
from ssh_experiments import STEPS, ExperimentCase
from ssh_hosts import wait_until

SOURCE = STEPS.replace("echo run", "echo here >/tmp/here; sleep 901")


class Interruptions(ExperimentCase):
    def test_reset_runs_on_all_players_after_an_interrupt(self):
        case = self.experiment(source=SOURCE)
        running = case.start()
        self.assertTrue(wait_until((self.source.temporary / "here").exists, 60))
        running.send_signal(signal.SIGINT)
        case.finish(running)
        self.assertEqual(case.code, 130, case.said)
        self.assertEqual(self.have_reset(), ["source", "sink"])
        self.require_nothing_left()

    def test_reset_runs_on_a_player_that_has_come_back(self):
        sink = STEPS.replace("echo collect", "while ! [ -e /tmp/go ]; do sleep 0.1; done")
        case = self.experiment(source=SOURCE, sink=sink)
        running = case.start()
        self.assertTrue(wait_until((self.source.temporary / "here").exists, 60))
        self.source.plug(False)
        self.assertTrue(ssh_hosts.has_only_ssh_servers(self.source, 60))
        # The source has been given up when the sink's next phase begins.
        self.assertTrue(wait_until(self.is_collecting, 60))
        self.source.plug(True)
        (self.sink.temporary / "go").touch()
        case.finish(running)
        self.assertEqual(case.code, 1, case.said)
        self.assertIn("client1: run step1: player cut off", case.said)
        self.assertEqual(case.steps("client1", "reset"), [0], case.said)
        self.assertEqual(self.have_reset(), ["source", "sink"])
        self.require_nothing_left()

    def is_collecting(self):
        return any("/tmp/go" in line for line in self.sink.processes().values())

    def test_a_full_disk_at_collect_is_reported_and_reset_runs(self):
        case = self.experiment(sink=STEPS.replace("echo collect", "seq 300000"))
        case.results.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", case.results], check=True)
        self.addCleanup(subprocess.run, ["umount", case.results], check=True)
        case.run()
        self.assertEqual(case.code, 1, case.said)
        self.assertRegex(case.said, "client3: collect step1: .*(No space left|no space left)")
        self.assertEqual(self.have_reset(), ["source", "sink"])
        self.require_nothing_left()


if __name__ == "__main__":
    ssh_hosts.enter()
    unittest.main()
