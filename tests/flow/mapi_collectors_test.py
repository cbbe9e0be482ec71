#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times in FLOW_REPORT: nfcapd and nfacctd show flows with the times of their packets, in each
format and over each transport."""

import ctypes
import ipaddress
import os
import pathlib
import shutil
import struct
import tempfile
import unittest

import mapi_flows
import needs
from mapi_collectors import Nfacctd, Nfcapd, Receiver, messages_in
from mapi_library import Flow

FOUND = pathlib.Path(__file__).resolve().parents[3] / "shared/data/found"
MS, SECOND = 10**6, 10**9
DAY = 86400 * SECOND
START = 1700000000 * SECOND  # 2023-11-14
FORMATS = ["NETFLOW_V5", "NETFLOW_V9", "IPFIX"]
UPTIME_RECORD = (
    "IP_SRC_ADDR IP_DST_ADDR L4_SRC_PORT L4_DST_PORT PROT PKTS BYTES FIRST_SWITCHED LAST_SWITCHED"
)
ADDRESSES = {4: ("10.0.0.1", "10.0.0.2"), 6: ("2001:db8::1", "2001:db8::2")}

# One flow each: port -> times of its packets, in ns.
SHAPES = {
    "less than a second": {
        1: [START + 100 * MS, START + 200 * MS],
        2: [START + 999 * MS],
        3: [START + 999 * MS + 999999],
    },
    "the end of a second and its begin": {
        1: [START],
        2: [START, START + SECOND],
        3: [START + 1 * MS, START + SECOND - 1],
    },
    "some seconds": {
        port: [START + port * 300 * MS, START + port * 600 * MS + 1] for port in range(1, 90)
    },
    "each of them months apart": {
        port: [START + port * 60 * DAY, START + port * 60 * DAY + 2500 * MS] for port in range(1, 9)
    },
    "weeks of packets": {port: [START + port * DAY // 2 + port * MS] for port in range(1, 130)},
    "steps back": {
        1: [START + 90 * DAY + 1 * MS],
        2: [START + 90 * DAY - 20 * SECOND],
        3: [START + 30 * DAY],
        4: [START + 30 * DAY + 5 * SECOND],
        5: [START + 10],
        6: [START + 200 * DAY],
    },
    "packets that come late": {
        1: [START + 40 * SECOND],
        2: [START + 15 * SECOND],
        3: [START + 39 * SECOND],
        4: [START + 12 * SECOND, START + 41 * SECOND],
    },
}


class Report(ctypes.Structure):
    _fields_ = [
        ("recno", ctypes.c_uint64),
        ("size", ctypes.c_uint32),
        ("bytes", ctypes.c_uint8 * 2000),
    ]


def ip_packet(version, port):
    source, destination = (ipaddress.ip_address(address).packed for address in ADDRESSES[version])
    udp = struct.pack("!HHHH", port, 53, 8, 0)
    if version == 4:
        return struct.pack("!BBHHHBBH", 0x45, 0, 28, 0, 0, 64, 17, 0) + source + destination + udp
    return struct.pack("!IHBB", 6 << 28, len(udp), 17, 64) + source + destination + udp


def write_capture(path, shape, version, unit_ns):
    """IP packets in the order of the shape, of each flow in turn if the shape has no time steps."""
    packets = [(time_ns, port) for port, times in shape.items() for time_ns in times]
    if not any(
        name in SHAPES and SHAPES[name] is shape
        for name in ("steps back", "packets that come late")
    ):
        packets.sort()
    with open(path, "wb") as file:
        file.write(
            struct.pack(
                "<IHHiIII", 0xA1B23C4D if unit_ns == 1 else 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101
            )
        )
        for time_ns, port in packets:
            packet = ip_packet(version, port)
            file.write(
                struct.pack(
                    "<IIII",
                    time_ns // SECOND,
                    time_ns % SECOND // unit_ns,
                    len(packet),
                    len(packet),
                )
                + packet
            )


def times_of(shape, unit_ns):
    """(port, first, last), in ms."""
    return sorted(
        (port, min(times) // unit_ns * unit_ns // MS, max(times) // unit_ns * unit_ns // MS)
        for port, times in shape.items()
    )


def up(ms):
    return -(-ms // 1000) * 1000


def down(ms):
    return ms // 1000 * 1000


# For NetFlow v9 and v5, nfacctd has whole seconds, relative to the header's.
NFACCTD_ROUNDS = {"NETFLOW_V5": down, "NETFLOW_V9": up, "IPFIX": lambda ms: ms}


class Collectors(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.configuration = self.folder / "mapi.conf"
        os.environ["MAPI_CONF"] = str(self.configuration)
        self.addCleanup(os.environ.pop, "MAPI_CONF")
        self.configure()

    def configure(self, *lines):
        self.configuration.write_text("[ipfixflib]\n" + "".join(line + "\n" for line in lines))

    def new_folder(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.folder))

    def report(self, capture, *arguments):
        flow = Flow.offline(capture)
        function = flow.apply("FLOW_REPORT", *arguments)
        flow.run()
        self.assertEqual(flow.dropped(function), 0)
        flow.close()

    def messages_by(self, transport, capture, name, record=""):
        if transport == "file":
            path = self.folder / "messages"
            self.report(capture, name, str(path), "", record)
            return list(messages_in(path.read_bytes()))
        if transport == "UDP":
            receiver = Receiver()
            self.report(capture, name, receiver.address, "", record)
            return receiver.take()
        flow = Flow.offline(capture)
        function = flow.apply("FLOW_REPORT", name, "SHMEM", "", record)
        flow.connect()
        messages = [bytes(report.bytes[: report.size]) for report in flow.each(function, Report)]
        flow.close()
        return messages

    def shown(self, collector_of, messages, *flows):
        """(port, first, last) of each row."""
        collector = collector_of(self.new_folder())
        collector.give(messages)
        return sorted((row.key[2], row.first_ms, row.last_ms) for row in collector.take(*flows))

    def check(self, name, messages, wanted):
        self.assertEqual(self.shown(Nfcapd, messages), wanted)
        self.check_nfacctd(messages, wanted, NFACCTD_ROUNDS[name])

    def check_nfacctd(self, messages, wanted, rounded):
        self.assertEqual(
            self.shown(Nfacctd, messages, len(wanted)),
            sorted((port, rounded(first), rounded(last)) for port, first, last in wanted),
        )

    def test_both_collectors_show_the_packets_times_in_each_format(self):
        for shape_name, shape in SHAPES.items():
            for name in FORMATS:
                for unit_ns in (1, 1000) if shape_name == "less than a second" else (1,):
                    with self.subTest(shape=shape_name, format=name, unit_ns=unit_ns):
                        capture = self.folder / "capture.pcap"
                        write_capture(capture, shape, 4, unit_ns)
                        self.check(
                            name, self.messages_by("UDP", capture, name), times_of(shape, unit_ns)
                        )

    def test_each_transport_gives_the_same_times(self):
        shape = SHAPES["each of them months apart"]
        for version in (4, 6):
            capture = self.folder / "capture.pcap"
            write_capture(capture, shape, version, 1)
            for name in FORMATS[version == 6 :]:
                for transport in ("file", "SHMEM"):
                    with self.subTest(version=version, format=name, transport=transport):
                        self.check(
                            name, self.messages_by(transport, capture, name), times_of(shape, 1)
                        )

    def test_long_timeouts_and_late_packets_keep_their_times(self):
        self.configure("idleTimeout=65535", "lifetimeTimeout=65535")
        shape = {
            1: [START + 60000 * SECOND],
            2: [START + 1 * MS],
            3: [START + 70000 * SECOND, START + 5000 * SECOND],
            4: [START + 100 * DAY],
        }
        for name in FORMATS:
            with self.subTest(name):
                capture = self.folder / "capture.pcap"
                write_capture(capture, shape, 4, 1)
                self.check(name, self.messages_by("UDP", capture, name), times_of(shape, 1))

    # nfdump 1.7.1 confuses the two.
    def test_the_exporters_clock_and_its_start_give_the_packets_times_in_ipfix(self):
        for shape_name in ("some seconds", "each of them months apart", "steps back"):
            with self.subTest(shape_name):
                capture = self.folder / "capture.pcap"
                write_capture(capture, SHAPES[shape_name], 4, 1)
                messages = self.messages_by("UDP", capture, "IPFIX", UPTIME_RECORD + " SYSINIT_MS")
                self.check_nfacctd(messages, times_of(SHAPES[shape_name], 1), down)

    def test_captures_whose_flows_end_within_a_second_or_by_the_active_timeout(self):
        for capture in (FOUND / "n07_subsecond.pcap", FOUND / "n08_active.pcap"):
            flows = mapi_flows.flows_of(mapi_flows.read_packets(capture), 30 * SECOND, 120 * SECOND)
            wanted = sorted(
                (flow.key[2], flow.first_ns // MS, flow.last_ns // MS) for flow in flows
            )
            self.assertTrue(wanted)
            for name in FORMATS:
                with self.subTest(capture=capture.name, format=name):
                    self.check(name, self.messages_by("UDP", capture, name), wanted)


if __name__ == "__main__":
    needs.tools("tshark", "nfcapd", "nfdump", "nfacctd")
    needs.captures(FOUND)
    unittest.main()
