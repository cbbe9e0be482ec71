# SPDX-License-Identifier: MIT
"""Experiments on hosts with ssh servers, run by nsconduct."""

import json
import os
import pathlib
import subprocess
import unittest

import ssh_hosts

NSCONDUCT = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsconduct"
PHASES = ("startup", "run", "collect", "reset")

MASTER = """# Master config file to run an iperf test WITHOUT PF enabled.
[Test]
trials: 1

[Clients]
# Sender
client1: source.cfg
# Receiver
client3: sink.cfg
"""
PLAYER = """[Master]
player: {address}
conductor: 192.168.5.1
cmdport: 6970
resultsport: 6971
"""


class ExperimentCase(unittest.TestCase):
    """Two hosts for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.world = ssh_hosts.World("source", "sink")
        cls.addClassCleanup(cls.world.close)
        cls.source, cls.sink = cls.world.hosts.values()

    def setUp(self):
        self.folder = self.world.folder / self.id().rpartition(".")[2]
        self.folder.mkdir()
        self.results = self.folder / "results"

    def write(self, master=MASTER, **steps):
        """steps: of each host, in the form of a player's file."""
        (self.folder / "master.cfg").write_text(master)
        for name, text in steps.items():
            address = self.world.hosts[name].address
            (self.folder / f"{name}.cfg").write_text(PLAYER.format(address=address) + text)

    def start(self, *words):
        command = [NSCONDUCT, "run", self.folder / "master.cfg", "-o", self.results]
        command += ["--transport", "ssh", "--inventory", self.world.inventory, *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_all(self, *words):
        running = self.start(*words)
        out, err = running.communicate(timeout=60)
        return running.returncode, out, err

    def lines(self, name):
        return [json.loads(line) for line in (self.results / name).read_text().splitlines()]

    def steps(self, player, phase):
        """Exit codes of the steps of a player's phase."""
        return [
            step["exit_code"]
            for step in self.lines("steps.jsonl")
            if (step["player"], step["phase"]) == (player, phase)
        ]

    def require_nothing_left(self, *hosts):
        self.assertTrue(ssh_hosts.wait_until(lambda: not ssh_hosts.our_processes()))
        for host in hosts:
            self.assertTrue(ssh_hosts.has_only_ssh_servers(host), host.processes())
            self.assertEqual(list(host.temporary.glob("nsconduct*")), [])
        shown = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
        self.assertEqual(
            {line.split()[0] for line in shown.stdout.splitlines()}, {"source", "sink"}
        )
