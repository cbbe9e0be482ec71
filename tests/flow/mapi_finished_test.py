#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A flow has finished when its trace has ended and readers have taken all waiting packets: a
program that reads until then gets all, in process and through mapid."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import needs
from mapid import BUILD, DATA, Daemon, wait_until

TRACE = DATA / "mapi/tracefile"
PROGRAM = BUILD / "tests/dump_until_finished"
ACTIVE, FINISHED, CLOSED = 1, 2, 3
STATUS = """
import ctypes
class FlowInfo(ctypes.Structure):
    _fields_ = [("uid", ctypes.c_uint), ("fd", ctypes.c_int), ("devid", ctypes.c_int),
                ("device", ctypes.c_char * 256), ("num_functions", ctypes.c_int),
                ("start", ctypes.c_long), ("end", ctypes.c_long), ("status", ctypes.c_int),
                ("start_us", ctypes.c_uint64), ("end_us", ctypes.c_uint64)]
def status(flow):
    information = FlowInfo()
    assert flow.library.mapi_get_flow_info(flow.fd, ctypes.byref(information)) == 0, flow.error()
    return information.status
library = Flow.library
library.mapi_get_next_pkt.restype = ctypes.c_void_p
"""


class Test(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n")
        self.addCleanup(self.daemon.close)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def count(self, capture, filter_text, socket, *how):
        done = subprocess.run(
            [PROGRAM, capture, filter_text, *how],
            env=os.environ | {"MAPI_SOCKET": str(socket)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done)
        return int(done.stdout)

    def clients(self):
        for client in (self.daemon.alone(), self.daemon.client()):
            client.do(STATUS)
            yield client

    def test_a_program_that_reads_until_its_flow_has_finished_gets_every_packet_and_ends(self):
        # more than a buffer holds, and the last packet that passes is far from the end
        large = pathlib.Path(self.folder.name) / "large.pcap"
        content = TRACE.read_bytes()
        large.write_bytes(content + content[24:] * 150)
        for socket in ("none", self.daemon.socket):
            for capture, filter_text, packets in (
                (TRACE, "tcp", 596),
                (TRACE, "ip or arp or not ip", 893),
                (TRACE, "udp port 53", None),
                (large, "tcp", 596 * 151),
            ):
                wanted = packets
                if wanted is None:
                    read = subprocess.run(
                        ["tcpdump", "-r", capture, "-n", filter_text],
                        capture_output=True,
                        text=True,
                        check=True,
                    )
                    wanted = len(read.stdout.splitlines())
                for _ in range(1 if capture == large else 8):
                    with self.subTest(socket=str(socket), capture=str(capture), filter=filter_text):
                        self.assertEqual(self.count(capture, filter_text, socket), wanted)
                        self.assertEqual(
                            self.count(capture, filter_text, socket, "asks first"), wanted
                        )

    def test_it_has_not_finished_while_packets_wait_with_and_without_a_waiting_reader(self):
        for client in self.clients():
            for mode in (0, 1):
                client.do(
                    f"flow = Flow.offline({str(TRACE)!r})\npackets = flow.apply('PKT_COUNTER')\n"
                    f"buffer = flow.apply('TO_BUFFER', {mode})\nflow.connect()\n"
                    "assert library.mapi_wait_flow(flow.fd, 20000) == 0"
                )
                self.assertEqual(client.get("[status(flow), flow.word(packets)]"), [ACTIVE, 893])
                client.do(
                    "taken = [library.mapi_get_next_pkt(flow.fd, buffer) for _ in range(892)]\n"
                    "assert all(taken)"
                )
                self.assertEqual(client.get("status(flow)"), ACTIVE)
                self.assertEqual(
                    client.get("[bool(library.mapi_get_next_pkt(flow.fd, buffer)), status(flow)]"),
                    [True, FINISHED],
                )
                self.assertEqual(
                    client.get("[library.mapi_get_next_pkt(flow.fd, buffer), status(flow)]"),
                    [None, FINISHED],
                )

    def test_each_buffer_counts_and_one_that_was_removed_does_not(self):
        for client in self.clients():
            client.do(
                f"flow = Flow.offline({str(TRACE)!r})\n"
                "one, other, third = (flow.apply('TO_BUFFER', 1) for _ in range(3))\n"
                "flow.connect()\n"
                "assert library.mapi_wait_flow(flow.fd, 20000) == 0\nlen(list(flow.packets(one)))"
            )
            self.assertEqual(client.get("status(flow)"), ACTIVE)
            client.do("len(list(flow.packets(other)))")
            self.assertEqual(client.get("status(flow)"), ACTIVE)
            client.do("flow.remove(third)")
            self.assertEqual(client.get("status(flow)"), FINISHED)

    def test_results_read_one_by_one_delay_the_end_once_a_program_reads_them(self):
        for client in self.clients():
            client.do(
                f"flow = Flow.offline({str(TRACE)!r})\ncount = flow.apply('PKT_COUNTER')\n"
                "buckets = flow.apply('BUCKET', flow.fd, count, '1s', 0)\nflow.connect()\n"
                "assert library.mapi_wait_flow(flow.fd, 20000) == 0"
            )
            self.assertEqual(client.get("status(flow)"), FINISHED)
            self.assertEqual(client.get("[len(flow.words(buckets)), status(flow)]"), [2, ACTIVE])
            client.do("while library.mapi_read_results(flow.fd, buckets): pass")
            self.assertEqual(client.get("status(flow)"), FINISHED)

    def test_mapi_info_shows_the_same(self):
        client = self.daemon.client()
        client.do(
            STATUS
            + (
                f"flow = Flow.offline({str(TRACE)!r})\nbuffer = flow.apply('TO_BUFFER', 1)\n"
                "flow.connect()\nassert library.mapi_wait_flow(flow.fd, 20000) == 0"
            )
        )

        def shown():
            return subprocess.run(
                [BUILD / "bin/mapi-info", "--socket", self.daemon.socket, "flows"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout

        self.assertIn("active", shown())
        client.do("len(list(flow.packets(buffer)))")
        self.assertTrue(wait_until(lambda: "finished" in shown()), shown())

    def test_asking_does_not_wait_for_a_device_that_never_ends(self):
        for client in self.clients():
            client.do(
                "flow = Flow.on_device('tap')\n"
                "flow.apply('BPF_FILTER', 'tcp and host 255.1.2.3')\n"
                "buffer = flow.apply('TO_BUFFER', 0)\nflow.connect()\n"
                "started = time.monotonic()\nfor _ in range(20): assert status(flow) == 1\n"
                "assert time.monotonic() - started < 5"
            )


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
