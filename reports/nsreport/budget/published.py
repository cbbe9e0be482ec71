# SPDX-License-Identifier: MIT
# Figures of the slides that introduced Conductor ("Modern Hardware"), for 100 Gbit/s and 64 bytes.
SOURCE = "slides on network benchmarks and Conductor, Modern Hardware"
RATE, FRAME_BYTES = 100e9, 64
PACKETS_PER_SECOND = 148e6
PACKET_NS = 6.75
CYCLES, CYCLES_HZ = 20, 3e9
MISS_NS = 32
