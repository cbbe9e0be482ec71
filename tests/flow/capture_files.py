# SPDX-License-Identifier: MIT
"""Captures for tests: packets -> bytes of pcap and pcapng files in either byte order; pcap files ->
packets."""

import socket
import struct

LITTLE, BIG = "<", ">"


def pcap(link_type, packets, order=LITTLE, wire_bytes=None):
    """A classic file, with one second between packets."""
    records = [
        struct.pack(order + "IIII", 1000 + i, 0, len(packet), wire_bytes or len(packet)) + packet
        for i, packet in enumerate(packets)
    ]
    return struct.pack(order + "IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type) + b"".join(
        records
    )


def block(number, body, order):
    body += bytes(-len(body) % 4)
    return (
        struct.pack(order + "II", number, len(body) + 12)
        + body
        + struct.pack(order + "I", len(body) + 12)
    )


def section(link_type, packets, order=LITTLE):
    """A section of a pcapng file: one interface, enhanced packet blocks."""
    blocks = [
        block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order),
        block(1, struct.pack(order + "HHI", link_type, 0, 262144), order),
    ]
    for i, packet in enumerate(packets):
        blocks.append(
            block(
                6,
                struct.pack(
                    order + "IIIII",
                    0,
                    *divmod((1000 + i) * 1000000, 1 << 32),
                    len(packet),
                    len(packet),
                )
                + packet,
                order,
            )
        )
    return b"".join(blocks)


def read_pcap(path):
    """Link type and packets of a classic file."""
    data = path.read_bytes()
    order = LITTLE if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else BIG
    packets, at = [], 24
    while at < len(data):
        length = struct.unpack_from(order + "I", data, at + 8)[0]
        packets.append(data[at + 16 : at + 16 + length])
        at += 16 + length
    return struct.unpack_from(order + "I", data, 20)[0], packets


def checksum(data):
    """RFC 1071"""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def ipv4(protocol, payload, host=1):
    header = struct.pack(
        ">BBHHHBBH4B4B",
        0x45,
        0,
        20 + len(payload),
        host,
        0,
        64,
        protocol,
        0,
        10,
        0,
        0,
        host,
        10,
        0,
        1,
        host,
    )
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload


def ipv6(protocol, payload, host=1):
    return (
        struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64)
        + bytes.fromhex("20010db8")
        + bytes(11)
        + bytes([host])
        + bytes.fromhex("20010db8")
        + bytes(10)
        + bytes([1, host])
        + payload
    )


def tcp(source, destination, payload=b"x" * 10):
    return struct.pack(">HHIIBBHHH", source, destination, 1, 1, 5 << 4, 0x18, 1000, 0, 0) + payload


def udp(source, destination, payload=b"x" * 10):
    return struct.pack(">HHHH", source, destination, 8 + len(payload), 0) + payload


def packet_of(
    source, destination, sequence, acknowledgment, flags, payload=b"", options=b"", window=8000
):
    """An IP packet with TCP; each end is an address and a port."""
    family = socket.AF_INET6 if ":" in source[0] else socket.AF_INET
    addresses = socket.inet_pton(family, source[0]) + socket.inet_pton(family, destination[0])
    head = (
        struct.pack(
            ">HHIIBBHHH",
            source[1],
            destination[1],
            sequence & 0xFFFFFFFF,
            acknowledgment & 0xFFFFFFFF,
            (5 + len(options) // 4) << 4,
            flags,
            window,
            0,
            0,
        )
        + options
    )
    right = checksum(
        addresses + struct.pack(">IHBB", len(head) + len(payload), 0, 0, 6) + head + payload
    )
    tcp = head[:16] + struct.pack(">H", right) + head[18:] + payload
    if family == socket.AF_INET6:
        return struct.pack(">IHBB", 6 << 28, len(tcp), 6, 64) + addresses + tcp
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0)
    return ip[:10] + struct.pack(">H", checksum(ip + addresses)) + addresses + tcp
