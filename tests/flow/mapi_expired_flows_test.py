#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""EXPIRED_FLOWS: every flow of real captures, compared with tshark's fields and a simple table."""

import collections
import ctypes
import ipaddress
import pathlib
import unittest

import mapi_flows
import needs
from mapi_library import Flow

DATA = pathlib.Path(__file__).resolve().parents[3] / "shared/data"
NDPI = DATA / "ntop+nDPI/tests/cfgs/default/pcap"
CAPTURES = {  # and bytes of tags in each frame
    NDPI / "android.pcap": 0,
    NDPI / "teamviewer.pcap": 0,
    NDPI / "wa_voice.pcap": 0,
    NDPI / "signal.pcap": 0,
    NDPI / "instagram.pcap": 0,
    NDPI / "netflix.pcap": 0,
    DATA / "chrissanders+packets/synscan.pcapng": 0,
    DATA / "chrissanders+packets/http_espn.pcapng": 0,
    DATA / "debian+tcpflow-1.6.1/tests/local.pcap": 0,
    DATA / "seladb+PcapPlusPlus/Tests/Pcap++Test/PcapExamples/example.pcap": 0,
    DATA / "LibtraceTeam+libtrace/test/traces/vlan.pcap": 4,
}
IDLE_NS = 30 * 10**9
SINCE_1900 = 2208988800
COUNTS = ["sent", "received", "expired", "ignored", "dropped"]


class FlowData(ctypes.Structure):
    _fields_ = [
        ("timestamp", ctypes.c_uint64),
        ("packets_count", ctypes.c_uint64),
        ("bytes_count", ctypes.c_uint64),
        ("saddr", ctypes.c_uint8 * 4),
        ("daddr", ctypes.c_uint8 * 4),
        ("sport", ctypes.c_uint16),
        ("dport", ctypes.c_uint16),
        ("ptcl", ctypes.c_uint8),
        ("ttl_pkt1", ctypes.c_uint8),
        ("version", ctypes.c_uint8),
        ("has_place", ctypes.c_uint8),
    ]

    def as_reported(self):
        """The reference data for a flow."""
        size = 4 if self.version == 4 else 16
        source, destination = (
            ipaddress.ip_address(bytes(address[:size]))
            for address in (self.more.source, self.more.destination)
        )
        published = (
            [bytes(source.packed), bytes(destination.packed)] if size == 4 else [bytes(4)] * 2
        )
        assert [bytes(self.saddr), bytes(self.daddr)] == published
        seconds, fraction = self.timestamp >> 32, self.timestamp & 0xFFFFFFFF
        first_ns = (seconds - SINCE_1900) * 10**9 + -(-fraction * 10**9 >> 32)
        return (
            (source, destination, self.sport, self.dport, self.ptcl),
            first_ns,
            self.packets_count,
            self.bytes_count,
            self.ttl_pkt1,
        )


class FlowMore(ctypes.Structure):
    _fields_ = [
        ("source", ctypes.c_uint8 * 16),
        ("destination", ctypes.c_uint8 * 16),
        ("vlan", ctypes.c_uint16),
        ("interface", ctypes.c_uint16),
        ("reserved", ctypes.c_uint32),
    ]


def structure(fields):
    return type(
        "Counts", (ctypes.Structure,), {"_fields_": [(name, ctypes.c_uint32) for name in fields]}
    )


FlowsStat, FlowsMore = (
    structure(COUNTS + ["packets_" + name for name in COUNTS]),
    structure(["early", "other"]),
)


def read(flow, function):
    """Counts and flows of one read, each with its additional data."""
    results = flow.library.mapi_read_results(flow.fd, function)
    assert results, flow.error()
    at = results.contents.res

    def take(shape):
        nonlocal at
        taken = shape.from_buffer_copy(ctypes.string_at(at, ctypes.sizeof(shape)))
        at += ctypes.sizeof(shape)
        return taken

    stat = take(FlowsStat)
    flows = list(take(FlowData * stat.sent))
    counts = {
        name: getattr(part, name) for part in (stat, take(FlowsMore)) for name, _ in part._fields_
    }
    for one, more in zip(flows, take(FlowMore * stat.sent)):
        one.more = more
    return counts, flows


def read_all(flow, function):
    """Sums of all reads, and all flows."""
    sums, flows = collections.Counter(), []
    while True:
        counts, some = read(flow, function)
        sums.update(counts)
        flows += some
        if not some:
            return sums, flows


def run(capture, *arguments):
    flow = Flow.offline(capture)
    count = flow.apply("PKT_COUNTER")
    function = flow.apply("EXPIRED_FLOWS", *arguments)
    flow.run()
    sums, flows = read_all(flow, function)
    packets, dropped = flow.word(count), flow.dropped(function)
    flow.close()
    return sums, flows, packets, dropped


class ExpiredFlows(unittest.TestCase):
    def test_every_tcp_and_udp_flow_is_as_tshark_sees_its_packets(self):
        reported = 0
        for capture, tag_bytes in CAPTURES.items():
            with self.subTest(capture.name):
                expected = mapi_flows.flows_of(mapi_flows.read_packets(capture), IDLE_NS)
                _, flows, _, _ = run(capture, 65535, 0, 0)
                found = [
                    flow.as_reported()
                    for flow in flows
                    if (flow.sport or flow.dport) and flow.ptcl in (mapi_flows.TCP, mapi_flows.UDP)
                ]

                def key(one):
                    return tuple(map(str, one))

                self.assertEqual(
                    sorted(found, key=key),
                    sorted(
                        (
                            (
                                one.key,
                                one.first_ns,
                                one.packets,
                                one.wire_bytes - tag_bytes * one.packets,
                                one.ttl,
                            )
                            for one in expected
                        ),
                        key=key,
                    ),
                )
                reported += len(found)
        self.assertGreater(reported, 2000)

    def test_counts_of_all_reads_add_up_to_the_packets(self):
        for capture in CAPTURES:
            with self.subTest(capture.name):
                sums, flows, packets, dropped = run(capture, 50, 100000, 0)
                self.assertEqual(sums["packets_received"] + sums["other"], packets)
                self.assertEqual(sums["sent"], len(flows))
                self.assertEqual(
                    (sums["received"], sums["expired"], sums["dropped"], dropped),
                    (len(flows), len(flows), 0, 0),
                )
                self.assertEqual(sums["packets_sent"], sum(flow.packets_count for flow in flows))
                self.assertEqual(sums["packets_sent"], sums["packets_received"])

    def test_small_flows_are_ignored_and_those_that_do_not_fit_are_dropped(self):
        capture = DATA / "seladb+PcapPlusPlus/Tests/Pcap++Test/PcapExamples/example.pcap"
        _, every, _, _ = run(capture, 65535, 0, 0)
        small = sum(flow.packets_count < 5 for flow in every)
        sums, flows, _, dropped = run(capture, 20, 30, 5)
        self.assertEqual(sums["ignored"], small)
        self.assertEqual(
            sums["packets_ignored"],
            sum(flow.packets_count for flow in every if flow.packets_count < 5),
        )
        self.assertEqual(len(flows), 50)
        self.assertEqual(sums["dropped"], len(every) - small - 50)
        self.assertEqual(dropped, sums["dropped"])
        self.assertTrue(all(flow.packets_count >= 5 for flow in flows))

    def test_arguments_out_of_range_are_refused(self):
        flow = Flow.offline(NDPI / "android.pcap")
        for arguments, number in (
            ((0, 0, 0), 7001),
            ((65536, 0, 0), 7001),
            ((1, -1, 0), 7002),
            ((1, 1 << 21, 0), 7002),
            ((1, 1, -1), 7003),
        ):
            self.assertEqual(flow.try_apply("EXPIRED_FLOWS", *arguments), -1)
            self.assertTrue(flow.error().startswith(str(number)), flow.error())
        flow.close()


if __name__ == "__main__":
    needs.tools("tshark")
    needs.captures(*CAPTURES)
    unittest.main()
