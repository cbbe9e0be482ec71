# SPDX-License-Identifier: MIT
"""Flows of a capture according to tshark's dissectors and a simple table: the reference for
EXPIRED_FLOWS and FLOW_REPORT."""

import collections
import ipaddress
import subprocess

FIELDS = [
    "frame.time_epoch",
    "frame.len",
    "ip.src",
    "ip.dst",
    "ipv6.src",
    "ipv6.dst",
    "ip.proto",
    "ipv6.nxt",
    "tcp.srcport",
    "tcp.dstport",
    "udp.srcport",
    "udp.dstport",
    "ip.len",
    "ipv6.plen",
    "tcp.flags",
    "ip.ttl",
    "ipv6.hlim",
]
TCP, UDP = 6, 17

Packet = collections.namedtuple(
    "Packet",
    "time_ns source destination source_port destination_port protocol wire_bytes ip_bytes "
    "tcp_flags ttl",
)


class Flow:
    def __init__(self, packet):
        self.key = key_of(packet)
        self.first_ns, self.ttl = packet.time_ns, packet.ttl
        self.packets = self.wire_bytes = self.ip_bytes = self.tcp_flags = 0
        self.last_ns = packet.time_ns

    def add(self, packet):
        self.last_ns = packet.time_ns
        self.packets += 1
        self.wire_bytes += packet.wire_bytes
        self.ip_bytes += packet.ip_bytes
        self.tcp_flags |= packet.tcp_flags


def key_of(packet):
    return (
        packet.source,
        packet.destination,
        packet.source_port,
        packet.destination_port,
        packet.protocol,
    )


def read_packets(capture):
    """The packets that tshark considers complete TCP and UDP packets in one IP header."""
    command = [
        "tshark",
        "-n",
        "-r",
        str(capture),
        "-Y",
        "(tcp or udp) and not icmp and not icmpv6",
        "-o",
        "ip.defragment:FALSE",
        "-o",
        "ipv6.defragment:FALSE",
        "-T",
        "fields",
        "-E",
        "occurrence=f",
    ]
    for field in FIELDS:
        command += ["-e", field]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        row = dict(zip(FIELDS, line.split("\t")))
        kind = "tcp" if row["tcp.srcport"] else "udp"
        version = "ip" if row["ip.src"] else "ipv6"
        seconds, _, fraction = row["frame.time_epoch"].partition(".")
        yield Packet(
            int(seconds) * 10**9 + int(fraction.ljust(9, "0")),
            ipaddress.ip_address(row[version + ".src"]),
            ipaddress.ip_address(row[version + ".dst"]),
            int(row[kind + ".srcport"]),
            int(row[kind + ".dstport"]),
            TCP if kind == "tcp" else UDP,
            int(row["frame.len"]),
            int(row["ip.len"]) if version == "ip" else int(row["ipv6.plen"]) + 40,
            int(row["tcp.flags"], 16) & 0xFF if row["tcp.flags"] else 0,
            int(row["ip.ttl"] or row["ipv6.hlim"]),
        )


def flows_of(packets, idle_ns, active_ns=None):
    """Every flow, in the order of first packets."""
    flows, going = [], {}
    for packet in packets:
        flow = going.get(key_of(packet))
        if (
            flow is None
            or packet.time_ns - flow.last_ns >= idle_ns
            or (active_ns and packet.time_ns - flow.first_ns >= active_ns)
        ):
            flow = going[key_of(packet)] = Flow(packet)
            flows.append(flow)
        flow.add(packet)
    return flows
