# SPDX-License-Identifier: MIT
# A capture to be sent: packets of one flow and of one size, whose payloads are random.
import random

from ..traffic import capture

_SOURCE, _DESTINATION = 1024, 9


def random_packets(wire_bytes, count, seed=1):
    """All packets differ, so that each has a digest of its own."""
    numbers = random.Random(seed)
    room = wire_bytes - capture.CHECKSUM_BYTES - capture.HEADER_BYTES - 8
    for number in range(count):
        yield capture.udp_packet(_SOURCE, _DESTINATION, numbers.randbytes(room), number)


def write(path, wire_bytes, count):
    capture.write(path, random_packets(wire_bytes, count))
