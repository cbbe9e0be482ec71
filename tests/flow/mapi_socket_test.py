#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapid's socket: who may connect according to mapi.conf, how much the connections of one user may
use, and clients that send nothing."""

import contextlib
import grp
import os
import pathlib
import pwd
import select
import stat
import subprocess
import tempfile
import time
import unittest

import needs
from mapi_raw import HELLO, STATISTICS, VERSION, Raw, call
from mapid import DATA, ClientError, Daemon, wait_until

TRACE = DATA / "mapi/tracefile"
DEVICE = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
CLIENTS_OF_USER = 64
CLIENT_FILES = 4
GREETING_S = 5


@contextlib.contextmanager
def as_user(name):
    """Meanwhile, the kernel reports this user to mapid for new connections."""
    os.seteuid(pwd.getpwnam(name).pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


class Access(unittest.TestCase):
    def start(self, config="", kind=Daemon):
        daemon = kind(config + DEVICE)
        self.addCleanup(daemon.close)
        return daemon

    def test_everybody_may_connect_unless_mapi_conf_says_otherwise(self):
        daemon = self.start()
        status = daemon.socket.stat()
        self.assertEqual((stat.S_IMODE(status.st_mode), status.st_gid), (0o666, os.getegid()))

    def test_mode_and_group_are_those_of_mapi_conf(self):
        group = grp.getgrnam("games")
        daemon = self.start("socket_mode=0660\nsocket_group=games\n")
        status = daemon.socket.stat()
        self.assertEqual((stat.S_IMODE(status.st_mode), status.st_gid), (0o660, group.gr_gid))
        stranger = daemon.client(user="nobody")
        with self.assertRaisesRegex(
            ClientError,
            "Permission denied .access is set by socket_mode and socket_group of mapi.conf",
        ):
            stranger.do("Flow.on_device('tap')")
        member = daemon.client(user="nobody", groups=[group.gr_gid])
        # it may connect, but is not a member of the device's group
        with self.assertRaisesRegex(ClientError, "3139"):
            member.do("Flow.on_device('tap')")

    def test_invalid_settings_are_reported_and_no_socket_is_left(self):
        for lines, words in (
            ("socket_group=no-such-group\n", 'there is no group "no-such-group"'),
            ("socket_mode=888\n", "must be an octal mode"),
            ("socket_mode=01777\n", "must be an octal mode"),
            ("socket_mode=\n", "must be an octal mode"),
            ("socket_group=\n", "requires a value"),
        ):
            with self.subTest(lines), tempfile.TemporaryDirectory() as folder:
                config = pathlib.Path(folder) / "mapi.conf"
                config.write_text(lines)
                done = subprocess.run(
                    [Daemon.program(), "--socket", f"{folder}/mapid.sock", "--config", config],
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
                self.assertEqual(os.listdir(folder), ["mapi.conf"])
                done = subprocess.run(
                    [Daemon.program(), "--check", "--config", config],
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                self.assertEqual(done.returncode, 1)
                self.assertIn("socket_", done.stderr)
                self.assertNotIn("warning", done.stderr)


class Few(Daemon):
    """mapid with a low limit on open files."""

    files = 256

    def command(self, *options):
        return ["prlimit", f"--nofile={self.files}:{self.files}", *super().command(*options)]


class Connections(unittest.TestCase):
    def start(self, kind=Daemon):
        self.daemon = kind(DEVICE)
        self.addCleanup(self.daemon.close)
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def connect(self, user=None, **how):
        with as_user(user) if user else contextlib.nullcontext():
            client = Raw(self.daemon.socket, **how)
        self.stack.callback(client.close)
        return client

    def assert_serves(self, user=None):
        client = self.connect(user)
        self.assertTrue(client.ask(call(STATISTICS, (1, "tap"))), "no client is served any more")
        client.close()

    def test_the_number_of_connections_of_one_user_is_limited_before_and_after_the_handshake(self):
        self.start()
        silent = [self.connect("nobody", is_greeted=False) for _ in range(CLIENTS_OF_USER)]
        refused = self.connect("nobody", is_greeted=False).ask(b"")
        self.assertIn(b"its own limit of clients or open files", refused)
        self.assertEqual(select.select([client.socket for client in silent], [], [], 0.1)[0], [])
        self.assert_serves("games")
        self.assert_serves()

    def test_a_silent_client_uses_no_thread_and_no_memory_and_is_disconnected(self):
        self.start()
        threads, memories = self.daemon.threads(), self.daemon.memories()
        begin = time.monotonic()
        silent = [self.connect(is_greeted=False) for _ in range(30)]
        self.assert_serves()
        self.assertTrue(wait_until(lambda: self.daemon.threads() <= threads))
        self.assertEqual(self.daemon.memories(), memories)
        for client in silent:
            self.assertEqual(client.socket.recv(100), b"")
        self.assertGreater(time.monotonic() - begin, GREETING_S - 0.5)
        self.assertLess(time.monotonic() - begin, GREETING_S * 3)

    def test_a_refused_handshake_ends_the_connection(self):
        self.start()
        client = self.connect(is_greeted=False)
        self.assertIn(b"protocol version mismatch", client.ask(call(HELLO, (1, VERSION + 1))))
        self.assertEqual(client.ask(call(HELLO, (1, VERSION))), b"")
        self.assert_serves()

    def test_connections_of_one_user_take_a_share_of_the_files_and_no_more(self):
        self.start(Few)
        before = self.daemon.descriptors()
        answers = [
            self.connect("nobody", is_greeted=False).ask(call(HELLO, (1, VERSION)))
            for _ in range(Few.files)
        ]
        self.assertEqual(
            sum(b"its own limit of clients or open files" not in answer for answer in answers),
            Few.files // 4 // CLIENT_FILES,
        )
        # the answer to a refused client comes before its connection is closed
        self.assertTrue(
            wait_until(lambda: self.daemon.descriptors() - before <= Few.files // 4),
            self.daemon.descriptors() - before,
        )
        self.assert_serves("games")
        self.assert_serves()

    def test_a_client_is_refused_while_no_file_can_be_opened_and_the_next_is_served(self):
        self.start(Few)
        many = []
        while len(many) < Few.files:  # of root
            many.append(self.connect(is_greeted=False))
            answer = many[-1].ask(call(HELLO, (1, VERSION)))
            if b"LimitNOFILE=" in answer or not answer:
                break
        self.assertLess(len(many), Few.files // CLIENT_FILES + 2)
        begin = time.monotonic()
        self.assertIn(
            b"mapid has reached its limit of open files", self.connect(is_greeted=False).ask(b"")
        )
        self.assertLess(time.monotonic() - begin, 2)
        for client in many[:3]:
            client.close()
        self.assertTrue(
            wait_until(lambda: self.daemon.descriptors() <= Few.files - 2 * CLIENT_FILES)
        )
        self.assert_serves()


if __name__ == "__main__":
    needs.captures(TRACE)
    if os.geteuid() != 0:
        needs.skip("requires root, to run as another user")
    unittest.main()
