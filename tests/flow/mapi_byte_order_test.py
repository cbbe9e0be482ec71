#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures from a machine of the other byte order: filters match the same packets as tcpdump's, and
TO_FILE writes what tcpdump -w does."""

import gzip
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import needs
from capture_files import BIG, LITTLE, ipv4, ipv6, pcap, read_pcap, section, tcp, udp
from mapid import BUILD, DATA, Daemon

FLOW = BUILD / "bin/mapi-flow"
FOUND = DATA / "found"
NATIVE = LITTLE if sys.byteorder == "little" else BIG
ORDERS = LITTLE, BIG
PACKETS = [
    ipv4(6, tcp(1, 80)),
    ipv6(6, tcp(2, 80)),
    ipv4(17, udp(3, 53)),
    ipv6(17, udp(4, 53)),
    ipv4(6, tcp(5, 25)),
]
FILTERS = "ip", "ip6", "tcp", "udp", "port 80", "ip and tcp", "not ip", "net 10.0.0.0/8"


def family(packet, six=30):
    return 2 if packet[0] >> 4 == 4 else six


def null(order):
    return [
        struct.pack(order + "I", family(packet, (24, 28, 30)[i % 3])) + packet
        for i, packet in enumerate(PACKETS)
    ]


def enc(order):
    return [
        struct.pack(order + "I", family(packet, 24))
        + struct.pack(">I", 0x1234)
        + struct.pack(order + "I", 0x800)
        + packet
        for packet in PACKETS
    ]


def pflog(order):
    """61 bytes, padded to 64: those of OpenBSD 3.8 and later; a short header of earlier versions;
    headers truncated between fields."""
    long = [
        struct.pack(">BBBB16s16sII", 61, family(packet, 24), 1, 0, b"em0", b"", 7, 0xFFFFFFFF)
        + struct.pack(order + "IiIi", 1000, 4711, 0, 99)
        + b"\x01\0\0\0"
        + packet
        for packet in PACKETS
    ]
    return [
        *long,
        struct.pack(">BBBB16s16sII", 44, 2, 1, 0, b"em0", b"", 7, 0) + PACKETS[0],
        long[0][:48],
        long[0][:44],
    ]


def can(order):
    """CAN, CAN FD, CAN XL."""
    return [
        (0x0C, struct.pack(order + "I", 0x123) + b"\x02\0\0\0ab" + bytes(6)),
        (0x0D, struct.pack(order + "I", 0x80001234) + b"\x03\0\0\0abc"),
        (0x0C, b"\x01\x02"),
        (0x0800, PACKETS[0]),
    ]


def sll(order):
    return [
        struct.pack(">HHH8sH", 0, 280, 0, b"", protocol) + data for protocol, data in can(order)
    ]


def sll2(order):
    xl = (
        struct.pack(order + "I", 0x321)
        + b"\x81\x03"
        + struct.pack(order + "HI", 2, 0x55667788)
        + b"ab"
    )
    return [
        struct.pack(">HHIHBB8s", protocol, 0, 3, 280, 0, 0, b"") + data
        for protocol, data in [*can(order), (0x0E, xl)]
    ]


def usb(order, is_mmapped, kind, descriptors=0):
    """Header of usbmon: kind 0 is isochronous."""
    head = (
        struct.pack(order + "Q", 0x0102030405060708)
        + bytes([0x53, kind, 0x81, 3])
        + struct.pack(order + "H", 2)
        + b"\0\0"
        + struct.pack(order + "qiiII", 1000, 5, -115, 8, 8)
    )
    head += struct.pack(order + "ii", 1, 2) if kind == 0 else b"\x80\x06\x00\x01\x00\x00\x12\x00"
    if is_mmapped:
        head += struct.pack(order + "iiII", 8, 77, 0x204, descriptors)
        head += b"".join(struct.pack(order + "iIII", -18, 4 * i, 4, 0) for i in range(descriptors))
    return head + b"payload8"


def usb_linux(order):
    whole = [usb(order, False, kind) for kind in (0, 1, 2, 3)]
    return [*whole, *(whole[0][:cut] for cut in (0, 8, 14, 24, 36, 44))]


def usb_linux_mmapped(order):
    whole = [usb(order, True, kind, 2 if kind == 0 else 0) for kind in (0, 1, 2, 3)]
    return [*whole, *(whole[0][:cut] for cut in (16, 48, 64, 68, 84))]


def nflog(order):
    def attribute(kind, value):
        return struct.pack(order + "HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)

    whole = [
        bytes([2 if packet[0] >> 4 == 4 else 10, 0, 0, 5])
        + attribute(1, b"\x08\0\1\0")
        + attribute(10, b"prefix\0")
        + attribute(9, packet)
        for packet in PACKETS
    ]
    return [*whole, whole[0][:10], whole[0][:30]]


def odd(order):
    """Packets of NFLOG and USB that are truncated inside a field, or inconsistent: which fields are
    swapped is then libpcap's choice."""
    log, sent = nflog(order)[0], usb(order, True, 0, 2)
    return {
        239: [
            b"\2\1" + log[2:],
            log[:4] + struct.pack(order + "HH", 2, 1) + b"rest",
            log[:4] + struct.pack(order + "HH", 400, 9) + log[8:],
            log[:7],
        ],
        220: [sent[:cut] for cut in (1, 13, 27, 45, 62, 70, 90)]
        + [sent[:60] + struct.pack(order + "I", 0xFFFFFFFF) + sent[64:]],
    }


LINKS = {
    0: null,
    109: enc,
    113: sll,
    117: pflog,
    189: usb_linux,
    220: usb_linux_mmapped,
    239: nflog,
    276: sll2,
}
# The same as libpcap 1.10.3 swaps; later versions swap more of the others, but none of the
# families.
SWAPPED_BY_TCPDUMP = 113, 189, 220, 239
FILTERED_BY_TCPDUMP = 0, 109, 113, 117, 276


def run(*arguments, socket="none"):
    return subprocess.run(
        [FLOW, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"MAPI_SOCKET": str(socket)},
    )


class ByteOrder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def files(self, link_type, make):
        """Each capture of this link type with its packets: both orders, both formats, compressed,
        and both orders in one file."""
        for order in ORDERS:
            for name, data in (
                ("pcap", pcap(link_type, make(order), order)),
                ("pcapng", section(link_type, make(order), order)),
                ("pcap.gz", gzip.compress(pcap(link_type, make(order), order))),
            ):
                path = self.folder / f"{link_type}-{'big' if order == BIG else 'little'}.{name}"
                path.write_bytes(data)
                yield path, make(NATIVE)
        path = self.folder / f"{link_type}-both.pcapng"
        path.write_bytes(
            b"".join(section(link_type, make(order), order) for order in (BIG, LITTLE, BIG))
        )
        yield path, make(NATIVE) * 3

    def counts(self, path, socket="none"):
        """The number of packets that pass each filter."""
        done = run(
            "-r", path, *(f"BPF_FILTER '{text}' | PKT_COUNTER" for text in FILTERS), socket=socket
        )
        return [
            int(line.split("\t")[5])
            for line in done.stdout.splitlines()
            if re.match(r"\d+\.2\t", line)
        ]

    def tcpdump(self, path, *arguments):
        return subprocess.run(
            ["tcpdump", "-n", "-r", path, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def counts_of_tcpdump(self, path):
        return [int(self.tcpdump(path, "--count", text).split()[0]) for text in FILTERS]

    def test_filters_match_what_tcpdumps_do(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        expected = []
        for link_type in FILTERED_BY_TCPDUMP:
            for path, _ in self.files(link_type, LINKS[link_type]):
                with self.subTest(path.name):
                    # libpcap reads neither of them; in the second it refuses the second section
                    if path.suffix == ".gz" or "both" in path.name:
                        self.assertEqual(
                            self.counts(path),
                            [count * (3 if "both" in path.name else 1) for count in expected],
                        )
                        continue
                    expected = self.counts_of_tcpdump(path)
                    self.assertEqual(self.counts(path), expected)
                    self.assertEqual(self.counts(path, daemon.socket), expected)
            if link_type in (0, 109):
                self.assertGreater(min(expected[:5]), 0)

    def test_written_pseudo_headers_are_in_this_machines_order(self):
        for link_type, make in LINKS.items():
            for path, packets in self.files(link_type, make):
                with self.subTest(path.name):
                    written, judge = self.folder / "written.pcap", self.folder / "judge.pcap"
                    run("-r", path, f"TO_FILE 0 {written} 0")
                    self.assertEqual(read_pcap(written), (link_type, packets))
                    if (
                        link_type in SWAPPED_BY_TCPDUMP
                        and path.suffix in (".pcap", ".pcapng")
                        and "both" not in path.name
                    ):
                        self.tcpdump(path, "-w", judge)
                        self.assertEqual(read_pcap(written), read_pcap(judge))

    def test_pseudo_headers_that_are_truncated_or_wrong_are_written_as_tcpdump_writes_them(self):
        written, judge = self.folder / "written.pcap", self.folder / "judge.pcap"
        for order in ORDERS:
            for link_type, packets in odd(order).items():
                with self.subTest(link_type=link_type, order=order):
                    path = self.folder / "odd.pcap"
                    path.write_bytes(pcap(link_type, packets, order))
                    run("-r", path, f"TO_FILE 0 {written} 0")
                    self.tcpdump(path, "-w", judge)
                    self.assertEqual(read_pcap(written), read_pcap(judge))

    def test_filters_on_written_files_match_as_before(self):
        for link_type in (0, 109):
            for path, _ in self.files(link_type, LINKS[link_type]):
                with self.subTest(path.name):
                    written = self.folder / "written.pcap"
                    run("-r", path, f"TO_FILE 0 {written} 0")
                    self.assertEqual(self.counts_of_tcpdump(written), self.counts(path))

    def test_a_capture_that_is_read_twice_is_swapped_once_each_time(self):
        path = self.folder / "null.pcap"
        path.write_bytes(pcap(0, null(BIG), BIG))
        daemon = Daemon(f"[driver]\ndevice=twice\npath={path}\nrepeat=2\n")
        self.addCleanup(daemon.close)
        done = run("-i", "twice", "BPF_FILTER ip | PKT_COUNTER", socket=daemon.socket)
        self.assertIn("\t6\t6\t0\t6\n", done.stdout)

    def test_found_captures_give_the_correct_values(self):
        needs.captures(FOUND / "k04_null_be.pcap")
        self.assertEqual(self.counts(FOUND / "k04_null_be.pcap")[:3], [3, 2, 5])
        written = self.folder / "usb.pcap"
        run("-r", FOUND / "k06_usb_be.pcap", f"TO_FILE 0 {written} 0")
        packet = read_pcap(written)[1][0]
        self.assertEqual(
            (struct.unpack_from("=H", packet, 12)[0], struct.unpack_from("=I", packet, 32)[0]),
            (2, 8),
        )


if __name__ == "__main__":
    unittest.main()
