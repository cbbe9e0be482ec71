#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packets that INJECT sends arrive at the other end of a pair of interfaces, according to dumpcap;
packets that it does not send are counted."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

import needs
from mapi_interfaces import enter_name_space, make_pair, run, send

ETHERNET, RAW = 1, 101
SENT, NO_ROOM, CUT, OTHER_LINKS, REFUSED, ERRNO = range(6)
MESSAGE_TOO_LONG = 90
FRAME = (
    b"\xff" * 6
    + b"\2\0\0\0\0\1\x08\0"
    + bytes.fromhex("4500002e00000000401100000101010102020202 00010002001a0000")
    + b"x" * 18
)
LONG = FRAME[:14] + b"x" * 2000


def write_pcap(path, frames, link_type=ETHERNET):
    """frames: each with its bytes on the wire."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type))
        for frame, length in frames:
            file.write(struct.pack("<IIII", 1, 0, len(frame), length) + frame)


def numbered(count):
    return [FRAME[:-4] + number.to_bytes(4, "big") for number in range(count)]


class Judge:
    """dumpcap on an interface, until a number of packets have arrived."""

    def __init__(self, interface, count, path):
        self.path = path
        self.process = subprocess.Popen(
            [
                "dumpcap",
                "-P",
                "-q",
                "-i",
                interface,
                "-c",
                str(count),
                "-a",
                "duration:20",
                "-w",
                path,
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in self.process.stderr:
            if line.startswith("File:"):
                break

    def frames(self):
        self.process.communicate(timeout=30)
        shown = subprocess.run(
            ["tshark", "-n", "-r", self.path, "-T", "json", "-x", "-j", ""],
            capture_output=True,
            check=True,
        ).stdout
        return [
            bytes.fromhex(packet["_source"]["layers"]["frame_raw"][0])
            for packet in json.loads(shown)
        ]


class Inject(unittest.TestCase):
    def setUp(self):
        make_pair("near", "far")
        self.folder = tempfile.TemporaryDirectory()
        self.capture = self.folder.name + "/from.pcap"

    def tearDown(self):
        self.folder.cleanup()
        run("ip", "link", "del", "near")

    def inject(self, *filters):
        """The values of INJECT's result, and how many of its packets it did not send."""
        flow = Flow.offline(self.capture)
        for one in filters:
            flow.apply(*one)
        injected, after = flow.apply("INJECT", "near"), flow.apply("PKT_COUNTER")
        flow.run()
        words, dropped = flow.words(injected), flow.dropped(injected)
        self.assertEqual(flow.word(after), flow.information(injected).pkts)
        flow.close()
        return words, dropped

    def test_packets_arrive_whole_and_in_order(self):
        frames = numbered(200)
        write_pcap(self.capture, [(frame, len(frame)) for frame in frames])
        judge = Judge("far", len(frames), self.folder.name + "/judge.pcap")
        self.assertEqual(self.inject(), ([200, 0, 0, 0, 0, 0], 0))
        self.assertEqual(judge.frames(), frames)

    def test_what_cannot_be_sent_is_counted_by_reason_and_the_rest_is_sent(self):
        frames = numbered(5)
        write_pcap(
            self.capture,
            [
                (frames[0], 60),
                (frames[1][:40], 60),
                (LONG, len(LONG)),
                (frames[2], 60),
                (frames[3], 61),
            ],
        )
        judge = Judge("far", 2, self.folder.name + "/judge.pcap")
        self.assertEqual(self.inject(), ([2, 0, 2, 0, 1, MESSAGE_TOO_LONG], 3))
        self.assertEqual(judge.frames(), [frames[0], frames[2]])
        write_pcap(self.capture, [(FRAME[14:], len(FRAME) - 14)], RAW)
        self.assertEqual(self.inject(), ([0, 0, 0, 1, 0, 0], 1))

    def test_modified_packets_are_sent_as_modified(self):
        write_pcap(self.capture, [(FRAME, len(FRAME))] * 3)
        judge = Judge("far", 3, self.folder.name + "/judge.pcap")
        self.assertEqual(self.inject(("ANONYMIZE", "IP,SRC_IP,ZERO"))[0][SENT], 3)
        self.assertEqual(judge.frames(), [FRAME[:26] + bytes(4) + FRAME[30:]] * 3)

    def test_an_interface_that_is_down_accepts_nothing_and_does_not_block(self):
        run("ip", "link", "set", "near", "down")
        write_pcap(self.capture, [(FRAME, len(FRAME))] * 1000)
        words, dropped = self.inject()
        self.assertEqual((words[SENT], words[NO_ROOM] + words[REFUSED], dropped), (0, 1000, 1000))

    def test_packets_of_a_live_device_are_forwarded_and_its_own_interface_is_refused(self):
        make_pair("in", "source")
        flow = Flow.on_device("in")
        try:
            self.assertEqual(flow.try_apply("INJECT", "in"), -1)
            self.assertIn("sent back to its source", flow.error())
            injected = flow.apply("INJECT", "near")
            flow.connect()
            judge = Judge("far", 100, self.folder.name + "/judge.pcap")
            frames = numbered(100)
            send("source", *frames)
            self.assertEqual(judge.frames(), frames)
            self.assertEqual(flow.words(injected)[SENT], 100)
        finally:
            flow.close()
            run("ip", "link", "del", "in")

    def test_an_unavailable_interface_is_reported_immediately(self):
        write_pcap(self.capture, [])
        flow = Flow.offline(self.capture)
        run("ip", "tuntap", "add", "tunnel", "mode", "tun")
        for interface, reported in (
            ("nowhere", "nowhere: cannot open: No such device"),
            ("tunnel", "is not Ethernet"),
            ("x" * 40, "No such device"),
            ("", "No such"),
        ):
            self.assertEqual(flow.try_apply("INJECT", interface), -1)
            error = flow.error()
            self.assertIn("1026", error)
            self.assertIn(reported, error)
        flow.close()
        run("ip", "link", "del", "tunnel")

    def test_without_permission_to_send_the_remedy_is_reported(self):
        write_pcap(self.capture, [])
        text = (
            f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
            f"from mapi_library import Flow\nflow = Flow.offline({self.capture!r})\n"
            "print(flow.try_apply('INJECT', 'near'), flow.error())"
        )
        said = subprocess.run(
            ["setpriv", "--inh-caps=-all", "--bounding-set=-all", sys.executable, "-B", "-c", text],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertIn("-1 1026", said)
        self.assertIn("requires CAP_NET_RAW", said)


if __name__ == "__main__":
    needs.tools("dumpcap", "tshark")
    enter_name_space()
    from mapi_library import Flow

    unittest.main()
