#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Connections, supervisors and nsconduct itself that end: no process stays on the player."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

import ssh_hosts
from ssh_hosts import wait_until
from ssh_players import SHARE, WorldCase


class Losses(WorldCase):
    """Each with a player of its own."""

    def test_a_cut_connection_ends_all_processes_and_the_player_can_be_used_again(self):
        with self.player() as player:
            player.spawn("sleep 801", self.out, self.err)
            player.run("setsid sleep 802 &", 5, self.out, self.err)
            self.host.plug(False)
            self.assertTrue(ssh_hosts.has_only_ssh_servers(self.host))
            self.assertEqual(list(self.host.temporary.iterdir()), [])
            self.assertIn("player cut off", player.alive())
            self.assertIn("cut off", player.run("echo", 5, self.out, self.err).failure)
            self.host.plug(True)
            self.assertTrue(wait_until(lambda: player.alive() is True))
            self.assertEqual(player.run("echo", 5, self.out, self.err).exit_code, 0)
            (spawned,) = player.end_spawned()
            self.assertIn("player died", spawned.failure)
        self.assertEqual(list(self.host.temporary.iterdir()), [])

    def test_nothing_stays_when_nsconduct_is_killed(self):
        script = (
            f"import sys; sys.path[:0] = [{str(SHARE)!r}]\n"
            "from nsconduct.transports.ssh.player import SshPlayer\n"
            f"player = SshPlayer('source', 'source', {str(self.world.inventory)!r})\n"
            "player.open(); player.connect()\n"
            "player.spawn('sleep 803', '/tmp/out', '/tmp/err')\n"
            "player.run('sleep 804', 100, '/tmp/out', '/tmp/err')\n"
        )
        running = subprocess.Popen([sys.executable, "-B", "-c", script])
        self.assertTrue(wait_until(lambda: "sleep 804" in self.host.processes().values()))
        running.kill()
        running.wait()
        self.assertTrue(ssh_hosts.has_only_ssh_servers(self.host))
        self.assertTrue(wait_until(lambda: not ssh_hosts.our_processes()))
        self.assertEqual(list(pathlib.Path("/tmp").glob("nsc*")), [])
        self.assertEqual(list(self.host.temporary.iterdir()), [])

    def test_with_become_the_steps_have_another_user(self):
        if not shutil.which("sudo"):
            self.skipTest("sudo is missing")
        self.world.write_inventory(become="nobody")
        self.addCleanup(self.world.write_inventory)
        with self.player() as player:
            result = player.run("id -un; sleep 806 &", 20, self.out, self.err)
            self.assertEqual((result.exit_code, result.failure), (0, None))
            self.assertEqual(self.out.read_text(), "nobody\n")
        self.assertEqual(self.host.processes(), {})

    def test_a_supervisor_that_is_killed_takes_its_command_along(self):
        with self.player() as player:
            player.spawn("exec sleep 805", self.out, self.err)
            for pid, line in self.host.processes().items():
                if "import supervisor" in line and "open" not in line:
                    os.kill(pid, signal.SIGKILL)
            self.assertTrue(wait_until(lambda: "sleep 805" not in self.host.processes().values()))
            (ended,) = player.end_spawned()
            self.assertIn("player died", ended.failure)


if __name__ == "__main__":
    ssh_hosts.enter()
    unittest.main()
