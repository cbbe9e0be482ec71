# SPDX-License-Identifier: MIT
"""Experiments on two hosts with ssh servers, run by nsconduct."""

import json
import os
import pathlib
import subprocess
import unittest

import ssh_hosts
from ssh_hosts import wait_until

NSCONDUCT = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsconduct"
PHASES = ("startup", "run", "collect", "reset")
TIMEOUT_S = 100

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


class Experiment:
    """source and sink: hosts; steps: of each, in the form of a player's file."""

    def __init__(self, world, name, source, sink, steps, master=MASTER):
        self.world, self.source, self.sink = world, source, sink
        self.folder = world.folder / name
        self.folder.mkdir()
        self.results = self.folder / "results"
        (self.folder / "master.cfg").write_text(master)
        for role, host in (("source", source), ("sink", sink)):
            text = PLAYER.format(address=host.address) + steps[role]
            (self.folder / f"{role}.cfg").write_text(text)
        self.inventory = ["--inventory", world.inventory]
        self.code = self.said = None

    def start(self, *words):
        command = [NSCONDUCT, "run", self.folder / "master.cfg", "-o", self.results]
        command += ["--transport", "ssh", *self.inventory, *words]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def finish(self, running):
        try:
            self.said, _ = running.communicate(timeout=TIMEOUT_S)
        finally:
            running.kill()
        self.code = running.returncode

    def run(self, *words):
        self.finish(self.start(*words))

    def lines(self, name):
        return [json.loads(line) for line in (self.results / name).read_text().splitlines()]

    def steps(self, player, phase):
        """Exit codes of the steps of a player's phase."""
        return [
            step["exit_code"]
            for step in self.lines("steps.jsonl")
            if (step["player"], step["phase"]) == (player, phase)
        ]


def left_behind(world, *hosts):
    """What an experiment should not have left, after waiting until it is nothing."""
    found = []

    def is_nothing():
        found[:] = ssh_hosts.our_processes()
        for host in hosts:
            found.extend(host.processes().values())
            found.extend(str(path) for path in host.temporary.glob("nsconduct*"))
        shown = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
        namespaces = {line.split()[0] for line in shown.stdout.splitlines()}
        found.extend(namespaces - set(world.hosts))
        return not found

    wait_until(is_nothing, TIMEOUT_S)
    return found


STEPS = """
[Startup]
step1:echo startup
[Run]
step1:echo run
[Collect]
step1:echo collect
[Reset]
step1:echo reset; touch /tmp/reset
"""


class ExperimentCase(unittest.TestCase):
    """Two hosts for all experiments of a class."""

    @classmethod
    def setUpClass(cls):
        cls.world = ssh_hosts.World("source", "sink")
        cls.addClassCleanup(cls.world.close)

    def setUp(self):
        self.source, self.sink = self.world.hosts.values()
        for host in (self.source, self.sink):
            for path in host.temporary.iterdir():
                path.unlink()

    def experiment(self, source=STEPS, sink=STEPS):
        name = self.id().rpartition(".")[2]
        text = {"source": source, "sink": sink}
        return Experiment(self.world, name, self.source, self.sink, text)

    def require_nothing_left(self):
        self.assertEqual(left_behind(self.world, self.source, self.sink), [])

    def have_reset(self):
        hosts = self.source, self.sink
        return [host.name for host in hosts if (host.temporary / "reset").exists()]
