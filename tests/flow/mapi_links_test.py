#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of link types: in each of them, functions find the packets that tcpdump's filters find,
and count those that they cannot parse."""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from capture_files import BIG, LITTLE, ipv4, ipv6, pcap, read_pcap, section, tcp, udp
from mapid import BUILD, Daemon

FLOW = BUILD / "bin/mapi-flow"
NATIVE = LITTLE if sys.byteorder == "little" else BIG
IP = [
    ipv4(6, tcp(1000, 80)),
    ipv6(6, tcp(1001, 80), 2),
    ipv4(17, udp(1002, 53), 3),
    ipv6(17, udp(1003, 53), 4),
    ipv4(6, tcp(1004, 25), 5),
]
SNAP = bytes.fromhex("aaaa03000000")
MACS = bytes.fromhex("020000000001 020000000002")


def is_four(packet):
    return packet[0] >> 4 == 4


def ethertype(packet):
    return b"\x08\x00" if is_four(packet) else b"\x86\xdd"


def llc(packet):
    return SNAP + ethertype(packet) + packet


def ppp(packet):
    return (b"\0\x21" if is_four(packet) else b"\0\x57") + packet


def ethernet(packet):
    return MACS + ethertype(packet) + packet


def wireless(packet, flags=2, control=8, behind=b""):
    """A data frame; control 0x88 has a quality-of-service field."""
    quality = b"\0\0" if control & 0x80 else b""
    return (
        bytes([control, flags, 0, 0])
        + bytes(18)
        + b"\x10\0"
        + (bytes(6) if flags & 3 == 3 else b"")
        + quality
        + behind
        + llc(packet)
    )


def radiotap(frame, flags=0, words=1):
    """With timer and flags, in one or several presence words."""
    present = b"".join(
        struct.pack("<I", (3 if i == 0 else 0) | (1 << 31 if i < words - 1 else 0))
        for i in range(words)
    )
    fields = present + bytes(-(4 + len(present)) % 8) + bytes(8) + bytes([flags, 0, 0, 0])
    return struct.pack("<BBH", 0, 0, 4 + len(fields)) + fields + frame


def ppi(inner, dlt=105):
    return struct.pack("<BBHI", 0, 0, 8, dlt) + inner


def pktap(inner, dlt=1):
    return struct.pack("<III", 108, 1, dlt) + bytes(96) + inner


def erf(frame, kind=2, extensions=0):
    more = b"".join(
        bytes([0x80 if i < extensions - 1 else 0]) + bytes(7) for i in range(extensions)
    )
    pad = b"\0\0" if kind in (2, 11) else b""
    body = more + pad + frame
    return (
        struct.pack("<IIBB", 0, 1000, kind | (0x80 if extensions else 0), 4)
        + struct.pack(">HHH", 16 + len(body), 0, len(frame) + 4)
        + body
    )


def nflog(packet):
    prefix = struct.pack(NATIVE + "HH", 4 + 7, 10) + b"prefix\0\0"
    return (
        bytes([2 if is_four(packet) else 10, 0, 0, 1])
        + prefix
        + struct.pack(NATIVE + "HH", 4 + len(packet), 9)
        + packet
    )


def family(packet, six=30, order=NATIVE):
    return struct.pack(order + "I", 2 if is_four(packet) else six)


# Link type -> function that turns a packet into a frame.
FRAMES = {
    "NULL": (0, lambda p: family(p) + p),
    "Ethernet": (1, ethernet),
    "token ring": (6, lambda p: b"\x10\x40" + MACS + llc(p)),
    "PPP with address": (9, lambda p: b"\xff\x03" + ppp(p)),
    "FDDI": (10, lambda p: b"\x50" + MACS + llc(p)),
    "ATM, old number": (11, llc),
    "raw IP, old number": (12, lambda p: p),
    "PPP of BSD/OS, old number": (16, lambda p: bytes(5) + ppp(p)[:2] + bytes(17) + p),
    "ATM's classic IP, old number": (19, llc),
    "PPP in HDLC": (50, lambda p: b"\xff\x03" + ppp(p)),
    "PPPoE": (51, lambda p: b"\x11\0\0\1" + struct.pack(">H", len(p) + 2) + ppp(p)),
    "ATM": (100, llc),
    "raw": (101, lambda p: p),
    "PPP of BSD/OS": (103, lambda p: bytes(5) + ppp(p)[:2] + bytes(17) + p),
    "HDLC": (104, lambda p: b"\x0f\0" + ethertype(p) + p),
    "802.11": (105, wireless),
    "802.11 with quality of service": (105, lambda p: wireless(p, 1, 0x88)),
    "ATM's classic IP": (106, llc),
    "LOOP": (108, lambda p: family(p, 24, BIG) + p),
    "ENC": (109, lambda p: family(p, 24) + bytes(8) + p),
    "SLL": (113, lambda p: struct.pack(">HHH8s", 0, 1, 6, MACS[:6]) + ethertype(p) + p),
    "PFLOG": (117, lambda p: bytes([61, 2 if is_four(p) else 10]) + bytes(62) + p),
    "Prism": (119, lambda p: bytes(144) + wireless(p)),
    "Prism that is AVS": (
        119,
        lambda p: struct.pack(">II", 0x80211001, 64) + bytes(56) + wireless(p),
    ),
    "fibre channel": (122, lambda p: bytes(16) + llc(p)),
    "SunATM": (123, lambda p: b"\x02\0\0\x64" + llc(p)),
    "radiotap": (127, lambda p: radiotap(wireless(p))),
    "radiotap, padded": (127, lambda p: radiotap(wireless(p, 1, 0x88, b"\0\0"), 0x20)),
    "firewire": (138, lambda p: bytes(16) + ethertype(p) + p),
    "AVS": (163, lambda p: struct.pack(">II", 0x80211001, 64) + bytes(56) + wireless(p)),
    "PPP of pppd": (166, lambda p: b"\x01\x03" + ppp(p)),
    "PPI": (192, lambda p: ppi(wireless(p))),
    "IPNET": (226, lambda p: bytes([1, 2 if is_four(p) else 26]) + bytes(22) + p),
    "netANALYZER": (240, lambda p: bytes(4) + ethernet(p)),
    "netANALYZER, transparent": (241, lambda p: bytes(12) + ethernet(p)),
    "SLL2": (276, lambda p: ethertype(p) + bytes(18) + p),
}
# libpcap has no filters for these, or filters that look elsewhere: after an address that PPP may
# omit, at the first byte of SLIP.
UNFILTERED = {
    "SLIP": (8, lambda p: bytes(16) + p),
    "PPP": (9, ppp),
    "SLIP of BSD/OS, old number": (15, lambda p: bytes(24) + p),
    "SLIP of BSD/OS": (102, lambda p: bytes(24) + p),
    "802.11 between stations": (105, lambda p: wireless(p, 3, 0x88)),
    "frame relay": (107, lambda p: b"\x18\x41\x03" + (b"\xcc" if is_four(p) else b"\x8e") + p),
    "SLIP without a header": (8, lambda p: p),
    "raw of OpenBSD": (14, lambda p: p),
    "ERF Ethernet": (175, lambda p: erf(ethernet(p))),
    "ERF POS": (176, lambda p: erf(b"\x0f\0" + ethertype(p) + p, 1)),
    "ERF": (197, lambda p: erf(ethernet(p), 11, 2)),
    "ERF HDLC": (197, lambda p: erf(b"\xff\x03" + ppp(p), 1)),
    "ERF IP": (197, lambda p: erf(p, 22 if is_four(p) else 23)),
    "PPP with direction": (204, lambda p: b"\0\xff\x03" + ppp(p)),
    "HDLC with direction": (205, lambda p: b"\1\x0f\0" + ethertype(p) + p),
    "frame relay with direction": (
        206,
        lambda p: b"\1\x18\x41\x03" + (b"\xcc" if is_four(p) else b"\x8e") + p,
    ),
    "MPLS": (219, lambda p: b"\0\x01\x01\x40" + p),
    "NFLOG": (239, nflog),
    "IP over InfiniBand": (242, lambda p: bytes(40) + ethertype(p) + b"\0\0" + p),
    "PKTAP": (258, lambda p: pktap(ethernet(p))),
    "PKTAP of an IP device": (258, lambda p: pktap(p, 12)),
    "PPI of Ethernet": (192, lambda p: ppi(ethernet(p), 1)),
    "radiotap of three words": (127, lambda p: radiotap(wireless(p), 0, 3)),
    "frame relay of Cisco": (107, lambda p: b"\x18\x41" + ethertype(p) + p),
    "frame relay with a long address": (
        107,
        lambda p: b"\x18\x40\x40\x01\x03\0\x80\0\0\0" + ethertype(p) + p,
    ),
    "token ring with a route": (
        6,
        lambda p: (
            b"\x10\x40" + MACS[:6] + bytes([0x82]) + MACS[7:] + b"\x06\x30\0\x11\0\x20" + llc(p)
        ),
    ),
    "SunATM's LAN emulation": (123, lambda p: b"\x01\0\0\x64\0\0" + ethernet(p)),
}
UNKNOWN = 147, 189, 195, 253  # USER0, USB, 802.15.4, NETLINK
JUNIPER = 130, 137, 178
# Functions that parse packets. A build may lack the library of some.
LOOKING = [
    "TOP 5 1 9",
    "HASH 1",
    "HASH 3",
    "HASHSAMP 1024 0",
    "PKTSELECT 4294967296 0 64 0",
    "TRACK_MAPI",
    "TRACK_GRID_FTP",
    "TRACK_IPOVERIP",
    "EXPIRED_FLOWS 9 9 1",
    "FLOW_REPORT NETFLOW_V9 SHMEM '' ''",
    "UNCOOK",
    "ANONYMIZE 'IP,SRC_IP,MAP'",
    "TRACK http",
    "COOKING 0 0 0 2",
]
OTHERS = ["PKT_COUNTER", "HASH 0", "STR_SEARCH xxx 0 0 | PKT_COUNTER"]


def run(*arguments, socket="none", check=True):
    done = subprocess.run(
        [FLOW, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"MAPI_SOCKET": str(socket)},
    )
    assert done.returncode == 0 or not check, done.stderr
    return done


def rows(done):
    return {
        words[0]: words[1:]
        for words in (line.split("\t") for line in done.stdout.splitlines())
        if not words[0].startswith("#")
    }


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "capture"

    def write(self, link_type, frames, order=NATIVE):
        self.path.write_bytes(pcap(link_type, frames, order))

    def tcpdump(self, text):
        done = subprocess.run(
            ["tcpdump", "-n", "-r", self.path, "--count", text], capture_output=True, text=True
        )
        assert done.returncode == 0 or "rejects all" in done.stderr, done.stderr
        return int(done.stdout.split()[0]) if done.returncode == 0 else 0

    def test_functions_find_the_same_packets_as_tcpdumps_filters(self):
        for name, (link_type, frame) in FRAMES.items():
            with self.subTest(name):
                self.write(link_type, [frame(packet) for packet in IP])
                self.assertEqual(
                    [self.tcpdump(text) for text in ("ip", "ip6", "tcp", "udp")], [3, 2, 3, 2]
                )
                filters = rows(
                    run(
                        "-r",
                        self.path,
                        *(
                            f"BPF_FILTER {text} | PKT_COUNTER"
                            for text in ("ip", "ip6", "tcp", "udp")
                        ),
                    )
                )
                self.assertEqual([int(filters[f"{i}.2"][1]) for i in (1, 2, 3, 4)], [3, 2, 3, 2])
                self.see_all()

    def see_all(self):
        table = rows(
            run(
                "-r",
                self.path,
                "HASHSAMP 1024 0 | PKT_COUNTER",
                "TOP 9 1 9",
                "TRACK_MAPI",
                "EXPIRED_FLOWS 99 99 1",
            )
        )
        self.assertEqual(int(table["1.2"][1]), len(IP))
        self.assertEqual([words[3] for words in table.values()], ["0"] * len(table))

    def test_functions_find_packets_where_libpcap_has_no_filter(self):
        for name, (link_type, frame) in UNFILTERED.items():
            with self.subTest(name):
                self.write(link_type, [frame(packet) for packet in IP])
                self.see_all()

    def functions(self):
        """Those of LOOKING that this build has."""
        self.write(1, [ethernet(IP[0])])
        return [
            text
            for text in LOOKING
            if "unavailable: built without" not in run("-r", self.path, text, check=False).stderr
        ]

    def test_each_function_counts_the_packets_that_it_cannot_parse(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        functions = self.functions()
        self.assertGreater(len(functions), 8)
        for link_type in (*UNKNOWN, *JUNIPER):
            for socket in ("none", daemon.socket):
                with self.subTest(link_type=link_type, socket=socket):
                    self.write(link_type, IP)
                    done = run("-r", self.path, *functions, *OTHERS, socket=socket)
                    table = rows(done)
                    for i, text in enumerate(functions):
                        self.assertEqual(table[f"{i + 1}.1"][3], str(len(IP)), text)
                    for i in range(len(OTHERS)):
                        self.assertEqual(table[f"{len(functions) + i + 1}.1"][3], "0")
                    self.assertIn(
                        f"{len(IP) * len(functions)} times a function or a file did not support "
                        "the link type of a packet",
                        done.stderr,
                    )

    def test_packets_of_known_and_unknown_links_in_one_capture_are_distinguished(self):
        self.path.write_bytes(
            section(1, [ethernet(packet) for packet in IP])
            + section(147, IP, BIG)
            + section(12, IP)
            + section(192, [ppi(b"x", 189), ppi(wireless(IP[0]))])
        )
        done = run(
            "-r", self.path, "TOP 9 1 9", "EXPIRED_FLOWS 99 99 1", "HASHSAMP 1024 0 | PKT_COUNTER"
        )
        table = rows(done)
        self.assertEqual([table[name][3] for name in ("1.1", "2.1", "3.1")], [str(len(IP) + 1)] * 3)
        self.assertEqual(table["3.2"][1], str(2 * len(IP) + 1))

    def test_a_nested_or_truncated_container_is_counted(self):
        self.write(
            192,
            [
                ppi(ppi(wireless(IP[0])), 192),
                ppi(wireless(IP[0]))[:6],
                struct.pack("<BBHI", 0, 0, 3, 105),
                ppi(wireless(IP[0])),
            ],
        )
        self.assertEqual(rows(run("-r", self.path, "TOP 9 1 9"))["1.1"][3], "3")
        self.write(
            197,
            [
                erf(ethernet(IP[0]), 3),
                erf(ethernet(IP[0]))[:10],
                erf(b"", 2, 9)[:30],
                erf(ethernet(IP[0])),
            ],
        )
        self.assertEqual(rows(run("-r", self.path, "TOP 9 1 9"))["1.1"][3], "3")

    def test_wireless_frames_without_a_packet_are_known_and_unreadable_ones_are_hidden(self):
        beacon, no_data = b"\x80\0" + bytes(22) + IP[0], wireless(IP[0], 2, 0x48)
        encrypted, aggregate, part = (
            wireless(IP[0], 0x42),
            bytearray(wireless(IP[0], 2, 0x88)),
            bytearray(wireless(IP[0])),
        )
        aggregate[24] |= 0x80
        part[22] |= 1
        self.write(105, [beacon, no_data, encrypted, bytes(aggregate), bytes(part)])
        written = self.folder / "written.pcap"
        table = rows(
            run("-r", self.path, "TOP 9 1 9", f"ANONYMIZE 'IP,SRC_IP,MAP' | TO_FILE 0 {written} 0")
        )
        self.assertEqual(table["1.1"][3:], ["0", ""])
        packets = read_pcap(written)[1]
        self.assertEqual(packets[:2], [beacon, no_data])
        self.assertEqual(
            packets[2:], [bytes(len(packet)) for packet in (encrypted, aggregate, part)]
        )

    def test_old_numbers_of_raw_ip_are_written_as_tcpdump_writes_them(self):
        for number in (12, 14):
            self.write(number, IP)
            written, judge = self.folder / "written.pcap", self.folder / "judge.pcap"
            run("-r", self.path, f"TO_FILE 0 {written} 0")
            self.assertEqual(read_pcap(written), (101, IP))
        self.write(12, IP)
        subprocess.run(["tcpdump", "-r", self.path, "-w", judge], check=True, capture_output=True)
        self.assertEqual(read_pcap(written), read_pcap(judge))

    def test_reassembled_streams_keep_the_lengths_of_link_headers_right(self):
        def segments(frame):
            first, second = (
                ipv4(6, tcp(1000, 80, b"a" * 700)),
                bytearray(ipv4(6, tcp(1000, 80, b"b" * 900))),
            )
            second[24:28] = struct.pack(">I", 701)
            return [frame(first), frame(bytes(second))]

        for name in ("raw IP, old number", "FDDI", "radiotap", "PPPoE"):
            with self.subTest(name):
                self.cooked(*FRAMES[name], segments)
        for name in ("NFLOG", "ERF", "MPLS"):
            with self.subTest(name):
                self.cooked(*UNFILTERED[name], segments)

    def cooked(self, link_type, frame, segments):
        self.write(link_type, segments(frame))
        written = self.folder / "cooked.pcap"
        done = run("-r", self.path, f"COOKING 0 0 0 2 | TO_FILE 0 {written} 0", check=False)
        if "unavailable: built without" in done.stderr:
            raise unittest.SkipTest(done.stderr)
        packet = ipv4(6, tcp(1000, 80, b"a" * 700 + b"b" * 900))
        link_type, packets = read_pcap(written)
        self.assertEqual(len(packets), 1)
        made, wanted = packets[0], frame(packet)
        at = len(made) - len(packet)
        self.assertEqual(len(made), len(wanted))
        # a card counts the frame check sequence, which is not generated
        wire_length = slice(14, 16) if link_type == 197 else slice(0, 0)
        self.assertEqual(
            made[: wire_length.start] + made[wire_length.stop : at],
            wanted[: wire_length.start] + wanted[wire_length.stop : at],
        )
        self.assertTrue(made.endswith(b"a" * 700 + b"b" * 900))


if __name__ == "__main__":
    unittest.main()
