# SPDX-License-Identifier: MIT
"""Tests on a pair of interfaces in a private network namespace."""

import subprocess
import time
import unittest

from mapi_interfaces import enter_name_space, make_pair, run, send, wait_until  # noqa: F401, tests import send from here
from mapi_library import Flow

BROADCAST = b"\xff" * 6 + b"\2\0\0\0\0\1"
UDP = (
    BROADCAST
    + bytes.fromhex("0800 4500002e00000000401100000101010102020202 00010002001a0000")
    + b"x" * 18
)
TCP = (
    BROADCAST
    + bytes.fromhex(
        "0800 4500002800000000400600000101010102020202 00010050000000000000000050020000000000"
    )
    + b"x" * 6
)
ARP = BROADCAST + bytes.fromhex("0806") + b"a" * 46


def tagged(frame, *tags):
    return frame[:12] + b"".join(bytes.fromhex(tag) for tag in tags) + frame[12:]


class LiveTest(unittest.TestCase):
    def setUp(self):
        make_pair("near", "far")
        self.flows = []

    def tearDown(self):
        for flow in self.flows:
            flow.close()
        subprocess.run(["ip", "link", "del", "near"], stderr=subprocess.DEVNULL)

    def flow(self, *functions, device="far"):
        flow = Flow.on_device(device)
        self.flows.append(flow)
        flow.ids = [flow.apply(*function) for function in functions]
        flow.connect()
        return flow

    def assert_counts(self, flow, count, function=-1):
        wait_until(lambda: flow.word(flow.ids[function]) >= count)
        time.sleep(0.05)
        self.assertEqual(flow.word(flow.ids[function]), count)


def main():
    """The test's interface, in the namespace."""
    enter_name_space()
    run("ip", "link", "set", "lo", "up")
    unittest.main()
