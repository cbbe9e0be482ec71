#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hosts that cannot be used: which one and why is reported before anything runs."""

import unittest

import ssh_hosts
from ssh_players import WorldCase


class Refusals(WorldCase):
    def opening(self, host, **words):
        """words: of the inventory."""
        self.world.write_inventory(**words)
        self.addCleanup(self.world.write_inventory)
        return self.failing(host)

    def failing(self, host):
        from nsconduct.errors import TransportError

        with self.assertRaises(TransportError) as caught, self.player(host):
            pass
        self.assertEqual(ssh_hosts.our_processes(), [])
        return caught.exception.code, str(caught.exception)

    def test_a_host_that_the_inventory_does_not_have(self):
        code, said = self.opening("nobody-here")
        self.assertEqual(code, 2)
        self.assertIn('"nobody-here" is not in the inventory', said)

    def test_an_inventory_that_is_malformed(self):
        text = self.world.inventory.read_text().replace("ansible_user=root", "nothing", 1)
        self.world.inventory.write_text(text)
        self.addCleanup(self.world.write_inventory)
        code, said = self.failing("source")
        self.assertEqual(code, 2)
        self.assertRegex(said, f"{self.world.inventory}:[0-9]+: Expected key=value")

    def test_an_inventory_that_is_not_there(self):
        self.world.inventory.unlink()
        self.addCleanup(self.world.write_inventory)
        code, said = self.failing("source")
        self.assertEqual(code, 2)
        self.assertIn("inventory.ini: cannot open", said)

    def test_a_group_of_hosts(self):
        code, said = self.opening("all", second="192.168.5.9")
        self.assertEqual(code, 2)
        self.assertIn("several hosts", said)

    def test_a_name_that_does_not_resolve(self):
        code, said = self.opening("typo", typo="no-such-host.invalid")
        self.assertEqual(code, 2)
        self.assertIn("unknown host", said)
        self.assertIn("no-such-host.invalid", said)

    def test_a_key_that_the_host_does_not_accept(self):
        ssh_hosts.make_key(self.world.folder / "other_key")
        code, said = self.opening("source", key="other_key")
        self.assertEqual(code, 2)
        self.assertIn("key refused", said)
        self.assertIn("ansible_ssh_private_key_file", said)

    def test_a_host_whose_key_is_unknown(self):
        known = (self.world.folder / "known_hosts").read_text()
        (self.world.folder / "known_hosts").write_text("")
        try:
            code, said = self.opening("source")
        finally:
            (self.world.folder / "known_hosts").write_text(known)
        self.assertEqual(code, 2)
        self.assertIn("unknown host key", said)

    def test_a_host_without_python(self):
        code, said = self.opening("source", python="/no/python3")
        self.assertEqual(code, 3)
        self.assertIn("python3: not found on the player", said)

    def test_a_host_that_accepts_no_connection(self):
        code, said = self.opening("other", other="127.0.0.1")
        self.assertEqual(code, 3)
        self.assertIn("Connection refused", said)

    def test_a_lease_that_is_no_number(self):
        code, said = self.opening("source", lease_s="soon")
        self.assertEqual(code, 2)
        self.assertIn('nsconduct_lease_s: invalid value "soon"', said)


if __name__ == "__main__":
    ssh_hosts.enter()
    unittest.main()
