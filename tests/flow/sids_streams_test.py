#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sids on connections: attacks across packets, directions, flow bits and rates."""

import struct
import unittest

from sids_library import SidsTest, alerts_of, packets

CLIENT, SERVER = "0a000001", "0a000002"
HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


def folded(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip(source, target, protocol, body):
    head = struct.pack(">BBHIBB", 0x45, 0, 20 + len(body), 0, 64, protocol)
    ends = bytes.fromhex(source + target)
    checksum = struct.pack(">H", folded(head + b"\0\0" + ends))
    return bytes.fromhex("020202020202 040404040404 0800") + head + checksum + ends + body


def tcp(source, target, ports, numbers, flags, payload=b""):
    head = struct.pack(">HHIIBBHHH", *ports, *numbers, 0x50, flags, 8192, 0, 0)
    pseudo = bytes.fromhex(source + target) + struct.pack(">HH", 6, len(head) + len(payload))
    data = pseudo + head + payload
    checksum = struct.pack(">H", folded(data + b"\0" * (len(data) % 2)))
    return ip(source, target, 6, head[:16] + checksum + head[18:] + payload)


class Connection:
    """Segments between a client and a server, whose packets are one millisecond apart."""

    def __init__(self, port=1000):
        self.ports = (port, 21)
        self.next = [100, 900]  # sequence numbers of client and server

    def send(self, side, flags, payload=b""):
        ends = (CLIENT, SERVER) if side == 0 else (SERVER, CLIENT)
        ports = self.ports if side == 0 else self.ports[::-1]
        numbers = self.next[side], self.next[1 - side] if flags & ACK else 0
        self.next[side] += len(payload) + (flags & (SYN | FIN) != 0)
        return tcp(*ends, ports, numbers, flags, payload)

    def handshake(self):
        return [self.send(0, SYN), self.send(1, SYN | ACK), self.send(0, ACK)]

    def end(self):
        return [self.send(0, FIN | ACK), self.send(1, FIN | ACK), self.send(0, ACK)]


def capture(frames, seconds=()):
    """Frames with times in ms; `seconds`: those of the frames instead."""
    times = [(int(at), int(at % 1 * 1000)) for at in seconds] or [
        (1 + i // 1000, i % 1000) for i in range(len(frames))
    ]
    return HEAD + b"".join(
        struct.pack("<IIII", second, 1000 * ms, len(frame), len(frame)) + frame
        for (second, ms), frame in zip(times, frames)
    )


class Streams(SidsTest):
    def counts(self, rules, frames, seconds=()):
        (self.folder / "c.pcap").write_bytes(capture(frames, seconds))
        return packets(self.table(rules, "-r", "c.pcap", "--all"))

    def test_an_attack_across_packets_is_found_in_the_stream_and_not_in_packets(self):
        connection = Connection()
        frames = connection.handshake()
        frames += [connection.send(0, ACK | PSH, part) for part in (b"USER ro", b"ot\r\n")]
        frames += [connection.send(1, ACK), *connection.end()]
        self.assertEqual(
            self.counts(
                'count tcp dst port 21; content:"USER root"; cooked; id:1;\n'
                'count tcp dst port 21; content:"USER root"; id:2;\n'
                'count tcp; content:"ot|0d 0a|"; id:3;\n'
                'count tcp src port 21; content:"USER root"; cooked; id:4;\n',
                frames,
            ),
            {1: 1, 2: 0, 3: 1, 4: 0},
        )

    def test_the_option_cooked_of_the_program_is_that_of_all_rules(self):
        connection = Connection()
        frames = connection.handshake()
        frames += [connection.send(0, ACK | PSH, part) for part in (b"USER ro", b"ot\r\n")]
        (self.folder / "c.pcap").write_bytes(capture(frames + connection.end()))
        table = self.table('count; content:"USER root"; id:1;\n', "-r", "c.pcap", "--cooked")
        self.assertEqual(packets(table), {1: 1})

    def test_flow_tells_direction_and_state(self):
        connection = Connection()
        frames = [
            *connection.handshake(),
            connection.send(0, ACK | PSH, b"a"),
            connection.send(1, ACK | PSH, b"a"),
            connection.send(1, ACK | PSH, b"a"),
        ]
        self.assertEqual(
            self.counts(
                "count tcp; content:a; flow:to_server,established; id:1;\n"
                "count tcp; content:a; flow:from_server,established; id:2;\n"
                "count tcp; flow:not_established; id:3;\n"
                "count tcp; flow:stateless; id:4;\n",
                frames,
            ),
            {1: 1, 2: 2, 3: 2, 4: 6},
        )

    def test_packets_with_a_wrong_checksum_are_counted_and_noted(self):
        connection = Connection()
        frames = [*connection.handshake(), connection.send(0, ACK | PSH, b"a")]
        (self.folder / "c.pcap").write_bytes(
            capture([frame[:50] + b"\xab\xcd" + frame[52:] for frame in frames])
        )
        rules = "count tcp; flow:established; id:1;\n"
        program = self.sids(rules, "-r", "c.pcap", "--json")
        stats = alerts_of(program.stdout)[1]
        self.assertEqual((stats["alerts"], stats["wrong_checksums"]), (0, 2))
        self.assertIn("2 packets had a wrong TCP checksum; flow does not follow", program.stderr)
        self.assertEqual(self.sids(rules, "-r", "c.pcap", "--quiet").stderr, "")

    def test_bits_of_a_connection_are_seen_by_later_packets_and_later_rules(self):
        frames = []
        for port, word in (1000, b"USER root"), (2000, b"USER me"):
            connection = Connection(port)
            frames += connection.handshake()
            frames.append(connection.send(0, ACK | PSH, word))
            frames.append(connection.send(1, ACK | PSH, b"230 ok"))
            frames.append(connection.send(1, ACK | PSH, b"230 ok"))
        self.assertEqual(
            self.counts(
                'count tcp; content:"root"; flowbits:isset,root; id:1;\n'
                'count tcp; content:"USER root"; flow:to_server,established; '
                "flowbits:set,root; flowbits:noalert; id:2;\n"
                'count tcp; content:"root"; flowbits:isset,root; id:3;\n'
                'count tcp; content:"230 "; flowbits:isset,root; id:4;\n'
                'count tcp; content:"230 "; flowbits:isnotset,root; id:5;\n'
                'count tcp; content:"230 "; flowbits:isset,root; flowbits:unset,root; id:6;\n',
                frames,
            ),
            {1: 0, 2: 0, 3: 1, 4: 1, 5: 3, 6: 1},
        )

    def test_rates_are_those_of_snort(self):
        frame = ip(CLIENT, SERVER, 1, struct.pack(">BBHHH", 8, 0, 0, 1, 1) + b"x" * 8)
        self.assertEqual(
            self.counts(
                "count icmp; itype:8; threshold:type limit, track by_src, count 2, seconds 60; "
                "id:1;\n"
                "count icmp; itype:8; threshold:type threshold, track by_dst, count 3, seconds 60;"
                " id:2;\n"
                "count icmp; itype:8; threshold:type both, track by_src, count 3, seconds 60; "
                "id:3;\n"
                "count icmp; itype:8; detection_filter:track by_src, count 4, seconds 60; id:4;\n"
                "count icmp; itype:8; id:5;\n",
                [frame] * 10,
                [100 + i for i in range(10)],
            ),
            {1: 2, 2: 3, 3: 1, 4: 6, 5: 10},
        )


if __name__ == "__main__":
    unittest.main()
