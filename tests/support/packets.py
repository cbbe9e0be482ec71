# SPDX-License-Identifier: MIT
# Generated captures: 64-byte UDP packets, every third to port 53, the others to port 80.
import struct


def write_capture(path, packets):
    frame = (
        bytes(12)
        + b"\x08\x00"
        + bytes([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2])
    )
    other = frame + struct.pack(">HHHH", 2005, 80, 26, 0) + bytes(18)
    match = frame + struct.pack(">HHHH", 2005, 53, 26, 0) + bytes(18)
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i in range(packets):
            data = match if i % 3 == 0 else other
            file.write(struct.pack("<IIII", i, 0, len(data), len(data)) + data)
