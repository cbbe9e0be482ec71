#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options of flows, in process and through mapid: their effect on packets, files and refusals."""

import os
import pathlib
import unittest

from mapid import ClientError, Daemon

TRACE = pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "mapi-core/apps/demo/demo.pcap"
BUFFER, SNAP, IN_ENGINE = 1, 2, 3
WAIT, NOWAIT = 0, 1
HELPERS = """
class Packet(ctypes.Structure):
    _fields_ = [("ts", ctypes.c_uint64), ("ifindex", ctypes.c_uint16),
                ("caplen", ctypes.c_uint32), ("wlen", ctypes.c_uint32)]
Flow.library.mapi_get_next_pkt.restype = ctypes.POINTER(Packet)
def set_option(flow, option, value):
    call = Flow.library.mapi_set_flow_option
    assert call(flow.fd, option, ctypes.c_uint64(value)) == 0, Flow.error()
def option(flow, number):
    value = ctypes.c_uint64()
    call = Flow.library.mapi_get_flow_option
    assert call(flow.fd, number, ctypes.byref(value)) == 0, Flow.error()
    return value.value
def lengths(flow, function):
    read = []
    while packet := Flow.library.mapi_get_next_pkt(flow.fd, function):
        read.append((packet.contents.caplen, packet.contents.wlen))
    return read
"""


class Options(unittest.TestCase):
    def clients(self, *options):
        """One flow through mapid, and one that captures in process."""
        daemon = Daemon("", *options)
        self.addCleanup(daemon.close)
        for client in (daemon.client(), daemon.alone()):
            client.do(HELPERS)
            client.do(f"flow = Flow.offline({str(TRACE)!r})")
            yield client

    def assert_refused(self, client, what, *words):
        with self.assertRaises(ClientError) as caught:
            client.do(what)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_a_buffer_keeps_the_first_bytes_and_the_length_on_the_wire(self):
        for client in self.clients():
            client.do(
                f"whole = flow.apply('TO_BUFFER', {WAIT})\nset_option(flow, {SNAP}, 64)\n"
                f"cut = flow.apply('TO_BUFFER', {WAIT})\nflow.connect()\n"
                "import threading\nread = {}\n"
                "reader = threading.Thread(target=lambda: read.update(whole=lengths(flow, "
                "whole)))\nreader.start()\n"
                "read['cut'] = lengths(flow, cut)\nreader.join()"
            )
            read = client.get("read")
            self.assertGreater(len(read["whole"]), 1000)
            self.assertEqual(
                [[min(captured, 64), wire] for captured, wire in read["whole"]], read["cut"]
            )

    def test_the_getter_returns_the_value_in_effect(self):
        for client in self.clients():
            self.assertEqual(client.get(f"option(flow, {BUFFER})"), 0)
            client.do(f"set_option(flow, {BUFFER}, 70000)")
            self.assertEqual(client.get(f"option(flow, {BUFFER})"), 131072)
            client.do("flow.apply('PKT_COUNTER')\nflow.connect()")
            self.assertEqual(client.get(f"option(flow, {BUFFER})"), 131072)
            self.assert_refused(
                client, f"set_option(flow, {BUFFER}, 4096)", "3082", "before mapi_connect()"
            )

    def test_invalid_values_are_refused(self):
        for client in self.clients():
            for number, value in (
                (BUFFER, 1),
                (BUFFER, 2**30 + 1),
                (BUFFER, 2**64 - 1),
                (SNAP, 2**32),
                (IN_ENGINE, 2),
                (4, 1),
                (-1, 1),
            ):
                self.assert_refused(
                    client,
                    f"set_option(flow, {number}, {value})",
                    "7003" if number in (BUFFER, SNAP, IN_ENGINE) else "7002",
                )
            self.assert_refused(client, "option(flow, 0)", "7002", "unknown flow option 0")

    def test_an_unread_buffer_holds_as_much_as_requested(self):
        for client in self.clients():
            client.do(
                f"set_option(flow, {BUFFER}, 65536)\nsmall = flow.apply('TO_BUFFER', {NOWAIT})\n"
                f"set_option(flow, {BUFFER}, 1 << 25)\nlarge = flow.apply('TO_BUFFER', {NOWAIT})\n"
                "flow.run()"
            )
            self.assertGreater(client.get("flow.dropped(small)"), 1000)
            self.assertEqual(client.get("flow.dropped(large)"), 0)
            self.assertGreater(
                client.get("sum(captured + 28 for captured, _ in lengths(flow, small))"), 32768
            )

    def test_results_are_read_one_by_one_also_through_the_smallest_buffer(self):
        for client in self.clients():
            client.do(
                f"set_option(flow, {BUFFER}, 4096)\nflow.apply('PKT_COUNTER')\n"
                "parts = flow.apply('BUCKET', flow.fd, 1, '10ms', 1)\nflow.connect()"
            )
            client.do(
                "class Bucket(ctypes.Structure):\n"
                "    _fields_ = [('ts', ctypes.c_uint64), ('data', ctypes.c_uint64)]\n"
                "total = sum(bucket.data for bucket in flow.each(parts, Bucket))"
            )
            self.assertEqual(client.get("total"), client.get("flow.word(1)"))

    def test_mapid_counts_buffers_as_memory_of_the_client(self):
        client = next(self.clients("--max-memory", "8"))
        client.do(f"set_option(flow, {BUFFER}, 16 << 20)")
        self.assert_refused(client, f"flow.apply('TO_BUFFER', {WAIT})", "6162", "--max-memory")
        client.do(f"set_option(flow, {BUFFER}, 4 << 20)\nflow.apply('TO_BUFFER', {WAIT})")


if __name__ == "__main__":
    unittest.main()
