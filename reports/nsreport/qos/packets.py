# SPDX-License-Identifier: MIT
# A capture to be sent: packets of one flow and of one size, whose payloads are random.
import random
import struct

from ..traffic.capture import CHECKSUM_BYTES, checksum

_ETHERNET = b"\x02\x4e\x53\0\0\x01\x02\0\0\0\0\x01\x08\0"
_ADDRESSES = bytes((198, 18, 0, 1, 198, 19, 0, 1))  # of RFC 2544
_SOURCE, _DESTINATION = 1024, 9


def packet(wire_bytes, number, payload):
    """payload: of the right length."""
    length = wire_bytes - CHECKSUM_BYTES - len(_ETHERNET)
    fields = (0x45, 0, length, number & 0xFFFF, 0, 64, 17)
    header = struct.pack("!BBHHHBBH", *fields, 0) + _ADDRESSES
    header = struct.pack("!BBHHHBBH", *fields, checksum(header)) + _ADDRESSES
    return (
        _ETHERNET + header + struct.pack("!HHHH", _SOURCE, _DESTINATION, length - 20, 0) + payload
    )


def write(path, wire_bytes, count, seed=1):
    """All packets differ, so that each has a digest of its own."""
    numbers = random.Random(seed)
    room = wire_bytes - CHECKSUM_BYTES - len(_ETHERNET) - 28
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number in range(count):
            data = packet(wire_bytes, number, numbers.randbytes(room))
            file.write(struct.pack("<IIII", 0, number % 1_000_000, len(data), len(data)) + data)
