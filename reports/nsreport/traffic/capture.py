# SPDX-License-Identifier: MIT
# Captures to be sent: packets of 730 bytes on average; one packet with a text at its end.
import random
import struct

PACKETS = 256
LEAST_BYTES, MOST_BYTES = 64, 1396  # with the checksum; 730 on average
CHECKSUM_BYTES = 4
HEADER_BYTES = 14 + 20  # Ethernet and IPv4
_TCP, _UDP = 6, 17
MEAN_BYTES = (LEAST_BYTES + MOST_BYTES) // 2
_WORDS = b"the quick brown fox jumps over the lazy dog and runs away from every hunter "


def sizes():
    """Every size between the least and the most equally often, in an order that repeats."""
    step = (MOST_BYTES - LEAST_BYTES) / (PACKETS - 1)
    made = [round(LEAST_BYTES + step * i) for i in range(PACKETS)]
    random.Random(1).shuffle(made)
    return made


def _checksum(header):
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def ip_packet(protocol, body, number=0):
    length = 20 + len(body)
    fields = (0x45, 0, length, number & 0xFFFF, 0, 64, protocol)
    addresses = bytes((10, 0, 0, 1, 10, 0, 0, 2))
    header = struct.pack("!BBHHHBBH", *fields, 0) + addresses
    header = struct.pack("!BBHHHBBH", *fields, _checksum(header)) + addresses
    return b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0" + header + body


def udp_packet(source, destination, payload, number=0):
    udp = struct.pack("!HHHH", source, destination, 8 + len(payload), 0)
    return ip_packet(_UDP, udp + payload, number)


def tcp_packet(size, port, text):
    """text: repeated.  All have the same sequence number, so that no offload merges them."""
    room = size - CHECKSUM_BYTES - HEADER_BYTES - 20
    tcp = struct.pack("!HHIIBBHHH", 40000, port, 1, 1, 0x50, 0x18, 65535, 0, 0)
    return ip_packet(_TCP, tcp + (text * (room // len(text) + 1))[:room])


def packet(size, number, end=b""):
    """A UDP packet of text, between ports that no filter of the reports names.  end: the last bytes
    of its text."""
    room = size - CHECKSUM_BYTES - HEADER_BYTES - 8 - len(end)
    text = (_WORDS * (size // len(_WORDS) + 1))[:room] + end
    return udp_packet(20000 + number, 5001, text, number)


def write(path, packets=None):
    """packets: those of mixed sizes, unless others are given."""
    if packets is None:
        packets = [packet(size, number) for number, size in enumerate(sizes())]
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, data in enumerate(packets):
            file.write(
                struct.pack("<IIII", *divmod(number, 1_000_000), len(data), len(data)) + data
            )
