#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Driver pcap_live: what was sent is counted, whatever happens to the interface."""

import os
import pathlib
import shutil
import socket
import tempfile
import time

from mapi_interfaces import is_up, make_pair
from mapi_library import Flow, stats_of
from mapi_live_library import (
    ARP,
    BROADCAST,
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

TAP = "[driver]\ndevice=tap\ndriver={}\npath={}\n{}\n"


class PcapLive(DriverTests, LiveTest):
    device = "tap"

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.environ.pop, "MAPI_CONF")
        os.environ["MAPI_CONF"] = str(self.folder / "mapi.conf")
        self.configure()

    def configure(self, driver="pcap_live", path="far", more=""):
        (self.folder / "mapi.conf").write_text(TAP.format(driver, path, more))

    def refusal(self):
        flow = Flow.library.mapi_create_flow(b"tap")
        self.assertEqual(flow, -1)
        return Flow.error()

    def test_every_packet_that_is_sent_is_counted_with_its_bytes_and_its_time(self):
        begin = time.time_ns()
        flow = self.flow(("PKT_COUNTER",), ("BYTE_COUNTER",), ("PKTINFO", 0), device="tap")
        send("near", UDP, ARP, TCP, count=5000)
        self.assert_counts(flow, 15000, 0)
        self.assertEqual(flow.word(flow.ids[1]), 5000 * (len(UDP) + len(ARP) + len(TCP)))
        seconds = flow.word(flow.ids[2]) / 2**32 - 2208988800
        self.assertTrue(begin / 1e9 - 1 < seconds < time.time() + 1, seconds)
        stats = stats_of("tap")
        self.assertEqual((stats.ps_recv, stats.ps_drop, stats.message), (15000, 0, b""))

    def test_what_does_not_fit_is_counted_as_the_kernels_drops(self):
        self.configure(more="buffer_mb=1")
        flow = self.flow(("PKT_COUNTER",), ("STR_SEARCH", "zzz", 0, 0), device="tap")
        self.assert_drops_are_counted(flow, "tap")
        self.assertGreater(stats_of("tap").drop_kernel, 0)

    def test_a_filter_keeps_packets_in_the_kernel_except_those_with_a_tag(self):
        flow = self.flow(("BPF_FILTER", "udp or (vlan and udp)"), ("PKT_COUNTER",), device="tap")
        send("near", UDP, ARP, tagged(UDP, "81000064"), tagged(ARP, "81000064"), count=100)
        self.assert_counts(flow, 200)
        self.assertEqual(stats_of("tap").ps_recv, 300)
        everything = self.flow(("PKT_COUNTER",), device="tap")
        send("near", UDP, ARP, count=100)
        self.assert_counts(everything, 200)
        self.assert_counts(flow, 300)

    def test_the_same_packets_are_read_as_af_packet_reads_them(self):
        writers = [
            ("TO_FILE", 0, str(self.folder / name), 0) for name in ("pcap_live", "af_packet")
        ]
        flows = [
            self.flow(("PKT_COUNTER",), writers[0], device="tap"),
            self.flow(("PKT_COUNTER",), writers[1]),
        ]
        frames = [
            UDP,
            tagged(UDP, "81000064"),
            tagged(TCP, "88a80005", "81000007"),
            ARP,
            BROADCAST + b"\x08\0" + b"x" * 1486,
        ]
        send("near", *frames, count=20)
        for flow in flows:
            self.assert_counts(flow, 100, 0)
            self.flows.remove(flow)
            flow.close()
        own, other = ((self.folder / name).read_bytes() for name in ("pcap_live", "af_packet"))
        self.assertEqual(len(own), 24 + 20 * sum(16 + len(frame) for frame in frames))
        self.assertEqual(own, other)

    def test_the_snap_length_truncates_packets_and_their_length_on_the_wire_stays(self):
        self.configure(more="snaplen=64")
        flow = self.flow(
            ("PKT_COUNTER",),
            ("BYTE_COUNTER",),
            ("TO_FILE", 0, str(self.folder / "cut"), 0),
            device="tap",
        )
        send("near", BROADCAST + b"\x08\0" + b"x" * 986, count=3)
        self.assert_counts(flow, 3, 0)
        self.assertEqual(flow.word(flow.ids[1]), 3000)
        self.flows.remove(flow)
        flow.close()
        self.assertEqual((self.folder / "cut").stat().st_size, 24 + 3 * (16 + 64))

    def test_an_interface_of_an_odd_link_type_is_read(self):
        self.configure(path="any")
        flow = self.flow(("BPF_FILTER", "udp port 9999"), ("PKT_COUNTER",), device="tap")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(10):
                sender.sendto(b"hello", ("127.0.0.1", 9999))
        self.assert_counts(flow, 10)

    def test_a_source_that_is_not_a_network_interface_is_quiet_while_nothing_arrives(self):
        self.configure(path="nflog")
        try:
            flow = self.flow(("PKT_COUNTER",), device="tap")
        except AssertionError as refused:  # a libpcap or a kernel without support
            self.skipTest(str(refused))
        end = time.monotonic() + 1  # longer than the driver waits for an interface that is gone
        while time.monotonic() < end:
            self.assertEqual(stats_of("tap").message, b"")
            time.sleep(0.01)
        self.assert_counts(flow, 0)

    def test_an_interface_that_goes_away_ends_no_flow_and_is_read_again_when_it_is_back(self):
        flow = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",), device="tap")
        for times in 1, 2:
            send("near", UDP, ARP, count=10)
            self.assert_counts(flow, 20 * times - 10)
            run("ip", "link", "del", "near")
            self.assertTrue(
                wait_until(
                    lambda: (
                        b"far: the interface has disappeared; waiting for it to return"
                        in stats_of("tap").message
                    )
                ),
                stats_of("tap").message,
            )
            make_pair("near", "far")
            self.assertTrue(
                wait_until(
                    lambda: (
                        b"far: the interface was gone %d %s; packets are read while it is up"
                        % (times, b"time" if times == 1 else b"times")
                        == stats_of("tap").message
                    )
                ),
                stats_of("tap").message,
            )
            send("near", UDP, ARP, count=10)
            self.assert_counts(flow, 20 * times)
        self.assertEqual(stats_of("tap").ps_recv, 40)  # the filter was installed again, too
        self.assertEqual(stats_of("tap").ps_drop, 0)

    def test_packets_before_the_interface_went_away_are_counted(self):
        self.configure(more="block_timeout_ms=500")
        flow = self.flow(("PKT_COUNTER",), device="tap")
        send("near", UDP, count=10)
        run("ip", "link", "del", "near")
        self.assertTrue(
            wait_until(lambda: b"has disappeared" in stats_of("tap").message),
            stats_of("tap").message,
        )
        self.assert_counts(flow, 10)

    def test_intervals_of_time_end_while_the_interface_is_gone(self):
        flow = self.flow(("PKT_COUNTER",), device="tap")
        timed = Flow.on_device("tap")
        self.flows.append(timed)
        buckets = timed.apply("BUCKET", flow.fd, flow.ids[0], "100ms", 1)
        timed.connect()
        send("near", UDP, count=5)
        self.assert_counts(flow, 5)
        run("ip", "link", "del", "near")
        self.assertTrue(
            wait_until(lambda: b"has disappeared" in stats_of("tap").message),
            stats_of("tap").message,
        )
        self.assertEqual([timed.word(buckets) >> 64 for _ in range(5)], [5, 0, 0, 0, 0])

    def test_a_flow_of_an_interface_that_is_gone_can_be_closed(self):
        flow = self.flow(("PKT_COUNTER",), device="tap")
        run("ip", "link", "del", "near")
        self.assertTrue(
            wait_until(lambda: b"has disappeared" in stats_of("tap").message),
            stats_of("tap").message,
        )
        self.flows.remove(flow)
        flow.close()

    def test_a_link_that_goes_down_and_comes_up_ends_no_flow(self):
        flow = self.flow(("PKT_COUNTER",), device="tap")
        run("ip", "link", "set", "far", "down")
        time.sleep(0.1)  # the driver checks, and finds it down
        run("ip", "link", "set", "far", "up")
        self.assertTrue(wait_until(lambda: is_up("near") and is_up("far")))
        send("near", UDP, count=10)
        self.assert_counts(flow, 10)
        self.assertEqual(stats_of("tap").message, b"")

    def test_an_unavailable_device_is_reported_with_a_remedy(self):
        self.configure(path="nowhere")
        self.assertIn("nowhere: No such device exists", self.refusal())
        self.configure(more="monitor=1")
        self.assertIn("monitor mode", self.refusal())
        self.configure(more="fanout_group=1")
        self.assertIn('unknown key "fanout_group" of a device of driver pcap_live', self.refusal())

    def test_driver_names_of_mapi_2_stand_for_current_drivers(self):
        self.configure(driver="/usr/lib/mapi/mapinicdrv.so")
        flow = self.flow(("PKT_COUNTER",), device="tap")
        send("near", UDP, count=5)
        self.assert_counts(flow, 5)
        self.flows.remove(flow)
        flow.close()
        self.configure(driver="mapicombo6drv.so")
        self.assertIn("the cards of this MAPI 2 driver are unsupported", self.refusal())


if __name__ == "__main__":
    main()
