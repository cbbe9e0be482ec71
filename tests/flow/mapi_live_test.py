#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packets of a network interface: what was sent is counted, whatever happens to the interface."""

import ctypes
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from mapi_interfaces import is_up, make_pair
from mapi_library import Flow, stats_of
from mapi_live_library import (
    ARP,
    TCP,
    UDP,
    DriverTests,
    LiveTest,
    main,
    run,
    send,
    tagged,
    wait_until,
)


class Live(DriverTests, LiveTest):
    device = "far"

    def test_every_packet_that_is_sent_is_counted_with_its_bytes(self):
        flow = self.flow(("PKT_COUNTER",), ("BYTE_COUNTER",))
        send("near", UDP, ARP, TCP, count=20000)
        self.assert_counts(flow, 60000, 0)
        self.assertEqual(flow.word(flow.ids[1]), 20000 * (len(UDP) + len(ARP) + len(TCP)))
        stats = stats_of("far")
        self.assertEqual((stats.ps_recv, stats.ps_drop, stats.message), (60000, 0, b""))

    def test_what_does_not_fit_is_counted_as_the_kernels_drops(self):
        Flow.library.mapi_set_device_option(b"far", b"buffer_mb", b"2")
        flow = self.flow(("PKT_COUNTER",), ("TO_BUFFER", 0))
        self.assert_drops_are_counted(flow, "far")

    @unittest.skipUnless(shutil.which("dumpcap"), "no dumpcap")
    def test_vlan_tags_are_where_they_were_sent(self):
        frames = [tagged(UDP, "81000064"), tagged(UDP, "88a80005", "81000007"), UDP]
        with tempfile.TemporaryDirectory() as folder:
            judge = subprocess.Popen(
                ["dumpcap", "-P", "-q", "-i", "far", "-c", "3", "-w", folder + "/judge.pcap"],
                stderr=subprocess.PIPE,
                text=True,
            )
            for line in judge.stderr:
                if line.startswith("File:"):
                    break
            flow = self.flow(
                ("PKT_COUNTER",),
                ("TO_FILE", 0, folder + "/own.pcap", 0),
                ("BPF_FILTER", "vlan 100 and udp"),
                ("PKT_COUNTER",),
            )
            send("near", *frames)
            self.assert_counts(flow, 3, 0)
            self.assertEqual(flow.word(flow.ids[-1]), 1)
            judge.communicate(timeout=20)
            self.flows.remove(flow)
            flow.close()
            own, seen = (
                subprocess.run(
                    ["tshark", "-n", "-r", f"{folder}/{name}.pcap", "-T", "json", "-x", "-j", ""],
                    capture_output=True,
                    check=True,
                ).stdout
                for name in ("own", "judge")
            )
            raw = [
                [packet["_source"]["layers"]["frame_raw"][0] for packet in json.loads(text)]
                for text in (own, seen)
            ]
            self.assertEqual(raw, [[frame.hex() for frame in frames]] * 2)

    def test_a_filter_of_all_flows_keeps_other_packets_in_the_kernel_until_a_flow_needs_them(self):
        udp = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",))
        udp_too = self.flow(("BPF_FILTER", "udp"), ("BYTE_COUNTER",))
        send("near", UDP, ARP, tagged(ARP, "81000064"), count=100)
        self.assert_counts(udp, 100)
        self.assertEqual(udp_too.word(udp_too.ids[1]), 100 * len(UDP))
        # with a tag, which the kernel's filter does not see, it must be passed on
        self.assertEqual(stats_of("far").ps_recv, 200)
        everything = self.flow(("PKT_COUNTER",))
        send("near", UDP, ARP, count=100)
        self.assert_counts(everything, 200)
        self.assert_counts(udp, 200)
        self.assertEqual(stats_of("far").ps_recv, 400)
        self.flows.remove(everything)
        everything.close()
        send("near", UDP, ARP, count=100)
        self.assert_counts(udp, 300)
        self.assertEqual(stats_of("far").ps_recv, 500)

    def test_an_interface_that_is_not_up_yet_is_no_fault(self):
        run("ip", "link", "set", "far", "down")
        flow = self.flow(("PKT_COUNTER",))
        time.sleep(0.1)
        run("ip", "link", "set", "far", "up")
        self.assertTrue(wait_until(lambda: is_up("far")))
        send("near", UDP, count=10)
        self.assert_counts(flow, 10)
        stats = stats_of("far")
        self.assertEqual(stats.message, b"")
        self.assertIn(b"far: the interface was down when it was opened", stats.remark)

    def test_a_link_that_goes_down_and_an_interface_that_goes_away_end_no_flow(self):
        flow = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",))
        send("near", UDP, count=10)
        self.assert_counts(flow, 10)
        run("ip", "link", "set", "far", "down")
        self.assertTrue(
            wait_until(lambda: b"was down 1 time;" in stats_of("far").message),
            stats_of("far").message,
        )
        run("ip", "link", "set", "far", "up")
        self.assertTrue(wait_until(lambda: is_up("near") and is_up("far")))
        send("near", UDP, count=10)
        self.assert_counts(flow, 20)
        run("ip", "link", "del", "near")
        self.assertTrue(
            wait_until(lambda: b"has disappeared" in stats_of("far").message),
            stats_of("far").message,
        )
        make_pair("near", "far")
        self.assertTrue(
            wait_until(lambda: b"gone 1 time" in stats_of("far").message), stats_of("far").message
        )
        send("near", UDP, ARP, count=10)
        self.assert_counts(flow, 30)
        self.assertEqual(stats_of("far").ps_recv, 30)  # the filter was installed again, too

    def test_intervals_of_time_end_although_no_packet_comes(self):
        flow = self.flow(("PKT_COUNTER",))
        timed = Flow.on_device("far")
        self.flows.append(timed)
        buckets = timed.apply("BUCKET", flow.fd, flow.ids[0], "100ms", 1)
        # polled: a difference of 0
        alarm = timed.apply(
            "THRESHOLD", 2 + 64, flow.fd, flow.ids[0], ctypes.c_ulonglong(0), 4, 100, 0, 2
        )
        timed.connect()
        send("near", UDP, count=5)
        self.assertEqual([timed.word(buckets) >> 64 for _ in range(3)], [5, 0, 0])
        self.assertEqual(timed.word(alarm) >> 64, 0)

    def test_intervals_end_in_time_although_only_other_packets_arrive(self):
        everything = self.flow(("PKT_COUNTER",))
        flow = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",))
        timed = Flow.on_device("far")
        self.flows.append(timed)
        timed.apply("BPF_FILTER", "udp")
        buckets = timed.apply("BUCKET", flow.fd, flow.ids[1], "100ms", 1)
        timed.connect()
        sender = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import socket, time\ns = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); "
                "s.bind(('near', 0))\n"
                f"while True: s.send({ARP!r}); time.sleep(0.002)",
            ]
        )
        try:
            self.assertTrue(wait_until(lambda: everything.word(everything.ids[0]) > 10))
            send("near", UDP, count=5)
            self.assertTrue(wait_until(lambda: timed.information(buckets).pkts == 5))
            end = time.monotonic() + 4
            threading.Timer(5, sender.kill).start()
            self.assertEqual([timed.word(buckets) >> 64 for _ in range(5)], [5, 0, 0, 0, 0])
            self.assertLess(time.monotonic(), end, "they ended when the other packets did")
        finally:
            sender.kill()
            sender.wait()

    def test_fragments_are_packets_in_a_fan_out_group_too(self):
        self.assertEqual(Flow.library.mapi_set_device_option(b"far", b"fanout_group", b"7"), 0)
        flow = self.flow(("PKT_COUNTER",))
        first = bytearray(UDP)
        first[20] = 0x20  # more fragments, which never arrive
        send("near", bytes(first), count=10)
        self.assert_counts(flow, 10)

    def fan_out(self, group):
        """Two devices of one group, each with a flow that counts."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        config = pathlib.Path(folder.name) / "mapi.conf"
        config.write_text(
            "".join(
                (
                    f"[driver]\ndevice=member{number}\ndriver=af_packet\npath=far\n"
                    f"fanout_group={group}\n"
                )
                for number in (1, 2)
            )
        )
        os.environ["MAPI_CONF"] = str(config)
        self.addCleanup(os.environ.pop, "MAPI_CONF")
        return [self.flow(("PKT_COUNTER",), device=f"member{number}") for number in (1, 2)]

    def test_members_of_a_fan_out_group_share_packets_by_flow_and_none_is_counted_twice(self):
        members = self.fan_out(9)
        streams = [UDP[:34] + (1000 + port).to_bytes(2, "big") + UDP[36:] for port in range(64)]
        each = 200
        send("near", *streams, count=each)

        def counts():
            return [flow.word(flow.ids[0]) for flow in members]

        self.assertTrue(wait_until(lambda: sum(counts()) >= each * len(streams)), counts())
        time.sleep(0.1)
        self.assertEqual(sum(counts()), each * len(streams), counts())
        for count in counts():  # the same member sees every packet of a stream
            self.assertGreater(count, 0, counts())
            self.assertEqual(count % each, 0, counts())
        self.assertEqual([stats_of(f"member{number}").ps_drop for number in (1, 2)], [0, 0])

    def test_the_remaining_members_of_a_fan_out_group_get_all_packets(self):
        first, second = self.fan_out(10)
        self.flows.remove(second)
        second.close()
        streams = [UDP[:34] + (1000 + port).to_bytes(2, "big") + UDP[36:] for port in range(16)]
        send("near", *streams, count=10)
        self.assert_counts(first, 160, 0)

    def test_a_filter_that_the_kernel_interprets_differently_is_not_installed_in_it(self):
        flow = self.flow(("BPF_FILTER", "(ip[0] << ip[1]) = 0"), ("PKT_COUNTER",))
        shifted = bytearray(UDP)
        shifted[15] = 33
        send("near", bytes(shifted), count=10)
        self.assert_counts(flow, 10)

    def test_on_the_loopback_interface_a_packet_counts_once(self):
        flow = self.flow(("BPF_FILTER", "udp port 9999"), ("PKT_COUNTER",), device="lo")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(100):
                sender.sendto(b"hello", ("127.0.0.1", 9999))
        self.assert_counts(flow, 100)
        self.assertEqual(stats_of("lo").ps_recv, 100)

    def test_an_unavailable_device_is_reported_with_a_remedy(self):
        self.assertEqual(Flow.library.mapi_create_flow(b"nowhere"), -1)
        self.assertIn('no device or network interface "nowhere"', Flow.error())
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "mapi.conf"
            config.write_text("[driver]\ndevice=tap\ndriver=af_packet\npath=nowhere\n")
            os.environ["MAPI_CONF"] = str(config)
            self.assertEqual(Flow.library.mapi_create_flow(b"tap"), -1)
            del os.environ["MAPI_CONF"]
        self.assertIn("nowhere: cannot find the interface: No such device", Flow.error())
        self.assertEqual(Flow.library.mapi_set_device_option(b"far", b"buffer_mb", b"1"), -1)
        self.assertIn("buffer_mb=1: must be a number from 2 to 4096", Flow.error())
        self.assertEqual(Flow.library.mapi_set_device_option(b"far", b"colour", b"1"), -1)
        self.assertIn("fanout_group", Flow.error())


if __name__ == "__main__":
    main()
