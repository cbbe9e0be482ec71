#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TOP's rows equal those of counting tshark's fields."""

import ctypes
import ipaddress
import os
import pathlib
import socket
import subprocess
import sys
import unittest

import needs
from mapi_library import Flow

DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)
CAPTURES = [DATA / name for name in ("chrissanders+packets/http_espn.pcapng", "mapi/tracefile")]
IPV6_CAPTURES = [
    DATA / "OISF+suricata-verify/tests" / name
    for name in (
        "community-id-ipv6/input.pcap",
        "defrag/bug-6887-defrag-ipv6-tcp/frag-ip-tcp.pcap",
        "ipv6-evasion/ipv6-malformed-fragments-15/frag-15.pcap",
    )
]
IP, TCP, UDP = 1, 2, 3
PACKETS, BYTES = 1, 2
# number, tshark's fields of IPv4 and IPv6 (None: has none), or of TCP and UDP
IP_FIELDS = [
    (1, "ip.dsfield", "ipv6.tclass"),
    (2, "ip.len", "ipv6.plen"),
    (3, "ip.id", "ipv6.fraghdr.ident"),
    (4, "ip.frag_offset", "ipv6.fraghdr.offset"),
    (5, "ip.ttl", "ipv6.hlim"),
    (7, "ip.checksum", None),
    (8, "ip.src", "ipv6.src"),
    (9, "ip.dst", "ipv6.dst"),
]
TCP_FIELDS = [
    (10, "tcp.srcport"),
    (11, "tcp.dstport"),
    (12, "tcp.seq_raw"),
    (13, "tcp.ack_raw"),
    (14, "tcp.flags"),
    (15, "tcp.window_size_value"),
    (16, "tcp.checksum"),
    (17, "tcp.urgent_pointer"),
]
UDP_FIELDS = [(18, "udp.srcport"), (19, "udp.dstport"), (20, "udp.length"), (21, "udp.checksum")]


class Row(ctypes.Structure):
    _pack_ = 4
    _fields_ = [
        ("value", ctypes.c_uint32),
        ("addr6", ctypes.c_uint8 * 16),
        ("family", ctypes.c_uint16),
        ("reserved", ctypes.c_uint16),
        ("count", ctypes.c_uint64),
        ("bytecount", ctypes.c_uint64),
        ("last_rst_secs", ctypes.c_uint32),
        ("reserved_too", ctypes.c_uint32),
    ]

    def known(self):
        if self.family == socket.AF_INET6:
            return str(ipaddress.ip_address(bytes(self.addr6)))
        if self.family == socket.AF_INET:
            return str(ipaddress.ip_address(self.value.to_bytes(4, sys.byteorder)))
        return self.value


def rows_of(flow, function):
    results = flow.library.mapi_read_results(flow.fd, function)
    data = ctypes.string_at(results.contents.res, results.contents.size)
    count = int.from_bytes(data[:4], sys.byteorder)
    return [Row.from_buffer_copy(data, 4 + i * ctypes.sizeof(Row)) for i in range(count)]


def tshark(capture, filter_text, *fields):
    """Time, length and fields of each packet; of several headers, the innermost."""
    command = [
        "tshark",
        "-n",
        "-r",
        capture,
        "-T",
        "fields",
        "-E",
        "occurrence=l",
        "-o",
        "tcp.desegment_tcp_streams:FALSE",
        "-o",
        "ip.defragment:FALSE",
        "-o",
        "ipv6.defragment:FALSE",
        "-o",
        "tcp.relative_sequence_numbers:FALSE",
        "-Y",
        filter_text,
    ]
    for field in ("frame.time_epoch", "frame.len", *fields):
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def value_of(text):
    """None if the packet has no such field."""
    if not text:
        return None
    return text if ":" in text or text.count(".") == 3 else int(text, 0)


def ranked(values, most, key):
    """values: (value, bytes) in order -> (value, packets, bytes); among equal ones, the one that
    reached the count first."""
    counts = {}
    for i, (value, length) in enumerate(values):
        packets, total, _ = counts.get(value, (0, 0, 0))
        counts[value] = (packets + 1, total + length, i)
    order = sorted(counts.items(), key=lambda item: (-item[1][key - 1], item[1][2]))
    return [(value, packets, total) for value, (packets, total, _) in order[:most]]


class Top(unittest.TestCase):
    def check(self, capture, protocol, field, values):
        for most in 3, 1000:
            for sort in PACKETS, BYTES:
                with self.subTest(capture=capture.name, field=field, most=most, sort=sort):
                    flow = Flow.offline(capture)
                    flow.apply("BPF_FILTER", self.filter_text) if self.filter_text else None
                    top = flow.apply("TOP", most, protocol, field, sort, 0)
                    flow.run()
                    found = [(row.known(), row.count, row.bytecount) for row in rows_of(flow, top)]
                    self.assertEqual(found, ranked(values, most, sort))
                    self.assertEqual(flow.dropped(top), 0)
                    flow.close()

    filter_text = ""

    def test_fields_of_ipv4(self):
        self.filter_text = "ip and not icmp"
        for capture in CAPTURES:
            lines = tshark(
                capture,
                "ip and not icmp and not arp",
                "ip.proto",
                *(ipv4 for _, ipv4, _ in IP_FIELDS),
            )
            self.assertGreater(len(lines), 500)
            for place, (field, _, _) in enumerate(IP_FIELDS):
                self.check(
                    capture,
                    IP,
                    field,
                    [(value_of(line[3 + place]), int(line[1])) for line in lines],
                )
            self.check(capture, IP, 6, [(int(line[2]), int(line[1])) for line in lines])

    def test_fields_of_ipv6(self):
        self.filter_text = "ip6 and not (ip6[6] = 58 and ip6[40] < 128)"
        fragments = 0
        for capture in IPV6_CAPTURES:
            # for an ICMP error, tshark's last header is that of the quoted packet
            lines = tshark(
                capture,
                "ipv6 and not ip and not (icmpv6.type < 128)",
                *(ipv6 for _, _, ipv6 in IP_FIELDS if ipv6),
            )
            fragments += sum(line[4] != "" for line in lines)
            for place, (field, _, _) in enumerate(one for one in IP_FIELDS if one[2]):
                values = [(value_of(line[2 + place]), int(line[1])) for line in lines]
                if field == 2:
                    values = [(value + 40, length) for value, length in values]
                if field == 4:  # in 8 bytes; the first fragment and unfragmented packets have 0
                    values = [((value or 0) * 8, length) for value, length in values]
                self.check(capture, IP, field, [value for value in values if value[0] is not None])
        self.assertGreater(fragments, 10)

    def test_counts_start_again_after_the_interval(self):
        for capture in CAPTURES:
            flow = Flow.offline(capture)
            top = flow.apply("TOP", 1000, IP, 9, PACKETS, 2)
            flow.run()
            lines = [(float(line[0]), line) for line in tshark(capture, "", "ip.dst", "icmp.type")]
            begin = lines[0][0]
            while lines[-1][0] - begin >= 2:
                begin += 2
            last = [
                (line[2], int(line[1]))
                for time, line in lines
                if time >= begin and line[2] and not line[3]
            ]
            found = rows_of(flow, top)
            self.assertEqual(
                [(row.known(), row.count, row.bytecount) for row in found],
                ranked(last, 1000, PACKETS),
            )
            self.assertEqual({row.last_rst_secs for row in found}, {int(begin)})
            flow.close()

    def test_invalid_arguments_are_refused_each_with_its_number(self):
        flow = Flow.offline(CAPTURES[0])
        for number, given in (
            (7001, (1001, TCP, 11)),
            (7001, (0, TCP, 11)),
            (7002, (10, 4, 11)),
            (7003, (10, IP, 11)),
            (7003, (10, UDP, 22)),
            (7004, (10, TCP, 11, 3)),
            (7005, (10, TCP, 11, BYTES, -1)),
        ):
            self.assertEqual(flow.try_apply("TOP", *given), -1)
            self.assertIn(str(number), flow.error())
        self.assertGreater(flow.apply("TOP", 10, TCP, 11), 0)
        flow.close()

    def test_fields_of_tcp_and_udp(self):
        self.filter_text = "ip and not icmp"
        for capture in CAPTURES:
            for protocol, name, fields in (TCP, "tcp", TCP_FIELDS), (UDP, "udp", UDP_FIELDS):
                lines = tshark(capture, name + " and not icmp", *(name for _, name in fields))
                for place, (field, _) in enumerate(fields):
                    values = [(value_of(line[2 + place]), int(line[1])) for line in lines]
                    self.check(
                        capture,
                        protocol,
                        field,
                        [value for value in values if value[0] is not None],
                    )


if __name__ == "__main__":
    needs.tools("tshark")
    needs.captures(*CAPTURES, *IPV6_CAPTURES)
    unittest.main()
