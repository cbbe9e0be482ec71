#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsconduct's collectors and the environment of a player on a real ssh server."""

import os
import shutil
import unittest

import ssh_hosts
from ssh_players import WorldCase


class Collectors(WorldCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.player = cls.enterClassContext(cls.player(cls))

    def setUp(self):
        from nsconduct.collectors.group import CollectorGroup

        self.folder = self.world.folder / "output"
        self.made = CollectorGroup

    def collected(self, name, command="true"):
        """A trial's Run phase with one collector -> its figures."""
        group = self.made({"source": [name]}, {"source": self.player}, str(self.folder))
        group.start()
        done = self.player.run(group.prelude("source") + command, 30, self.out, self.err)
        self.assertEqual((done.exit_code, done.failure), (0, None), self.err.read_text())
        group.stop()
        self.player.end_spawned()
        group.finish()
        return group.collected["source"][name]

    def test_the_environment_of_the_host_is_known(self):
        from nsconduct.environment import gather

        found = gather.environment(self.player, self.world.folder)
        self.assertEqual(found["kernel"], os.uname().release)
        self.assertEqual(found["cpus"], os.cpu_count())
        self.assertTrue(found["interfaces"])
        self.assertEqual({one["driver"] for one in found["interfaces"].values()}, {"veth"})

    def test_interfaces_and_cpu_time_of_the_host_are_read(self):
        counted = self.collected("interfaces", "ping -c 3 -i 0.01 127.0.0.1")
        self.assertGreaterEqual(counted["interfaces"]["lo"]["rx_packets"], 3)
        self.assertGreater(counted["cost"]["cpu_s"], 0)
        self.assertGreater(self.collected("cpu")["context_switches"], 0)

    def test_the_process_that_holds_bpf_statistics_ends_and_leaves_nothing(self):
        if not shutil.which("bpftool", path="/usr/sbin:" + os.environ["PATH"]):
            self.skipTest("requires bpftool")
        found = self.collected("bpf")
        if "unavailable" in found:
            self.skipTest(found["unavailable"])
        self.assertIsInstance(found["programs"], list)
        self.assertEqual(list(self.host.temporary.glob("tmp.*")), [])
        self.assertFalse([c for c in self.host.processes().values() if "python3 -c" in c])

    def test_a_perf_record_is_fetched_from_the_host(self):
        if not shutil.which("perf"):
            self.skipTest("requires perf (Debian: linux-perf)")
        found = self.collected("perf-record", "sleep 0.1")
        if "unavailable" in found:
            self.skipTest(found["unavailable"])
        content = (self.folder / "source" / found["file"]).read_bytes()
        self.assertEqual((len(content), content[:8]), (found["bytes"], b"PERFILE2"))
        self.assertEqual(list(self.host.temporary.glob("tmp.*")), [])


if __name__ == "__main__":
    ssh_hosts.enter()
    unittest.main()
