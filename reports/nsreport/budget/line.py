# SPDX-License-Identifier: MIT
# Rate of an Ethernet line and size of its frames -> packets a second, and the time of each.
import math
import re
from dataclasses import dataclass

PREAMBLE_BYTES, GAP_BYTES = 8, 12  # the preamble with its start delimiter; the shortest gap
CHECKSUM_BYTES = 4  # FCS: part of the frame, not of a captured packet
LEAST_BYTES, MOST_BYTES = 64, 65536  # of a frame
LEAST_RATE, MOST_RATE = 1e3, 1e14  # bits a second
COUNTED = (
    f"A frame of N bytes has its checksum (FCS, {CHECKSUM_BYTES} bytes) in it. On the line it "
    f"takes N + {PREAMBLE_BYTES + GAP_BYTES} bytes: {PREAMBLE_BYTES} of preamble and start "
    f"delimiter before it, and the gap of {GAP_BYTES} after it."
)
RATES = (1e9, 10e9, 25e9, 40e9, 100e9, 200e9, 400e9)
SIZES = (64, 128, 256, 512, 1024, 1518, 9018)

_UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass(frozen=True)
class Line:
    rate: float  # bits a second
    frame_bytes: int

    @property
    def wire_bytes(self):
        return self.frame_bytes + PREAMBLE_BYTES + GAP_BYTES

    @property
    def packets_per_second(self):
        return self.rate / (8 * self.wire_bytes)

    @property
    def ns(self):
        """The time from the beginning of a packet to that of the next."""
        return 1e9 / self.packets_per_second

    def cycles(self, hz):
        return hz / self.packets_per_second


def rate_of(text):
    """ "100G" -> 1e11, or None."""
    found = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)([kMGT]?)", text)
    if not found:
        return None
    rate = float(found[1]) * _UNITS[found[2]]
    return rate if LEAST_RATE <= rate <= MOST_RATE else None


def rate_text(rate):
    """1e11 -> "100 Gbit/s"."""
    for letter in ("T", "G", "M", "k"):
        if rate >= _UNITS[letter]:
            return f"{rate / _UNITS[letter]:.6g} {letter}bit/s"
    return f"{rate:.6g} bit/s"


def line_text(line):
    return f"{rate_text(line.rate)}, frames of {line.frame_bytes:,} bytes"


def whole_cores(share):
    """Cores that a cost needs, given as a part of what one core has for a packet."""
    return max(1, math.ceil(share - 1e-9))
