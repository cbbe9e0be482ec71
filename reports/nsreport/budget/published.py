# SPDX-License-Identifier: MIT
# "Modern Hardware" of the slides that introduced Conductor, for 100 Gbit/s and 64 bytes.
from ..papers import published

_ITEM = next(item for item in published.read("conductor") if item.id == "budget")
SOURCE = f"{_ITEM.document}, {_ITEM.name}"
RATE, FRAME_BYTES = 100e9, 64
CYCLES_HZ = 3e9
_MILLION_PACKETS, PACKET_NS, CYCLES, MISS_NS = _ITEM.rows[0][1]
PACKETS_PER_SECOND = 1e6 * _MILLION_PACKETS
