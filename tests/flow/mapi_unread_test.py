#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packets whose headers a function cannot read are counted by each function that needs them, and by
no other."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from capture_files import ipv4, ipv6, pcap, tcp, udp
from mapid import BUILD, Daemon

FLOW = BUILD / "bin/mapi-flow"
MACS = bytes.fromhex("020000000001 020000000002")
# Each gets every packet.
READ_HEADERS = [
    "TOP 5 1 9",
    "TOP 5 2 10",
    "HASH 1",
    "HASH 2",
    "HASH 3",
    "HASHSAMP 1024 0",
    "PKTSELECT 4294967296 0 64 0",
    "TRACK_MAPI",
    "TRACK_GRID_FTP",
    "TRACK_IPOVERIP",
    "EXPIRED_FLOWS 9 9 1",
    "UNCOOK",
    "MATCH 'dsize:>0;'",
    "ANONYMIZE 'IP,SRC_IP,MAP'",
]
# a build may lack the library
OF_LIBRARIES = ["TRACK http", "COOKING 0 0 0 2", "FLOW_REPORT NETFLOW_V9 SHMEM '' ''"]
OTHERS = ["PKT_COUNTER", "BYTE_COUNTER", "BPF_FILTER tcp", "STR_SEARCH xxx 0 0", "HASH 0", "GAP"]


def ethernet(packet):
    return MACS + (b"\x08\x00" if packet[0] >> 4 == 4 else b"\x86\xdd") + packet


def nested(layers):
    packet = ipv4(17, udp(1, 2))
    for _ in range(layers - 1):
        packet = ipv4(4, packet)
    return packet


def changed(packet, at, value):
    return packet[:at] + bytes([value]) + packet[at + 1 :]


def tagged(frame):
    return frame[:12] + b"\x81\x00\x00\x05" + frame[12:]


READABLE = {
    "TCP": ethernet(ipv4(6, tcp(1000, 80))),
    "UDP": ethernet(ipv6(17, udp(1000, 53))),
    "TCP without payload": ethernet(ipv4(6, tcp(1, 2, b""))),
    "ARP": MACS + b"\x08\x06" + bytes(28),
    "no IP": MACS + b"\x88\xcc" + b"\x02\x07\x04",
    "a later fragment": ethernet(changed(ipv4(17, b"x"), 7, 9)),
    "four IP headers": ethernet(nested(4)),
    "OSPF": ethernet(ipv4(89, b"\x02\x01")),
    "GRE": ethernet(ipv4(47, b"\0\0\x08\0" + ipv4(17, udp(3, 4)))),
}
UNREADABLE = {
    "cut in Ethernet's header": ethernet(ipv4(6, b""))[:9],
    "cut in a tag": tagged(ethernet(ipv4(6, b"")))[:16],
    "cut in IPv4": ethernet(ipv4(6, tcp(1, 2)))[:30],
    "cut in IPv6": ethernet(ipv6(17, udp(1, 2)))[:40],
    "an IPv4 header of 16 bytes": ethernet(changed(ipv4(6, tcp(1, 2)), 0, 0x44)),
    "another version than the type": ethernet(changed(ipv4(6, tcp(1, 2)), 0, 0x75)),
}
# The IP header can be read, its payload cannot.
HALF_READABLE = {
    "cut in TCP": ethernet(ipv4(6, tcp(1, 2)))[:50],
    "TCP with a header of 16 bytes": ethernet(ipv4(6, changed(tcp(1, 2), 12, 4 << 4))),
    "TCP shorter than its header": ethernet(ipv4(6, changed(tcp(1, 2, b""), 12, 15 << 4))),
    "cut in UDP": ethernet(ipv6(17, udp(1, 2)))[:60],
    "UDP shorter than its header": ethernet(ipv4(17, b"\0\1\0\2")),
    "five IP headers": ethernet(nested(5)),
    "cut in GRE": ethernet(ipv4(47, bytes(8)))[:36],
}


class UnreadHeaders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "capture.pcap"

    def run_flows(self, packets, flows, link_type=1):
        self.path.write_bytes(pcap(link_type, packets, wire_bytes=1500))
        done = subprocess.run(
            [FLOW, "--json", "-r", self.path, *flows], text=True, capture_output=True, timeout=60
        )
        self.assertIn(done.returncode, (0, 1), done.stderr)
        # after FLOW_REPORT's messages
        return done, {
            flow: found["functions"][0]["unread_headers"]
            for flow, found in zip(flows, json.loads(done.stdout.splitlines()[-1])["flows"])
        }

    def flows(self):
        self.path.write_bytes(pcap(1, []))
        return READ_HEADERS + [
            flow
            for flow in OF_LIBRARIES
            if subprocess.run(
                [FLOW, "-r", self.path, flow], capture_output=True, timeout=60
            ).returncode
            == 0
        ]

    def test_headers_that_can_be_read_are_not_counted(self):
        for name, packet in READABLE.items():
            with self.subTest(name):
                done, counts = self.run_flows([packet], self.flows() + OTHERS)
                self.assertEqual(set(counts.values()), {0}, counts)
                self.assertNotIn("could not read the headers", done.stderr)

    def test_each_function_that_needs_headers_counts_those_that_cannot_be_read(self):
        flows = self.flows()
        for name, packet in {**UNREADABLE, **HALF_READABLE}.items():
            with self.subTest(name):
                done, counts = self.run_flows([packet, READABLE["TCP"], packet], flows + OTHERS)
                for flow in flows:
                    # Addresses are hidden in everything that cannot be read; a truncated transport
                    # header contains none.
                    hides_none = (
                        flow.startswith("ANONYMIZE")
                        and name in HALF_READABLE
                        and "IP headers" not in name
                        and "GRE" not in name
                    )
                    self.assertEqual(counts[flow], 0 if hides_none else 2, flow)
                for flow in OTHERS:
                    self.assertEqual(counts[flow], 0, flow)
                self.assertIn(
                    f"{sum(counts.values())} times a function could not read the headers of a "
                    "packet",
                    done.stderr,
                )

    def test_an_unsupported_link_type_is_not_counted_as_a_header_too(self):
        _, counts = self.run_flows([READABLE["TCP"], b"x"], self.flows(), 147)
        self.assertEqual(set(counts.values()), {0})

    def test_flows_that_share_a_function_have_its_count_also_through_mapid(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        self.path.write_bytes(pcap(1, [UNREADABLE["cut in IPv4"]] * 3))
        for socket in ("none", daemon.socket):
            done = subprocess.run(
                [FLOW, "--json", "-r", self.path, "HASH 1", "HASH 1 | PKT_COUNTER"],
                text=True,
                capture_output=True,
                timeout=60,
                env=os.environ | {"MAPI_SOCKET": str(socket)},
            )
            found = json.loads(done.stdout)["flows"]
            self.assertEqual(
                [[function["unread_headers"] for function in flow["functions"]] for flow in found],
                [[3], [3, 0]],
                done.stderr,
            )

    def test_a_packet_that_a_rule_cannot_be_decided_about_is_counted_also_through_mapid(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        hard = 'content:"a";' + 8 * 'content:"a"; within:900;' + 'content:"b"; within:1;'
        packets = [ethernet(ipv4(6, tcp(1, 2, b"a" * size))) for size in (1400, 10)]
        self.path.write_bytes(pcap(1, packets))
        for socket in ("none", daemon.socket):
            done = subprocess.run(
                [FLOW, "--json", "-r", self.path, f"MATCH '{hard}'"],
                text=True,
                capture_output=True,
                timeout=60,
                env=os.environ | {"MAPI_SOCKET": str(socket)},
            )
            match = json.loads(done.stdout)["flows"][0]["functions"][0]
            self.assertEqual((match["packets"], match["passed"], match["given_up"]), (2, 0, 1))
            self.assertIn("1 time a function could not decide about a packet", done.stderr)


if __name__ == "__main__":
    unittest.main()
