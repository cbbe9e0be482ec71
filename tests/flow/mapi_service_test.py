#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapid as a service: a socket opened by the service manager, its notifications, its units."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

import needs
from mapid import BUILD, DATA, Client, Daemon

TRACE = DATA / "mapi/tracefile"
SOURCE = pathlib.Path(os.environ["NETSLICE_SOURCE"])
INHERITED = 3  # the first descriptor from the service manager: sd_listen_fds(3)


class Service(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.path = self.folder / "activated.sock"

    def listen(self, kind=socket.SOCK_SEQPACKET):
        listener = socket.socket(socket.AF_UNIX, kind)
        self.addCleanup(listener.close)
        listener.bind(str(self.path))
        listener.listen()
        return listener

    def start(self, listener, **environment):
        process = subprocess.Popen(
            [
                "sh",
                "-c",
                'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"',
                Daemon.program(),
                "--socket",
                self.folder / "own.sock",
            ],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
            pass_fds=(INHERITED,),
            preexec_fn=lambda: os.dup2(listener.fileno(), INHERITED),
        )
        self.addCleanup(process.stderr.close)
        return process

    def test_it_serves_at_an_inherited_socket_and_does_not_remove_it(self):
        has_library = (
            "libsystemd"
            in subprocess.run(
                ["ldd", Daemon.program()], capture_output=True, text=True, check=True
            ).stdout
        )
        process = self.start(self.listen())
        if not has_library:
            self.assertEqual(process.wait(60), 1)
            self.assertIn("without libsystemd", process.stderr.read())
            self.skipTest("built without libsystemd, and reports that")
        client = Client(self.path)
        needs.captures(TRACE)
        client.do(
            f"flow = Flow.offline({str(TRACE)!r})\npackets = flow.apply('PKT_COUNTER')\nflow.run()"
        )
        self.assertEqual(client.get("flow.word(packets)"), 893)
        client.kill()
        process.terminate()
        self.assertEqual(process.wait(60), 0)
        self.assertTrue(self.path.exists())
        self.assertFalse((self.folder / "own.sock").exists())

    def test_mapi_conf_does_not_decide_who_may_connect_to_such_a_socket(self):
        if (
            "libsystemd"
            not in subprocess.run(
                ["ldd", Daemon.program()], capture_output=True, text=True, check=True
            ).stdout
        ):
            self.skipTest("built without libsystemd")
        config = self.folder / "mapi.conf"
        config.write_text("socket_mode=0600\n")
        listener = self.listen()
        self.path.chmod(0o640)
        process = self.start(listener, MAPI_CONF=str(config))
        client = Client(self.path)
        client.do("function_names()")
        client.kill()
        process.terminate()
        self.assertEqual(process.wait(60), 0)
        self.assertIn(
            "socket_mode and socket_group of mapi.conf have no effect", process.stderr.read()
        )
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o640)

    def test_a_socket_of_another_kind_is_refused(self):
        process = self.start(self.listen(socket.SOCK_STREAM))
        self.assertEqual(process.wait(60), 1)
        self.assertRegex(process.stderr.read(), "ListenSequentialPacket|without libsystemd")

    def test_it_notifies_when_it_is_ready_and_when_it_stops(self):
        if (
            "libsystemd"
            not in subprocess.run(
                ["ldd", Daemon.program()], capture_output=True, text=True, check=True
            ).stdout
        ):
            self.skipTest("built without libsystemd")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.settimeout(30)
            manager.bind(str(self.folder / "notify"))
            process = self.start(self.listen(), NOTIFY_SOCKET=str(self.folder / "notify"))
            self.assertEqual(manager.recv(1000), b"READY=1")
            process.terminate()
            self.assertEqual(manager.recv(1000), b"STOPPING=1")
            self.assertEqual(process.wait(60), 0)

    def test_systemd_finds_no_error_in_the_units(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        unit = (
            (SOURCE / "mapi-core/daemon/mapid.service.in")
            .read_text()
            .replace("@MAPID_PATH@", str((BUILD / "bin/mapid").resolve()))
        )
        self.assertNotIn("@MAPID", unit)
        (self.folder / "mapid.service").write_text(unit)
        shutil.copy(SOURCE / "mapi-core/daemon/mapid.socket", self.folder)
        done = subprocess.run(
            [
                "systemd-analyze",
                "verify",
                "--man=no",
                self.folder / "mapid.service",
                self.folder / "mapid.socket",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual([line for line in done.stderr.splitlines() if "mapid" in line], [])


if __name__ == "__main__":
    unittest.main()
