# SPDX-License-Identifier: MIT
# demo_capture: demo.pcap -> check against its README, for when it is recorded again.
import struct
import sys

MAGIC_MICROSECONDS = 0xA1B2C3D4
ETHERNET = 1
PORT = 2005


def packets(data):
    at = 24
    while at < len(data):
        _, _, captured, wire = struct.unpack_from("<IIII", data, at)
        yield captured, wire, data[at + 16 : at + 16 + captured]
        at += 16 + captured


def source_port(frame):
    """Source port of TCP or UDP over unfragmented IPv4, or over IPv6; otherwise None."""
    kind = struct.unpack_from(">H", frame, 12)[0]
    if (
        kind == 0x0800
        and frame[23] in (6, 17)
        and struct.unpack_from(">H", frame, 20)[0] & 0x1FFF == 0
    ):
        return struct.unpack_from(">H", frame, 14 + (frame[14] & 15) * 4)[0]
    if kind == 0x86DD and frame[20] in (6, 17):
        return struct.unpack_from(">H", frame, 54)[0]
    return None


def main(path):
    data = open(path, "rb").read()
    magic, _, _, _, _, _, link = struct.unpack_from("<IHHiIII", data)
    every = list(packets(data))
    from_port = [frame for _, _, frame in every if source_port(frame) == PORT]
    with_www = [frame for frame in from_port if b"www" in frame]
    promises = {
        "classic pcap, little endian, microseconds": magic == MAGIC_MICROSECONDS,
        "Ethernet": link == ETHERNET,
        "1 to 3 MB": 1_000_000 <= len(data) <= 3_000_000,
        "whole packets": all(captured == wire == len(frame) for captured, wire, frame in every),
        "frames of 42 to 1514 bytes": min(p[1] for p in every) == 42
        and max(p[1] for p in every) == 1514,
        "packets from port 2005 with www": len(with_www) >= 20,
        "packets from port 2005 without www": len(from_port) - len(with_www) >= 20,
        "www elsewhere too": sum(b"www" in frame for _, _, frame in every) > len(with_www),
    }
    broken = [what for what, holds in promises.items() if not holds]
    print(
        f"{len(every)} packets, {len(from_port)} from port {PORT}, {len(with_www)} of them with www"
    )
    for what in broken:
        print(f"{path}: not true: {what}")
    sys.exit(1 if broken else 0)


main(sys.argv[1])
