# SPDX-License-Identifier: MIT
"""Players of the ssh transport on a real ssh server, as the engine uses them."""

import contextlib
import os
import pathlib
import sys
import types
import unittest

import ssh_hosts

SHARE = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "share/netslice/reports"
sys.path.insert(0, str(SHARE))


class WorldCase(unittest.TestCase):
    """One host for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.world = ssh_hosts.World("source")
        cls.addClassCleanup(cls.world.close)
        cls.host = cls.world.hosts["source"]
        cls.out, cls.err = cls.world.folder / "out", cls.world.folder / "err"

    @contextlib.contextmanager
    def player(self, host="source"):
        from nsconduct.transports.ssh import SshTransport

        transport = SshTransport(types.SimpleNamespace(inventory=str(self.world.inventory)))
        with transport.player(host, host) as player:
            transport.connect()
            yield player
