#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whatever one client sends or does, mapid serves the others, and their numbers are correct."""

import mmap
import os
import pathlib
import random
import socket
import sys
import tempfile
import unittest

import needs
from mapi_raw import (
    APPLY,
    CLOSE,
    CONNECT,
    CREATE_FLOW,
    CREATE_OFFLINE,
    DESCRIBE_NAME,
    FUNCTION_AT,
    HELLO,
    MESSAGE_BYTES_MAX,
    NEXT_DEVICE,
    VERSION,
    Raw,
    call,
    message,
)
from mapid import DATA, Daemon, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from fuse_file import FuseFile

TRACE = DATA / "mapi/tracefile"
REPEATED = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
TRACE_PACKETS = 893  # capinfos -c
ABSURD = [0, 1, 2, -1, 16384, 16385, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]


class Hostile(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(REPEATED, "--max-flows", "1024")
        self.addCleanup(self.daemon.close)
        self.good = self.daemon.client()
        self.good.do(
            "flow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\nflow.connect()"
        )

    def raw(self, **how):
        client = Raw(self.daemon.socket, **how)
        self.addCleanup(client.close)
        return client

    # The other client's flow still counts, and its counts of a capture are correct.
    def assert_serves(self):
        before = self.good.get("flow.word(packets)")
        self.assertTrue(wait_until(lambda: self.good.get("flow.word(packets)") > before))
        self.good.do(
            f"other = Flow.offline({str(TRACE)!r})\ncount = other.apply('PKT_COUNTER')\nother.run()"
        )
        self.assertEqual(self.good.get("other.word(count)"), TRACE_PACKETS)
        self.good.do("other.close()")

    def test_an_invalid_request_ends_only_its_client(self):
        generator = random.Random(1)
        handshake = call(HELLO, (1, VERSION))
        wrong = [
            b"\xff",
            b"\0" * 100,
            generator.randbytes(1000),
            b"\xff" * MESSAGE_BYTES_MAX,
            call(HELLO, (1, VERSION))[:-1],
            call(CONNECT, (1, 1)),
            call(99, (1, 1)),
            b"\x0a\xff\xff\xff\xff\x0f",
        ]
        for data in wrong:
            self.assertEqual(self.raw(is_greeted=False).ask(data), b"", data[:20])
            self.assertEqual(
                self.raw().ask(data)
                if data != call(CONNECT, (1, 1)) and data != call(99, (1, 1))
                else b"",
                b"",
                data[:20],
            )
        self.assertIn(
            f"mapid has version {VERSION}".encode(),
            self.raw(is_greeted=False).ask(call(HELLO, (1, VERSION + 1))),
        )
        self.assertEqual(self.raw().ask(handshake), b"")
        for _ in range(200):
            self.raw().ask(generator.randbytes(generator.randrange(1, 200)))
        self.assert_serves()

    def test_a_message_that_is_too_long_ends_only_its_client(self):
        for size in (MESSAGE_BYTES_MAX + 1, 150000):
            self.assertEqual(self.raw().ask(b"x" * size), b"")
        self.assert_serves()

    def test_absurd_values_are_refused_or_end_their_client(self):
        client = self.raw()
        for kind in range(CREATE_FLOW, FUNCTION_AT + 1):
            for value in ABSURD:
                for fields in (
                    [(1, value)],
                    [(1, value), (2, value)],
                    [(1, "tap"), (2, value)],
                    [(1, value), (2, "tap"), (3, message((1, value), (2, value)))],
                    [(1, "\0" * 1000)],
                    [(1, b"\xff" * 60000), (2, b"\xff")],
                ):
                    if not client.ask(call(kind, *fields)):
                        client.close()
                        client = self.raw()
        self.assert_serves()

    def test_arguments_of_other_kinds_than_the_function_has_are_refused(self):
        functions = {
            "PKT_COUNTER": "",
            "BPF_FILTER": "s",
            "STATS": "rfs",
            "TO_FILE": "iwi",
            "RES2FILE": "iSwsi",
            "BINOP": "irfrf",
            "TO_BUFFER": "?i",
        }
        generator = random.Random(2)
        for name in functions:
            for _ in range(60):
                client = self.raw()
                self.assertTrue(client.ask(call(CREATE_FLOW, (1, 1), (2, "tap"))))
                client.ask(call(APPLY, (1, 1), (2, "PKT_COUNTER")))
                arguments = []
                for _ in range(generator.randrange(7)):
                    targets = [
                        (
                            4,
                            message(
                                (1, generator.choice([1, *ABSURD])),
                                (2, generator.choice([1, *ABSURD])),
                            ),
                        )
                        for _ in range(generator.randrange(3))
                    ]
                    arguments.append(
                        (
                            3,
                            message(
                                (1, generator.choice([0, *b"irsfSwl", 2**32 - 1])),
                                (2, generator.choice(ABSURD)),
                                (3, generator.randbytes(5)),
                                *targets,
                            ),
                        )
                    )
                client.ask(
                    call(APPLY, (1, 1), (2, name), *arguments),
                    [0] if generator.randrange(2) else [],
                )
                client.ask(call(CONNECT, (1, 1)))
                client.close()
        self.assert_serves()

    def test_an_int_that_no_int_can_hold_ends_its_client(self):
        for value, reply in ((2, True), (2**31, False), (2**40 + 2, False), (-(2**31) - 1, False)):
            client = self.raw()
            client.ask(call(CREATE_FLOW, (1, 1), (2, "tap")))
            self.assertEqual(
                bool(
                    client.ask(
                        call(APPLY, (1, 1), (2, "PKTINFO"), (3, message((1, ord("i")), (2, value))))
                    )
                ),
                reply,
                value,
            )
        self.assert_serves()

    def test_unexpected_descriptors_are_closed(self):
        before = self.daemon.descriptors()
        for count in (1, 16, 17, 250):
            client = self.raw()
            client.ask(call(NEXT_DEVICE, (1, 0)), [1] * count)
            client.ask(call(CREATE_OFFLINE, (1, "x"), (2, 0), (3, 1)), [1] * min(count, 16))
            client.ask(call(CREATE_OFFLINE, (1, "x"), (2, 0), (3, 1)))
            client.close()
        self.assertTrue(
            wait_until(lambda: self.daemon.descriptors() == before, 5),
            (before, self.daemon.descriptors()),
        )
        self.assert_serves()

    def test_a_capture_on_a_file_system_that_a_program_serves_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            try:
                served = FuseFile(folder)
            except OSError as why:
                self.skipTest(f"cannot mount a FUSE file system: {why}")
            try:
                with open(served.path, "rb") as file:
                    reply = self.raw().ask(
                        call(CREATE_OFFLINE, (1, "capture"), (2, 0), (3, 1)), [file.fileno()]
                    )
            finally:
                is_released = served.close()
        self.assertTrue(is_released, "mapid keeps the file")
        self.assertIn(b"capture: FUSE file systems are unsupported through mapid", reply)
        self.assert_serves()

    def test_a_capture_that_is_not_a_regular_file_is_refused_immediately(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        self.addCleanup(os.close, writing)
        with (
            open("/dev/zero", "rb") as zero,
            open("/proc/self/maps", "rb") as empty,
            tempfile.TemporaryFile() as random_bytes,
        ):
            folder = os.open("/", os.O_RDONLY)
            self.addCleanup(os.close, folder)
            random_bytes.write(b"\xa1\xb2\xc3\xd4" + os.urandom(100000))
            for file in (reading, writing, zero.fileno(), folder):
                reply = self.raw().ask(call(CREATE_OFFLINE, (1, "capture"), (2, 0), (3, 1)), [file])
                self.assertIn(b"capture: not a regular file", reply)
            for file in (empty.fileno(), random_bytes.fileno()):
                self.assertTrue(
                    self.raw().ask(call(CREATE_OFFLINE, (1, "capture"), (2, 0), (3, 1)), [file])
                )
        client = self.raw()
        client.ask(call(CREATE_FLOW, (1, 1), (2, "tap")))
        to_pipe = [(3, message((1, kind), (2, 0), (3, "out"))) for kind in b"iwi"]
        self.assertIn(
            b"out: not a regular file",
            client.ask(call(APPLY, (1, 1), (2, "TO_FILE"), *to_pipe), [writing]),
        )
        self.assert_serves()

    def test_a_client_that_never_reads_replies_is_disconnected(self):
        client = self.raw()
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        with self.assertRaises((BrokenPipeError, ConnectionResetError, TimeoutError)):
            client.socket.settimeout(20)
            for _ in range(100000):
                client.send(call(DESCRIBE_NAME, (1, "x" * 60000)))
        self.assertTrue(
            wait_until(lambda: "does not read" in self.daemon.log(), 5), self.daemon.log()
        )
        self.assert_serves()

    def test_corrupting_the_memory_that_clients_write_harms_only_that_client(self):
        client = self.raw()
        mine = mmap.mmap(client.memory[1], 0)
        with self.assertRaises(PermissionError):
            mmap.mmap(client.memory[0], 0)
        with self.assertRaises(PermissionError):
            os.pwrite(client.memory[0], b"x", 0)
        with self.assertRaises(OSError):
            again = os.open(f"/proc/self/fd/{client.memory[0]}", os.O_RDWR)
            self.addCleanup(os.close, again)
            mmap.mmap(again, 0)
        for descriptor in client.memory:
            with self.assertRaises(PermissionError):
                os.ftruncate(descriptor, 0)
        for flow in range(1, 9):
            client.ask(call(CREATE_FLOW, (1, flow), (2, "tap")))
            client.ask(
                call(APPLY, (1, flow), (2, "TO_BUFFER"), (3, message((1, ord("i")), (2, flow % 2))))
            )
            client.ask(
                call(
                    APPLY,
                    (1, flow),
                    (2, "EXPIRED_FLOWS"),
                    *((3, message((1, ord("i")), (2, number))) for number in (10, 100, 0)),
                )
            )
            client.ask(call(CONNECT, (1, flow)))
        generator = random.Random(3)
        for _ in range(300):
            kind = generator.choice([b"\0", b"\xff", b""])
            mine[:] = kind * len(mine) if kind else generator.randbytes(4096) * (len(mine) // 4096)
        self.assert_serves()
        mine.close()

    def test_a_filter_that_would_be_compiled_for_minutes_is_refused_immediately(self):
        client = self.raw()
        self.assertTrue(client.ask(call(CREATE_FLOW, (1, 1), (2, "tap"))))
        filters = " or ".join(f"port {number}" for number in range(1, 4000))
        self.assertIn(
            b"BPF_FILTER: a text of",
            client.ask(
                call(APPLY, (1, 1), (2, "BPF_FILTER"), (3, message((1, ord("s")), (3, filters))))
            ),
        )
        self.assertNotIn(
            b"BPF_FILTER: a text of",
            client.ask(
                call(
                    APPLY,
                    (1, 1),
                    (2, "BPF_FILTER"),
                    (3, message((1, ord("s")), (3, filters[:1000].rsplit(" or ", 1)[0]))),
                )
            ),
        )
        self.assert_serves()

    def test_references_from_flow_to_flow_keep_nothing_of_flows_that_are_gone(self):
        client = self.raw()
        self.assertTrue(client.ask(call(CREATE_FLOW, (1, 1), (2, "tap"))))
        client.ask(call(APPLY, (1, 1), (2, "PKT_COUNTER")))
        client.ask(call(CONNECT, (1, 1)))

        def argument(number):
            target = (4, message((1, number), (2, 1)))
            return [(3, message((1, ord("r")))), (3, message((1, ord("f")), (2, 1), target))]

        for number in range(2, 1000):  # a chain, each refers to the previous one
            self.assertTrue(client.ask(call(CREATE_FLOW, (1, number), (2, "tap"))))
            client.ask(
                call(
                    APPLY,
                    (1, number),
                    (2, "BINOP"),
                    (3, message((1, ord("i")), (2, 1))),
                    *argument(number - 1),
                    *argument(number - 1),
                )
            )
            client.ask(call(CONNECT, (1, number)))
            client.ask(call(CLOSE, (1, number - 1)))
        client.close()
        self.assert_serves()

    def test_ten_thousand_flows_are_stopped_at_the_limit(self):
        client = self.raw()
        made = sum(
            b"max-flows" not in client.ask(call(CREATE_FLOW, (1, number), (2, "tap")))
            for number in range(1, 10001)
        )
        self.assertEqual(made, 1024)
        for number in range(1, 1025):
            self.assertTrue(client.ask(call(APPLY, (1, number), (2, "PKT_COUNTER"))))
            self.assertTrue(client.ask(call(CONNECT, (1, number))))
        self.assert_serves()
        client.close()
        self.assertTrue(
            wait_until(lambda: self.good.get("flow.information(packets).shared_with") == 0, 20)
        )

    def test_short_lived_clients_leave_nothing(self):
        self.raw().close()
        before = self.daemon.descriptors(), self.daemon.threads()
        for number in range(300):
            client = Raw(self.daemon.socket, is_greeted=number % 3 != 0)
            if number % 3 == 1:
                client.send(call(CREATE_FLOW, (1, 1), (2, "tap"))[: number % 7])
            client.close()
        self.assertTrue(
            wait_until(
                lambda: (
                    self.daemon.threads() <= before[1] and self.daemon.descriptors() <= before[0]
                ),
                10,
            ),
            (before, self.daemon.descriptors(), self.daemon.threads()),
        )
        self.assert_serves()


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
