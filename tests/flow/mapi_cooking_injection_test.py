#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packets injected into a TCP connection: COOKING's streams are what programs read from the
kernel's sockets."""

import collections
import ctypes
import fcntl
import os
import pathlib
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import unittest

import needs
from capture_files import packet_of
from mapi_cooking_library import BOTH_SIDE, cooked

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
KERNEL, PEER = {4: "10.77.0.1", 6: "fd77::1"}, {4: "10.77.0.2", 6: "fd77::2"}
LINKTYPE_RAW, TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 101, 0x400454CA, 1, 0x1000, 0x40000000
SCALE_AND_SACK = bytes([2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 7])


def payloads(path):
    """Ends and bytes of the packets of a capture that TO_FILE wrote."""
    data, at = path.read_bytes(), 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        packet = data[at + 16 : at + 16 + length]
        head, size, family = (
            (20, 4, socket.AF_INET) if packet[0] >> 4 == 4 else (40, 16, socket.AF_INET6)
        )
        ports = struct.unpack_from(">HH", packet, head)
        ends = [
            (
                socket.inet_ntop(family, packet[head - size * (2 - i) : head - size * (1 - i)]),
                ports[i],
            )
            for i in (0, 1)
        ]
        yield ends[0] + ends[1], packet[head + 20 :]
        at += 16 + length


class Line:
    """A network interface whose other end is this test."""

    def __init__(self):
        self.device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.device, TUNSETIFF, struct.pack("16sH", b"cook0", IFF_TUN | IFF_NO_PI))
        for command in (
            "link set lo up",
            "link set cook0 up",
            "addr add 10.77.0.1/24 dev cook0",
            "addr add fd77::1/64 dev cook0 nodad",
        ):
            subprocess.run(["ip", *command.split()], check=True)
        self.port = 20000

    def send(self, packet):
        os.write(self.device, packet)

    def take(self, seconds=0.01):
        """TCP packets that the kernel sends, until it is silent."""
        while select.select([self.device], [], [], seconds)[0]:
            packet = os.read(self.device, 65536)
            if packet[9 if packet[0] >> 4 == 4 else 6] == 6:
                yield packet


class Connection:
    """The peer's end; the other end is a kernel socket. All packets are kept for a capture."""

    def __init__(self, line, version, is_server, first, options):
        self.line, self.sequence, self.captured, self.read = line, first, [], b""
        line.port += 1
        self.options = options
        family = socket.AF_INET if version == 4 else socket.AF_INET6
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.peer = PEER[version], line.port
        if is_server:
            listener = self.socket
            listener.bind((KERNEL[version], 0))
            listener.listen()
            self.kernel = listener.getsockname()[:2]
            self.acknowledgment = 0
            self.send(SYN, acknowledgment=0, options=options)
            self.take()
            self.sequence += 1
            self.send(ACK)
            listener.settimeout(10)
            self.socket = listener.accept()[0]
            listener.close()
        else:
            self.socket.setblocking(False)
            self.socket.connect_ex(self.peer)
            self.kernel = self.socket.getsockname()[:2]
            self.take()
            self.send(SYN | ACK, options=options)
            self.sequence += 1
        self.handshake = 3
        self.take()
        self.socket.setblocking(False)

    def send(self, flags, ahead=0, payload=b"", acknowledgment=None, **more):
        """Sends a packet to the kernel."""
        acknowledgment = self.acknowledgment if acknowledgment is None else acknowledgment
        packet = packet_of(
            self.peer, self.kernel, self.sequence + ahead, acknowledgment, flags, payload, **more
        )
        self.captured.append(packet)
        self.line.send(packet)

    def take(self):
        for packet in self.line.take():
            tcp = packet[20 if packet[0] >> 4 == 4 else 40 :]
            if struct.unpack(">H", tcp[2:4])[0] != self.peer[1]:  # from a previous connection
                continue
            self.captured.append(packet)
            sequence, flags = struct.unpack(">I", tcp[4:8])[0], tcp[13]
            payload = tcp[(tcp[12] >> 4) * 4 :]
            if flags & SYN or payload or flags & FIN:
                self.acknowledgment = (
                    sequence + len(payload) + (1 if flags & (SYN | FIN) else 0)
                ) & 0xFFFFFFFF
        try:
            while more := self.socket.recv(65536, socket.MSG_DONTWAIT):
                self.read += more
        except OSError:
            pass

    def data(self, payload):
        self.send(ACK | PSH, payload=payload)
        self.sequence += len(payload)
        self.take()

    def answer(self, payload):
        """Data from the program at the kernel's end."""
        self.socket.send(payload)
        self.take()
        self.send(ACK)

    def forge(self, flags, ahead=0, payload=b"", **more):
        """As if the kernel had sent it; it is only captured, not delivered."""
        self.captured.append(
            packet_of(
                self.kernel,
                self.peer,
                self.acknowledgment + ahead,
                self.sequence,
                flags,
                payload,
                **more,
            )
        )


# Packets injected between `one` and `two`, as if the peer had sent them; sequence numbers relative
# to the next expected one.
INJECTIONS = {
    "SYN ahead in the window": lambda c: c.send(SYN, 1000),
    "SYN ahead": lambda c: c.send(SYN, 1 << 20),
    "SYN behind": lambda c: c.send(SYN, -5000),
    "SYN at the next byte": lambda c: c.send(SYN, 0),
    "SYN far": lambda c: c.send(SYN, 1 << 30),
    "SYN with data": lambda c: c.send(SYN, 1 << 20, b"forged"),
    "SYN-ACK": lambda c: c.send(SYN | ACK, 3000),
    "SYN-ACK far": lambda c: c.send(SYN | ACK, 1 << 30, b"forged"),
    "SYN and FIN": lambda c: c.send(SYN | FIN, 1 << 20),
    "RST ahead of the window": lambda c: c.send(RST, 1 << 24),
    "RST behind": lambda c: c.send(RST, -1),
    "RST far": lambda c: c.send(RST, 1 << 30),
    "RST in the window, not at the next byte": lambda c: c.send(RST, 1),
    "RST with ACK in the window": lambda c: c.send(RST | ACK, 100),
    "FIN ahead of the window": lambda c: c.send(FIN | ACK, 1 << 24),
    "FIN behind": lambda c: c.send(FIN | ACK, -3),
    "FIN with a hole before it that the data goes over": lambda c: c.send(FIN | ACK, 2),
    "FIN without ACK": lambda c: c.send(FIN, 0),
    "FIN with an ACK of what was not sent": lambda c: c.send(
        FIN | ACK, 0, acknowledgment=c.acknowledgment + 1000000
    ),
    "data with an ACK of what was not sent": lambda c: c.send(
        ACK, 0, b"forged", acknowledgment=c.acknowledgment + 1000000
    ),
    "data with an ACK just beyond what was sent": lambda c: c.send(
        ACK, 0, b"forged", acknowledgment=c.acknowledgment + 10
    ),
    "data with an ACK that is too old": lambda c: c.send(
        ACK, 0, b"forged", acknowledgment=c.acknowledgment - (1 << 28)
    ),
    "data without ACK": lambda c: c.send(PSH, 0, b"forged"),
    "data ahead of the window": lambda c: c.send(ACK, 1 << 24, b"forged"),
    "data far": lambda c: c.send(ACK, 1 << 30, b"forged"),
    "data behind": lambda c: c.send(ACK, -3, b"xyz"),
    "a keep-alive": lambda c: c.send(ACK, -1, b"x"),
    "SYN of the other end": lambda c: c.forge(SYN, 1 << 20),
    "SYN-ACK of the other end": lambda c: c.forge(SYN | ACK, 1 << 20),
    "RST of the other end, not at the next byte": lambda c: c.forge(RST, 1),
    "RST with this end's number as of the other end": lambda c: c.captured.append(
        packet_of(c.kernel, c.peer, c.sequence, 0, RST)
    ),
    "data of the other end, far": lambda c: c.forge(ACK, 1 << 30, b"forged"),
}


class Injections(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.line = Line()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def cooked(self, captured):
        path, out = self.folder / "in.pcap", self.folder / "out.pcap"
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, LINKTYPE_RAW))
            for number, packet in enumerate(captured):
                file.write(struct.pack("<IIII", number, 0, len(packet), len(packet)) + packet)
        counts = cooked(path, out, 0, 0, 0, BOTH_SIDE)
        streams = collections.defaultdict(bytes)
        for ends, payload in payloads(out):
            streams[ends] += payload
        return streams, counts, counts["cooked_packets"]

    def each_connection(self):
        for version in (4, 6):
            for is_server in (True, False):
                for first, options in ((0xFFFFFFF0, b""), (5000, SCALE_AND_SACK)):
                    yield Connection(self.line, version, is_server, first, options)

    def assert_as_read(self, connection, answered, has_handshake):
        captured = (
            connection.captured if has_handshake else connection.captured[connection.handshake :]
        )
        streams, counts, made = self.cooked(captured)
        self.assertEqual(streams.get(connection.peer + connection.kernel, b""), connection.read)
        self.assertEqual(streams.get(connection.kernel + connection.peer, b""), answered)
        self.assertEqual((counts["holes"], counts["streams"], made), (0, 1, 2))
        return counts

    def test_what_a_host_ignores_changes_nothing(self):
        for name, inject in INJECTIONS.items():
            for connection in self.each_connection():
                with (
                    connection.socket,
                    self.subTest(name, ends=(connection.peer, connection.kernel)),
                ):
                    connection.data(b"GET /att")
                    connection.answer(b"first ")
                    connection.data(b"ack one ")
                    inject(connection)
                    connection.take()
                    connection.data(b"and two ")
                    connection.answer(b"second")
                    connection.data(b"and three")
                    self.assertEqual(connection.read, b"GET /attack one and two and three")
                    for has_handshake in (True, False):
                        self.assert_as_read(connection, b"first second", has_handshake)

    def test_a_reset_at_the_next_byte_ends_the_stream(self):
        for connection in self.each_connection():
            with connection.socket, self.subTest(ends=(connection.peer, connection.kernel)):
                connection.data(b"before")
                connection.answer(b"answer")
                connection.send(RST)
                connection.take()
                connection.send(ACK, 0, b"behind")
                connection.take()
                self.assertEqual(connection.read, b"before")
                for has_handshake in (True, False):
                    self.assertEqual(
                        self.assert_as_read(connection, b"answer", has_handshake)["ignored_bytes"],
                        6,
                    )

    def test_data_after_the_end_is_ignored(self):
        for connection in self.each_connection():
            with connection.socket, self.subTest(ends=(connection.peer, connection.kernel)):
                connection.data(b"before")
                connection.answer(b"answer")
                connection.send(FIN | ACK)
                connection.take()
                connection.send(ACK, 0, b"x")
                connection.send(ACK, 1, b"behind")
                connection.take()
                self.assertEqual(connection.read, b"before")
                for has_handshake in (True, False):
                    self.assertEqual(
                        self.assert_as_read(connection, b"answer", has_handshake)["ignored_bytes"],
                        7,
                    )

    def test_a_new_connection_between_the_same_ends_is_another_stream(self):
        for how in ("closed", "reset", "idle"):
            for version in (4, 6):
                with self.subTest(how, version=version):
                    first = Connection(self.line, version, True, 7000, b"")
                    first.data(b"first stream")
                    if how == "closed":
                        first.send(FIN | ACK)
                        first.sequence += 1
                        first.take()
                        first.socket.close()
                        first.take()
                        first.send(ACK)
                    elif how == "reset":
                        first.send(RST)
                    client, server = first.peer, first.kernel
                    new = [
                        packet_of(client, server, 900000, 0, SYN),
                        packet_of(server, client, 70000, 900001, SYN | ACK),
                        packet_of(client, server, 900001, 70001, ACK),
                        packet_of(client, server, 900001, 70001, ACK, b"second stream"),
                        packet_of(server, client, 70001, 900014, ACK),
                    ]
                    for dropped in (None, 1):  # the answer is missing in the capture
                        captured = first.captured + [
                            each for place, each in enumerate(new) if place != dropped
                        ]
                        streams, counts, made = self.cooked(captured)
                        self.assertEqual(streams, {client + server: b"first streamsecond stream"})
                        self.assertEqual(
                            (counts["streams"], made, counts["holes"], counts["missing_bytes"]),
                            (2, 2, 0, 0),
                        )
                    first.socket.close()


if __name__ == "__main__":
    needs.tools("ip")
    if (
        os.geteuid() != 0
        or not os.path.exists("/dev/net/tun")
        or ctypes.CDLL(None).unshare(CLONE_NEWNET) != 0
    ):
        needs.skip("requires a private network namespace with /dev/net/tun")
    unittest.main()
