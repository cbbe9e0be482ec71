#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The streams of COOKING and UNCOOK are those that tshark follows."""

import ipaddress
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile
import unittest

import needs
from capture_files import checksum
from mapi_cooking_library import (
    BOTH_SIDE,
    CLIENT_SIDE,
    SERVER_SIDE,
    cooked,
    ends_of,
    followed,
    packets,
    streams_followed,
    streams_of,
    tshark,
)

DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)
# Only with complete data: of missing bytes, tshark shows those that were acknowledged.
CAPTURES = [
    DATA / name
    for name in (
        "chrissanders+packets/http_espn.pcapng",
        "arkime+arkime/tests/pcap/tcp-reassembly-synthetic.pcap",
        "debian+tcpflow-1.6.1/tests/test1-out-of-order.pcap",
        "debian+tcpflow-1.6.1/tests/test4.pcap",
        "debian+tcpflow-1.6.1/tests/local.pcap",
        "debian+wireshark-4.0.17/captures/http-ooo.pcap",
        "zeek+zeek/testing/btest/Traces/http/methods.pcap",
    )
]
CLIENT, SERVER = ("10.0.0.1", 1000), ("10.0.0.2", 80)
CLIENT6, SERVER6 = ("2001:db8::1", 1000), ("2001:db8::2", 80)
SYN, FIN, ACK = 2, 1, 16


def ip(source, destination, protocol, payload, fragment=0, identification=1):
    addresses = ipaddress.ip_address(source).packed, ipaddress.ip_address(destination).packed
    if len(addresses[0]) == 16:
        return (
            struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64)
            + b"".join(addresses)
            + payload
        )
    head = struct.pack(
        ">BBHHHBBH", 0x45, 0, 20 + len(payload), identification, fragment, 64, protocol, 0
    )
    right = checksum(head + b"".join(addresses))
    return head[:10] + struct.pack(">H", right) + b"".join(addresses) + payload


def tcp(source, destination, sequence, payload=b"", flags=ACK):
    head = struct.pack(
        ">HHIIBBHHH", source[1], destination[1], sequence & 0xFFFFFFFF, 0, 0x50, flags, 8000, 0, 0
    )
    return head + payload


def datagram(source, destination, *more):
    return ip(source[0], destination[0], 6, tcp(source, destination, *more))


def ethernet(packet, tags=b""):
    return bytes(12) + tags + (b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00") + packet


def gre_with_checksum(packet):
    kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
    head = b"\x80\x00" + kind + bytes(4)
    return b"\x80\x00" + kind + struct.pack(">HH", checksum(head + packet), 0) + packet


WRAPS = {
    "plain": ethernet,
    "VLAN in QinQ": lambda packet: ethernet(packet, b"\x88\xa8\x00\x05\x81\x00\x00\x07"),
    "MPLS": lambda packet: bytes(12) + b"\x88\x47\x00\x01\x01\x40" + packet,
    "PPPoE": lambda packet: (
        bytes(12)
        + b"\x88\x64\x11\x00\x00\x01"
        + struct.pack(">H", len(packet) + 2)
        + (b"\x00\x57" if packet[0] >> 4 == 6 else b"\x00\x21")
        + packet
    ),
    "GRE": lambda packet: ethernet(ip("192.0.2.1", "192.0.2.2", 47, gre_with_checksum(packet))),
    "IP in IPv6": lambda packet: ethernet(
        ip("2001:db8:1::1", "2001:db8:1::2", 41 if packet[0] >> 4 == 6 else 4, packet)
    ),
}


class Cooking(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def capture(self, frames):
        path = self.folder / "made.pcap"
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
            for number, frame in enumerate(frames):
                file.write(struct.pack("<IIII", number, 0, len(frame), len(frame)) + frame)
        return path

    def read(self, path):
        """Packets in whose lengths and checksums tshark finds no error."""
        found = packets(path)
        for packet in found:
            self.assertEqual(packet["tcp.checksum.status"], "1", packet)
            self.assertIn(packet["ip.checksum.status"], ("", "1"), packet)
            self.assertIn(packet["gre.checksum.status"], ("", "1"), packet)
            self.assertEqual(len(packet["tcp.payload"]) // 2, int(packet["tcp.len"]), packet)
        return found

    def test_streams_of_captures_are_those_that_tshark_follows(self):
        for path in CAPTURES:
            with self.subTest(capture=path.name):
                wanted, out = streams_followed(path), self.folder / "out"
                self.assertTrue(wanted)
                for threshold in (1 << 20, 1000):
                    counts = cooked(path, out, threshold, 0, 0, BOTH_SIDE)
                    self.assertEqual(streams_of(self.read(out)), wanted)
                    self.assertEqual(
                        counts["bytes"], counts["cooked_bytes"] + counts["repeated_bytes"]
                    )

    def test_what_is_not_tcp_passes_unchanged(self):
        path, out = CAPTURES[0], self.folder / "out"
        counts = cooked(path, out, 0, 0, 0, BOTH_SIDE)
        listed = [
            subprocess.run(
                ["tcpdump", "-n", "-tt", "--nano", "-xx", "-r", each, "not tcp"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for each in (path, out)
        ]
        self.assertEqual(*listed)
        self.assertEqual(
            sum(not line.startswith("\t") for line in listed[0].splitlines()),
            counts["passed_packets"],
        )
        self.assertGreater(counts["passed_packets"], 0)

    def test_sides_are_named_by_the_receiver(self):
        path, out = CAPTURES[0], self.folder / "out"
        for side, server_port in ((CLIENT_SIDE, 1), (SERVER_SIDE, 3)):
            counts = cooked(path, out, 0, 0, 0, side)
            self.assertEqual(
                streams_of(self.read(out)),
                {
                    key: stream
                    for key, stream in streams_followed(path).items()
                    if key[server_port] in (80, 443)
                },
            )
            self.assertGreater(counts["other_bytes"], 0)

    def test_one_packet_of_each_side_is_its_first(self):
        path, out = CAPTURES[0], self.folder / "out"
        cooked(path, out, 700, 0, 1, BOTH_SIDE)
        found = self.read(out)
        self.assertEqual(
            streams_of(found), {key: stream[:700] for key, stream in streams_followed(path).items()}
        )
        self.assertEqual(len(found), len(set(map(ends_of, found))))

    def make_stream(self, ends, seed):
        """Segments of both directions, in a mixed order, some twice, some overlapping; numbers wrap
        around."""
        rng = random.Random(seed)
        client, server = ends
        starts = {client: 0xFFFFFF00, server: 0xFFFFFFF0}
        data = {end: bytes(rng.randrange(256) for _ in range(3000)) for end in ends}
        frames = [
            datagram(client, server, starts[client] - 1, b"", SYN),
            datagram(server, client, starts[server] - 1, b"", SYN | ACK),
        ]
        segments = []
        for end, other in ((client, server), (server, client)):
            for at in range(0, 3000, 100):
                segments.append(
                    datagram(
                        end,
                        other,
                        starts[end] + at,
                        data[end][at : at + 100 + rng.choice((0, 0, 50, 150))],
                    )
                )
        segments += rng.sample(segments, 10)
        for at in range(0, len(segments), 8):  # near their place, as on a real line
            part = segments[at : at + 8]
            rng.shuffle(part)
            frames += part
        frames += [
            datagram(client, server, starts[client] + 3000, b"", FIN | ACK),
            datagram(server, client, starts[server] + 3000, b"", FIN | ACK),
        ]
        return data, frames

    def test_unordered_and_overlapping_segments_are_put_in_order_after_tags_and_tunnels(self):
        for name, wrap in WRAPS.items():
            with self.subTest(wrap=name):
                wanted, frames = {}, []
                for ends in ((CLIENT, SERVER), (CLIENT6, SERVER6)):
                    data, more = self.make_stream(ends, name)
                    wanted |= {ends[0] + ends[1]: data[ends[0]], ends[1] + ends[0]: data[ends[1]]}
                    frames += more
                path, out = self.capture(map(wrap, frames)), self.folder / "out"
                self.assertEqual(followed(path), wanted)
                counts = cooked(path, out, 0, 0, 0, BOTH_SIDE)
                found = self.read(out)
                self.assertEqual(streams_of(found), wanted)
                self.assertEqual(
                    (counts["cooked_packets"], counts["streams"], counts["passed_packets"]),
                    (4, 2, 0),
                )
                self.assertEqual(
                    [packet["tcp.seq_raw"] for packet in found if packet["tcp.srcport"] == "1000"],
                    [str(0xFFFFFF00)] * 2,
                )

    def test_first_segments_in_another_order_are_in_order_when_the_handshake_was_not_seen(self):
        for ends in ((CLIENT, SERVER), (CLIENT6, SERVER6)):
            for first in (5000, 0xFFFFFFD0):
                for swapped in (2, 3, 7):
                    with self.subTest(ends=ends, first=first, swapped=swapped):
                        data = bytes(range(200)) * 2
                        segments = [
                            datagram(*ends, first + at, data[at : at + 39])
                            for at in range(0, len(data), 39)
                        ]
                        segments[:swapped] = reversed(segments[:swapped])
                        segments.append(segments[0])  # retransmitted
                        out = self.folder / "out"
                        counts = cooked(
                            self.capture(map(ethernet, segments)), out, 0, 0, 0, BOTH_SIDE
                        )
                        self.assertEqual(streams_of(self.read(out)), {ends[0] + ends[1]: data})
                        self.assertEqual(
                            (
                                counts["cooked_packets"],
                                counts["repeated_bytes"],
                                counts["early_bytes"],
                            ),
                            (1, 39, 0),
                        )

    def test_a_source_route_is_removed_and_both_directions_are_one_stream(self):
        hop, path, out = "2001:db8::aaa", self.folder / "made.pcap", self.folder / "out"
        route = struct.pack(">BBBBI", 6, 2, 0, 1, 0) + ipaddress.ip_address(SERVER6[0]).packed
        request = ip(CLIENT6[0], hop, 43, route + tcp(CLIENT6, SERVER6, 1, b"request" * 300))
        self.capture([ethernet(request), ethernet(datagram(SERVER6, CLIENT6, 1, b"answer"))])
        for after in ([], [("UNCOOK", 100)]):
            counts = cooked(path, out, 0, 0, 0, BOTH_SIDE, after=after)
            self.assertEqual(
                streams_of(self.read(out)),
                {CLIENT6 + SERVER6: b"request" * 300, SERVER6 + CLIENT6: b"answer"},
            )
            self.assertEqual(counts["streams"], 1)

    def test_a_cooked_packet_has_the_time_of_the_packet_that_completed_it(self):
        frames = [ethernet(datagram(CLIENT, SERVER, 1 + at, b"x" * 10)) for at in range(0, 50, 10)]
        out = self.folder / "out"
        cooked(self.capture(frames), out, 20, 0, 0, BOTH_SIDE)
        self.assertEqual(
            [(float(packet["frame.time_epoch"]), packet["tcp.len"]) for packet in packets(out)],
            [(1, "20"), (3, "20"), (4, "10")],
        )

    def test_streams_without_packets_end_after_the_timeout(self):
        frames = [ethernet(datagram(CLIENT, SERVER, 1, b"one"))] + [
            ethernet(ip("10.0.0.9", "10.0.0.8", 17, bytes(8)))
        ] * 9
        out = self.folder / "out"
        cooked(self.capture(frames), out, 0, 4, 0, BOTH_SIDE)
        order = tshark(out, "-T", "fields", "-e", "ip.proto").split()
        self.assertEqual(order, ["17"] * 4 + ["6"] + ["17"] * 5)

    def test_ip_fragments_are_reassembled_first_and_those_of_other_protocols_pass(self):
        payload = bytes(range(256)) * 5
        for name, wrap in WRAPS.items():
            with self.subTest(wrap=name):
                frames = []
                whole = tcp(CLIENT, SERVER, 1, payload)
                for at in (800, 0, 400):
                    field = at // 8 | (0x2000 if at < 800 else 0)
                    frames.append(
                        wrap(
                            ip(
                                CLIENT[0],
                                SERVER[0],
                                6,
                                whole[at : at + 400] if at < 800 else whole[at:],
                                field,
                            )
                        )
                    )
                whole = tcp(CLIENT6, SERVER6, 1, payload)
                for at in (0, 800, 400):
                    head = struct.pack(">BBHI", 6, 0, at | (1 if at < 800 else 0), 77)
                    frames.append(
                        wrap(
                            ip(
                                CLIENT6[0],
                                SERVER6[0],
                                44,
                                head + (whole[at : at + 400] if at < 800 else whole[at:]),
                            )
                        )
                    )
                frames.append(wrap(ip(CLIENT[0], SERVER[0], 17, bytes(8), 0x2000, 5)))
                out = self.folder / "out"
                counts = cooked(self.capture(frames), out, 0, 0, 0, BOTH_SIDE)
                self.assertEqual(
                    streams_of(self.read(out)),
                    {CLIENT + SERVER: payload, CLIENT6 + SERVER6: payload},
                )
                self.assertEqual(
                    (counts["fragments"], counts["lost_fragments"], counts["passed_packets"]),
                    (6, 0, 1),
                )

    def test_cooking_the_output_of_uncook_gives_the_same(self):
        for path in CAPTURES[:2]:
            with self.subTest(capture=path.name):
                once, twice, cut = (self.folder / name for name in ("once", "twice", "cut"))
                cooked(path, once, 0, 0, 0, BOTH_SIDE)
                cooked(path, cut, 0, 0, 0, BOTH_SIDE, after=[("UNCOOK",)])
                counts = cooked(
                    path,
                    twice,
                    0,
                    0,
                    0,
                    BOTH_SIDE,
                    after=[("UNCOOK", 536), ("COOKING", 0, 0, 0, BOTH_SIDE)],
                )
                first, found = self.read(once), self.read(cut)
                wanted = streams_of(first)
                self.assertEqual(streams_of(found), wanted)
                self.assertEqual(streams_of(self.read(twice)), wanted)
                self.assertEqual(counts["cooked_bytes"], sum(map(len, wanted.values())))
                self.assertLessEqual(max(int(packet["frame.len"]) for packet in found), 1514)
                self.assertTrue(
                    path != CAPTURES[0] or any(int(packet["frame.len"]) > 1514 for packet in first)
                )


if __name__ == "__main__":
    needs.tools("tshark", "tcpdump")
    needs.captures(DATA)
    unittest.main()
