# SPDX-License-Identifier: MIT
"""Tests on a pair of interfaces in a private network namespace."""

import os
import subprocess
import time
import unittest

from mapi_interfaces import enter_name_space, is_up, make_pair, run, send, wait_until
from mapi_library import Flow, stats_of

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

    def assert_drops_are_counted(self, flow, device):
        """Sends more than the kernel's buffer holds to a flow whose first function counts."""
        big = BROADCAST + b"\x08\0" + b"x" * 1486
        # The packet thread gets no CPU time while this one sends without a pause.
        sent = 0
        while stats_of(device).drop_kernel == 0 and sent < 2000000:
            send("near", big, count=10000)
            sent += 10000
        self.assertTrue(
            wait_until(lambda: stats_of(device).ps_recv + stats_of(device).drop_kernel >= sent)
        )
        stats = stats_of(device)
        self.assertEqual(stats.ps_recv + stats.drop_kernel, sent)
        self.assertEqual(flow.word(flow.ids[0]), stats.ps_recv)


class DriverTests:
    """What a LiveTest of any driver tests; its `device` reads the interface far."""

    def test_packets_before_the_flow_was_connected_are_not_counted(self):
        flow = Flow.on_device(self.device)
        self.flows.append(flow)
        flow.ids = [flow.apply("PKT_COUNTER")]
        send("near", UDP, count=100)
        flow.connect()
        send("near", UDP, count=7)
        self.assert_counts(flow, 7)

    def test_an_interface_that_was_in_another_namespace_and_returns_is_read_again(self):
        # it returns with IPv6
        flow = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",), device=self.device)
        elsewhere = subprocess.Popen(["unshare", "-n", "sleep", "60"])
        space = str(elsewhere.pid)
        try:
            self.assertTrue(
                wait_until(
                    lambda: os.readlink(f"/proc/{space}/ns/net") != os.readlink("/proc/self/ns/net")
                )
            )
            back = ["ip", "link", "set", "far", "netns", str(os.getpid())]
            run("ip", "link", "set", "far", "netns", space)
            run("nsenter", "-t", space, "-n", *back)
            run("ip", "link", "set", "far", "up")
            self.assertTrue(wait_until(lambda: is_up("near") and is_up("far")))
            self.assertTrue(
                wait_until(lambda: b"gone 1 time" in stats_of(self.device).message),
                stats_of(self.device).message,
            )
            send("near", UDP, count=10)
            self.assert_counts(flow, 10)
        finally:
            elsewhere.kill()
            elsewhere.wait()


def main(is_own_user=True):
    """The test's interface, in the namespace."""
    enter_name_space(is_own_user)
    run("ip", "link", "set", "lo", "up")
    unittest.main()
