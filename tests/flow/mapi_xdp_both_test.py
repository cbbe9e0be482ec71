#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Device xdp:IFACE,both: packets that come in and packets that go out are each seen once, by the
same functions."""

import collections
import ctypes
import itertools
import os
import socket
import struct

from mapi_library import Flow, stats_of
from mapi_live_library import (
    ARP,
    TCP,
    UDP,
    LiveTest,
    send,
    wait_until,
)
from mapi_xdp_library import IN_ENGINE, Receiver, Sender, XdpTests, attached, main

DEVICE = "xdp:far,both"
SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
PROG_QUERY, TCX_EGRESS = 16, 47


def outgoing_programs():
    """How many are attached to far."""
    query = ctypes.create_string_buffer(
        struct.pack("IIII", socket.if_nametoindex("far"), TCX_EGRESS, 0, 0), 64
    )
    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall(SYS_BPF, PROG_QUERY, query, 64) != 0:
        raise OSError(ctypes.get_errno(), "BPF_PROG_QUERY")
    return struct.unpack_from("I", query, 24)[0]


class XdpBoth(XdpTests, LiveTest):
    device = DEVICE
    program_count = 2

    def programs(self):
        return bool(attached()) + outgoing_programs()

    def test_packets_of_both_directions_are_counted_once_in_the_kernel(self):
        there, here = Receiver("near"), Receiver("far")
        self.addCleanup(there.close)
        self.addCleanup(here.close)
        flow = self.flow(("PKT_COUNTER",), ("BYTE_COUNTER",))
        udp = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",))
        self.assertEqual(udp.information(udp.ids[0]).place, b"kernel")
        self.assertTrue(attached())
        self.assertEqual(outgoing_programs(), 1)
        send("near", UDP, ARP, count=5000)
        send("far", UDP, TCP, TCP, count=3000)
        self.assert_counts(flow, 19000, 0)
        self.assert_counts(udp, 8000)
        sent = 5000 * (len(UDP) + len(ARP)) + 3000 * (len(UDP) + 2 * len(TCP))
        self.assertEqual(flow.word(flow.ids[1]), sent)
        stats = stats_of(DEVICE)
        self.assertEqual((stats.ps_recv, stats.ps_drop, stats.message), (19000, 0, b""))
        self.assertEqual(stats.remark, b"")  # native
        self.assertEqual((there.count_until(9000), here.count_until(10000)), (9000, 10000))

    def test_without_the_option_only_packets_that_come_in_are_counted(self):
        flow = self.flow(("PKT_COUNTER",), device="xdp:far")
        self.assertEqual(outgoing_programs(), 0)
        send("far", UDP, count=10)
        send("near", UDP, count=7)
        self.assert_counts(flow, 7)

    def test_functions_in_the_engine_get_both_directions(self):
        kernel = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",))
        engine = self.flow_with(IN_ENGINE, 1, ("BPF_FILTER", "udp"), ("GAP",), ("PKT_COUNTER",))
        kept = self.flow(("BPF_FILTER", "udp"), ("TO_BUFFER", 0))
        send("near", *(UDP + b"n" * length for length in range(20)), ARP)
        send("far", *(UDP + b"f" * length for length in range(100, 130)), ARP)
        for flow in kernel, engine:
            self.assert_counts(flow, 50)
        packets = itertools.islice(kept.packets(kept.ids[1]), 50)
        lengths = collections.Counter(len(packet) - len(UDP) for packet in packets)
        self.assertEqual(lengths, collections.Counter([*range(20), *range(100, 130)]))

    def test_filters_of_direction_pass_what_they_name(self):
        index = socket.if_nametoindex("far")
        expected = {
            "inbound": 20,
            "outbound": 15,
            "inbound and udp": 10,
            "outbound and udp": 5,
            "not inbound": 15,
            "arp or outbound": 25,
            "udp": 15,
            f"ifindex {index}": 35,
            f"ifindex {index + 1}": 0,
        }
        flows = {
            expression: self.flow(("BPF_FILTER", expression), ("PKT_COUNTER",))
            for expression in expected
        }
        behind = self.flow(("BPF_FILTER", "udp"), ("BPF_FILTER", "outbound"), ("PKT_COUNTER",))
        send("near", UDP, ARP, count=10)
        send("far", UDP, TCP, TCP, count=5)
        for expression, flow in flows.items():
            with self.subTest(expression):
                self.assert_counts(flow, expected[expression])
        self.assert_counts(behind, 5)
        place = flows["inbound"].information(flows["inbound"].ids[0]).place
        self.assertTrue(place.startswith(b"engine"), place)
        self.assertEqual(flows["udp"].information(flows["udp"].ids[0]).place, b"kernel")
        one_way = Flow.on_device("xdp:far")
        self.flows.append(one_way)
        self.assertLess(one_way.try_apply("BPF_FILTER", "outbound"), 0)
        self.assertIn("inbound/outbound not supported", Flow.error())

    def test_a_device_that_drops_lets_packets_out(self):
        there, here = Receiver("near"), Receiver("far")
        self.addCleanup(there.close)
        self.addCleanup(here.close)
        for device in "xdp:far,drop,both", "xdp:far,both,drop":
            flow = self.flow(("PKT_COUNTER",), device=device)
            there.count()
            here.count()
            send("near", UDP, count=50)
            send("far", UDP, count=30)
            self.assert_counts(flow, 80)
            self.assertEqual((there.count_until(30), here.count()), (30, 0))
            flow.close()
            self.flows.remove(flow)

    def test_flows_that_come_and_go_under_traffic_lose_no_packet_of_one_that_stays(self):
        stays = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",), ("BYTE_COUNTER",))
        engine = self.flow_with(IN_ENGINE, 1, ("BPF_FILTER", "udp"), ("PKT_COUNTER",))
        with Sender(UDP, ARP) as there, Sender(UDP, TCP, interface="far") as here:
            self.connect_and_close(30, ("PKT_COUNTER",), ("GAP",))
        sent = there.sent + here.sent
        self.assert_counts(stays, sent, 1)
        self.assertEqual(stays.word(stays.ids[2]), sent * len(UDP))
        self.assertTrue(wait_until(lambda: stats_of(DEVICE).ps_recv == 2 * sent, 5))
        if stats_of(DEVICE).drop_kernel == 0:  # else this machine was too slow for the engine
            self.assert_counts(engine, sent)

    def test_outgoing_frames_in_several_pieces_are_filtered_as_one(self):
        self.check_frames_in_several_pieces("far")

    def test_an_interface_that_goes_away_and_returns_is_watched_in_both_directions(self):
        flow = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",))
        self.take_far_away()
        self.assertEqual(outgoing_programs(), 1)
        send("near", UDP, ARP, count=10)
        send("far", UDP, ARP, count=5)
        self.assert_counts(flow, 15)

    def test_a_packet_on_the_loopback_interface_is_seen_once(self):
        flow = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",), device="xdp:lo,both")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(10):
                sender.sendto(b"hello", ("127.0.0.1", 9))
        self.assert_counts(flow, 10)


if __name__ == "__main__":
    main()
