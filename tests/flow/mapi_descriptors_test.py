#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Descriptors sent to mapid, or to libmapi, with any kind of message are closed; none of them
blocks other clients."""

import array
import contextlib
import os
import pathlib
import socket
import struct
import subprocess
import tempfile
import threading
import unittest

import needs
from mapi_raw import (
    APPLY,
    CONNECT,
    CREATE_FLOW,
    CREATE_OFFLINE,
    HELLO,
    MESSAGE_BYTES_MAX,
    STATISTICS,
    VERSION,
    Raw,
    call,
    message,
)
from mapid import BUILD, DATA, Client, ClientError, Daemon, wait_until

TRACE = DATA / "mapi/tracefile"
CONFIG = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
LAST_REQUEST = 40  # mapi.proto
DESCRIPTORS_MOST = 253  # the kernel's limit per message
SCM_CREDENTIALS = 2
HANDSHAKE = call(HELLO, (1, VERSION))
FILES = 1024
MAPI_INFO_ERROR = 3


class LimitedDaemon(Daemon):
    """mapid with a low limit on open files."""

    def command(self, *options):
        return ["prlimit", f"--nofile={FILES}:{FILES}", *super().command(*options)]


def argument(kind, number=0, text=""):
    return (3, message((1, ord(kind)), (2, number), (3, text)))


# Every kind of request, empty and with plausible contents; invalid requests, and ones that are too
# long.
REQUESTS = [
    call(kind, *fields)
    for kind in (*range(1, LAST_REQUEST + 1), 99)
    for fields in ([], [(1, 1)], [(1, "tap"), (2, "tap"), (3, 1)])
]
REQUESTS += [
    call(APPLY, (1, 1), (2, name), *arguments)
    for name, arguments in {
        "TO_FILE": [
            argument("i"),
            argument("w", 0, "out"),
            argument("i"),
            argument("W", 2, "size=1M,files=3"),
        ],
        "RES2FILE": [
            argument("i"),
            argument("S", 0, ""),
            argument("w", 0, "x"),
            argument("s"),
            argument("i"),
        ],
        "PKT_COUNTER": [argument("w", 0, "x")] * 16,
        "FLOW_REPORT": [argument("o", 0, "x")] * 3,
        "no such": [argument("w", 0, "x")],
    }.items()
]
REQUESTS += [call(CREATE_OFFLINE, (1, "x"), (2, 0), (3, flow)) for flow in (0, 1, 7)]
MESSAGES = [
    b"",
    b"\xff",
    b"\0" * 100,
    HANDSHAKE,
    HANDSHAKE[:-1],
    b"x" * MESSAGE_BYTES_MAX,
    b"x" * (MESSAGE_BYTES_MAX + 1),
    *REQUESTS,
]


def rights(files):
    return (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))


class Descriptors(unittest.TestCase):
    def start(self, kind=Daemon):
        self.daemon = kind(CONFIG)
        self.addCleanup(self.daemon.close)
        self.files = (
            [os.open(path, os.O_RDONLY) for path in (TRACE, "/dev/null")]
            + list(os.pipe())
            + [os.memfd_create("out")]
        )
        for file in self.files:
            self.addCleanup(os.close, file)
        self.before = self.settled()

    def settled(self):
        """How many files mapid has open without clients."""
        self.assertTrue(wait_until(lambda: self.daemon.threads() == self.daemon.threads()))
        return self.daemon.descriptors()

    def assert_nothing_left(self, what):
        self.assertTrue(
            wait_until(lambda: self.daemon.descriptors() <= self.before),
            (what, self.before, self.daemon.descriptors()),
        )

    @contextlib.contextmanager
    def client(self, **how):
        client = Raw(self.daemon.socket, **how)
        try:
            yield client
        finally:
            client.close()

    def pick(self, count):
        return [self.files[number % len(self.files)] for number in range(count)]

    def test_those_of_every_kind_of_message_are_closed_before_the_handshake(self):
        self.start()
        for data in MESSAGES:
            for count in (1, 16, 17, DESCRIPTORS_MOST):
                with self.client(is_greeted=False) as client:
                    self.assertEqual(client.ask(data, self.pick(count)), b"", (data[:20], count))
        self.assert_nothing_left("before the handshake")

    def test_those_of_every_kind_of_message_are_closed_after_the_handshake(self):
        self.start()
        client = None
        for data in MESSAGES:
            for count in (1, 2, 16, 17, DESCRIPTORS_MOST):
                if not client:
                    client = Raw(self.daemon.socket)
                    client.ask(call(CREATE_FLOW, (1, 1), (2, "tap")))
                if not client.ask(data, self.pick(count)):
                    client.close()
                    client = None
        if client:
            client.close()
        self.assert_nothing_left("after the handshake")

    def test_what_a_request_does_not_use_is_closed_while_its_client_is_connected(self):
        self.start()
        with self.client() as client:
            self.assertTrue(client.ask(call(STATISTICS, (1, "tap"))))
            before = self.daemon.descriptors()
            for data in (
                call(STATISTICS, (1, "tap")),
                call(APPLY, (1, 1), (2, "PKT_COUNTER")),
                b"",
                call(99),
            ):
                for _ in range(10):
                    self.assertTrue(client.ask(data, self.pick(16)), data)
            self.assertTrue(
                wait_until(lambda: self.daemon.descriptors() == before),
                (before, self.daemon.descriptors()),
            )

    def test_several_pieces_of_ancillary_data_are_equivalent_to_one(self):
        self.start()
        credentials = (
            socket.SOL_SOCKET,
            SCM_CREDENTIALS,
            struct.pack("3i", os.getpid(), os.getuid(), os.getgid()),
        )
        for accepted in (False, True):
            for control in (
                [rights(self.pick(3)), rights(self.pick(4))],
                [credentials, rights(self.pick(16))],
                [rights(self.pick(100)), credentials, rights(self.pick(100))],
            ):
                for data in (b"", call(STATISTICS, (1, "tap"))):
                    with (
                        self.client(is_greeted=accepted) as client,
                        contextlib.suppress(BrokenPipeError, ConnectionResetError),
                    ):
                        client.socket.sendmsg([data], control)
                        client.socket.recv(MESSAGE_BYTES_MAX)
        self.assert_nothing_left("several pieces")

    def test_those_of_messages_that_are_never_read_are_closed(self):
        self.start()
        for accepted in (False, True):
            for data in (b"", b"\xff", call(STATISTICS, (1, "tap"))):
                with (
                    self.client(is_greeted=accepted) as client,
                    contextlib.suppress(BrokenPipeError, ConnectionResetError),
                ):
                    for _ in range(5):
                        client.send(data, self.pick(16))
        self.assert_nothing_left("unread")

    def test_messages_without_bytes_that_carry_descriptors_do_not_block_other_clients(self):
        self.start(LimitedDaemon)
        for accepted in (False, True):
            for _ in range(100):
                with (
                    self.client(is_greeted=accepted) as client,
                    contextlib.suppress(BrokenPipeError, ConnectionResetError),
                ):
                    client.send(b"", self.pick(16))
        with self.client() as client:
            self.assertTrue(client.ask(call(STATISTICS, (1, "tap"))))
        self.assert_nothing_left("no bytes")

    def test_a_message_without_bytes_is_answered_and_is_not_the_end(self):
        self.start()
        with self.client() as client:
            for _ in range(3):
                self.assertIn(b"unknown request", client.ask(b""))
            self.assertTrue(client.ask(call(STATISTICS, (1, "tap"))))
            client.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(client.socket.recv(MESSAGE_BYTES_MAX), b"")
        self.assert_nothing_left("no bytes")

    def test_mapid_is_idle_after_any_message(self):
        self.start()

        def ticks():
            stat = (
                pathlib.Path(f"/proc/{self.daemon.process.pid}/stat")
                .read_text()
                .rsplit(")", 1)[1]
                .split()
            )
            return int(stat[11]) + int(stat[12])

        with contextlib.ExitStack() as clients:
            for data in (b"", b"", None):
                for accepted in (False, True):
                    client = clients.enter_context(self.client(is_greeted=accepted))
                    if data is None:
                        client.socket.shutdown(socket.SHUT_WR)
                    else:
                        client.send(data)
            before = ticks()
            self.assertFalse(wait_until(lambda: ticks() > before + 20, 2), "it works on and on")

    def test_a_descriptor_that_a_function_did_not_use_is_closed_with_its_flow(self):
        self.start()
        with self.client() as client:
            client.ask(call(CREATE_FLOW, (1, 1), (2, "tap")))
            before = self.daemon.descriptors()
            for _ in range(5):
                client.ask(
                    call(
                        APPLY,
                        (1, 1),
                        (2, "TO_FILE"),
                        argument("i", 99),
                        argument("w", 0, "out"),
                        argument("i"),
                        argument("\0"),
                    ),
                    self.files[-1:],
                )
            self.assertTrue(
                wait_until(lambda: self.daemon.descriptors() == before),
                "a function that was refused keeps its file",
            )
            self.assertIn(
                b"\x08\x01",
                client.ask(
                    call(
                        APPLY,
                        (1, 1),
                        (2, "TO_FILE"),
                        argument("i"),
                        argument("w", 0, "out"),
                        argument("i"),
                        argument("\0"),
                    ),
                    self.files[-1:],
                ),
            )
            client.ask(call(CONNECT, (1, 1)))
        self.assert_nothing_left("functions")


class Server(threading.Thread):
    """Listens where libmapi looks for mapid, and answers each connection with its own message."""

    def __init__(self, path, data, files):
        super().__init__(daemon=True)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen()
        self.answer = data, [rights(files)] if files else []
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection, contextlib.suppress(BrokenPipeError):
                    connection.recv(MESSAGE_BYTES_MAX)
                    connection.sendmsg([self.answer[0]], self.answer[1])

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.join()


# Of mapi.ipc.Reply
def welcome(version, engine_bytes, client_bytes):
    return message((12, 1), (3, message((1, version), (2, engine_bytes), (3, client_bytes))))


class HostileServer(unittest.TestCase):
    def test_libmapi_and_mapi_info_refuse_it_and_keep_none_of_its_descriptors(self):
        unsealed = os.memfd_create("memory")
        self.addCleanup(os.close, unsealed)
        os.ftruncate(unsealed, 4096)
        answers = [
            (b"", 0),
            (b"", 16),
            (b"\xff", 16),
            (b"x" * MESSAGE_BYTES_MAX, 3),
            (message((12, 1)), 0),
            (message((12, 1)), 2),
            (message((12, 1)), DESCRIPTORS_MOST),
            (welcome(2, 4096, 4096), 0),
            (welcome(2, 4096, 4096), 1),
            (welcome(2, 4096, 4096), 2),
            (welcome(2, 2**40, 4096), 2),
            (welcome(2, 0, 0), 2),
            (welcome(2, 4096, 4096), 3),
        ]
        for data, count in answers:
            with self.subTest(data=data[:20], count=count), tempfile.TemporaryDirectory() as folder:
                path = f"{folder}/mapid.sock"
                server = Server(path, data, [unsealed] * count)
                client = Client(path)
                try:
                    client.do("before = len(os.listdir('/proc/self/fd'))")
                    with self.assertRaisesRegex(ClientError, "mapid at"):
                        client.do("Flow.on_device('tap')")
                    self.assertEqual(client.get("len(os.listdir('/proc/self/fd')) - before"), 0)
                    done = subprocess.run(
                        [BUILD / "bin/mapi-info", "--socket", path],
                        capture_output=True,
                        text=True,
                        timeout=60,
                        check=False,
                    )
                    self.assertEqual(done.returncode, MAPI_INFO_ERROR, done.stderr)
                    self.assertIn("mapid at", done.stderr)
                finally:
                    client.close()
                    server.close()


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
