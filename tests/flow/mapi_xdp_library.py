# SPDX-License-Identifier: MIT
"""What tests of the device xdp:IFACE have in common."""

import json
import socket
import struct
import subprocess
import threading
import time

from mapi_interfaces import send

ETH_P_ALL = 3
SOL_PACKET, PACKET_STATISTICS, PACKET_IGNORE_OUTGOING = 263, 6, 23


def attached():
    shown = subprocess.run(
        ["ip", "-json", "link", "show", "far"], capture_output=True, check=True
    ).stdout
    return json.loads(shown)[0].get("xdp")


class Receiver:
    """How many packets that come in reach the host's own sockets."""

    def __init__(self, interface="far"):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.socket.bind((interface, ETH_P_ALL))

    def count(self):
        """Since the last call."""
        counts = self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        packets, drops = struct.unpack("II", counts)
        return packets

    def count_until(self, expected):
        """Since the last call, waiting for as many: they arrive after programs have seen them."""
        packets, deadline = self.count(), time.monotonic() + 5
        while packets < expected and time.monotonic() < deadline:
            time.sleep(0.01)
            packets += self.count()
        return packets

    def close(self):
        self.socket.close()


class Sender(threading.Thread):
    """Sends without a pause until stop()."""

    def __init__(self, *frames, interface="near"):
        super().__init__()
        self.interface = interface
        self.frames = frames
        self.sent = 0
        self.is_over = False

    def run(self):
        while not self.is_over:
            send(self.interface, *self.frames, count=10)
            self.sent += 10

    def stop(self):
        self.is_over = True
        self.join()
