# SPDX-License-Identifier: MIT
"""tcpdump on an interface, and the packets that it has captured."""

import pathlib
import re
import signal
import struct
import subprocess
import time

from mapi_interfaces import wait_until

RECORD = struct.Struct("<IIII")


def read_capture(path):
    """[(time in ns, bytes)] of a capture with nanoseconds; a record that is not complete yet is
    left out."""
    data, at, packets = path.read_bytes(), 24, []
    while at + RECORD.size <= len(data):
        seconds, nanoseconds, captured, _ = RECORD.unpack_from(data, at)
        at += RECORD.size
        if at + captured > len(data):
            break
        packets.append((seconds * 10**9 + nanoseconds, data[at : at + captured]))
        at += captured
    return packets


class Listener:
    """Sees only what arrives at the interface.  Once it has stopped, received is the number of
    packets that the kernel gave it, with those that tcpdump had no room or no time for."""

    def __init__(self, folder, interface):
        self.path = pathlib.Path(folder) / f"{interface}.pcap"
        words = ["-i", interface, "-Q", "in", "-U", "--immediate-mode", "-B", "65536"]
        self.process = subprocess.Popen(
            ["tcpdump", "-Z", "root", "--time-stamp-precision=nano", *words, "-w", self.path],
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in self.process.stderr:
            if "listening on" in line:
                break

    def packets(self, count):
        """All that have arrived, once that many have, and some time for more has passed."""
        wait_until(lambda: len(read_capture(self.path)) >= count, 10)
        time.sleep(0.1)
        return self.stop()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        _, summary = self.process.communicate()
        self.received = int(re.search(r"(\d+) packets? received by filter", summary)[1])
        return read_capture(self.path)
