#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A further flow whose functions are already in use costs less than one instruction per packet
(counted by valgrind)."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import needs
from packets import write_capture

FILTER = "tcp port 80 or udp port 53"


def instructions(count, capture, flows, folder):
    filters = os.path.join(folder, "filters")
    with open(filters, "w") as file:
        file.write(f"{FILTER}\n" * flows)
    done = subprocess.run(
        ["valgrind", "--tool=none", "--log-file=/dev/null", count, "-F", filters, "-r", capture],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        needs.skip("mapi-count does not run under valgrind in this build")
    done = subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            count,
            "-F",
            filters,
            "-r",
            capture,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def main():
    needs.tools("valgrind")
    count = os.path.join(os.environ["NETSLICE_BIN"], "mapi-count")
    few, many = 64 * 100, 64 * 2100
    with tempfile.TemporaryDirectory() as folder:
        small, large = os.path.join(folder, "small.pcap"), os.path.join(folder, "large.pcap")
        write_capture(small, few)
        write_capture(large, many)
        # Two sizes, so that the set-up cost of a flow cancels.
        slopes = {
            flows: (
                instructions(count, large, flows, folder)
                - instructions(count, small, flows, folder)
            )
            / (many - few)
            for flows in (1, 2, 12)
        }
    second = slopes[2] - slopes[1]
    each = (slopes[12] - slopes[1]) / 11
    print(
        f"instructions a packet: {slopes[1]:.2f} with one flow; a second one adds {second:.3f}, "
        f"each of eleven more {each:.3f}"
    )
    return 0 if second < 1 and each < 1 else 1


if __name__ == "__main__":
    sys.exit(main())
