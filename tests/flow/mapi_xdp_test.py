#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Device xdp:IFACE: functions in the kernel count what was sent, and packets reach the host."""

import itertools
import json
import subprocess
import threading
import time

from mapi_interfaces import is_up
from mapi_library import Flow, stats_of
from mapi_live_library import (
    ARP,
    BROADCAST,
    TCP,
    UDP,
    LiveTest,
    run,
    send,
    tagged,
    wait_until,
)
from mapi_xdp_library import (
    IN_ENGINE,
    SNAP_BYTES,
    Receiver,
    Sender,
    XdpTests,
    attached,
    in_own_process,
    main,
)

DEVICE = "xdp:far"
PERIODIC, PROBABILISTIC = 2, 3
PKT_TS, PKT_SIZE = 0, 1


class Xdp(XdpTests, LiveTest):
    device = DEVICE
    program_count = 1

    def programs(self):
        return int(bool(attached()))

    def in_kernel_and_engine(self, *functions):
        """The same functions in both; their first one says so."""
        kernel, engine = self.flow(*functions), self.flow_with(IN_ENGINE, 1, *functions)
        self.assertEqual(kernel.information(kernel.ids[0]).place, b"kernel")
        self.assertIn(b"MAPI_IN_ENGINE", engine.information(engine.ids[0]).place)
        return kernel, engine

    def test_packets_are_counted_in_the_kernel_and_reach_the_host(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        flow = self.flow(("PKT_COUNTER",), ("BYTE_COUNTER",))
        self.assertTrue(attached())
        send("near", UDP, ARP, TCP, count=5000)
        self.assert_counts(flow, 15000, 0)
        self.assertEqual(flow.word(flow.ids[1]), 5000 * (len(UDP) + len(ARP) + len(TCP)))
        stats = stats_of(DEVICE)
        self.assertEqual((stats.ps_recv, stats.ps_drop, stats.message), (15000, 0, b""))
        self.assertEqual(receiver.count(), 15000)

    def test_filters_count_what_they_pass_and_nested_filters_what_both_pass(self):
        udp = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",), ("BYTE_COUNTER",))
        port = self.flow(("BPF_FILTER", "udp"), ("BPF_FILTER", "port 2"), ("PKT_COUNTER",))
        other = self.flow(("BPF_FILTER", "udp"), ("BPF_FILTER", "port 3"), ("PKT_COUNTER",))
        tag = self.flow(("BPF_FILTER", "vlan 100 and udp"), ("PKT_COUNTER",))
        send("near", UDP, ARP, TCP, tagged(UDP, "81000064"), count=100)
        self.assert_counts(udp, 100, 1)
        self.assertEqual(udp.word(udp.ids[2]), 100 * len(UDP))
        self.assert_counts(port, 100)
        self.assert_counts(other, 0)
        self.assert_counts(tag, 100)
        self.assertEqual(stats_of(DEVICE).ps_recv, 400)

    def test_functions_that_run_in_the_engine_get_what_the_kernel_has_passed(self):
        text = BROADCAST + b"\x08\0" + b"GET /index.html" + b"x" * 60
        flow = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",), ("TO_BUFFER", 0))
        gap = self.flow(("BPF_FILTER", "greater 70"), ("GAP",), ("PKT_COUNTER",))
        send("near", UDP, ARP, text, count=20)
        self.assert_counts(flow, 20, 1)
        self.assert_counts(gap, 20)
        self.assertEqual(list(itertools.islice(flow.packets(flow.ids[2]), 20)), [UDP] * 20)
        self.assertEqual(stats_of(DEVICE).ps_recv, 60)

    def test_strings_are_found_in_the_kernel_as_in_the_engine(self):
        text = BROADCAST + b"\x08\0" + b"GET /index.html" + b"q" * 60
        flows = {}
        for in_engine in 0, 1:
            for functions in (
                (("STR_SEARCH", "index", 0, 0),),
                (("STR_SEARCH", "INDEX", 0, 0, "nocase"),),
                (("STR_SEARCH", "GET", 15, 0),),
                (("STR_SEARCH", "qqqq", 14, 10),),
                (("BPF_FILTER", "udp"), ("STR_SEARCH", "qqq", 0, 0)),
                (("STR_SEARCH", "|08 00|", 12, 2), ("STR_SEARCH", "q||y", 0, 0)),
            ):
                flow = self.flow_with(IN_ENGINE, in_engine, *functions, ("PKT_COUNTER",))
                place = flow.information(flow.ids[-2]).place.decode()
                self.assertTrue(place.startswith("engine" if in_engine else "kernel"), place)
                flows.setdefault(functions, []).append(flow)
        slow = BROADCAST + b"\x08\0" + b"q" * 1400
        send("near", UDP, text, slow, count=20)
        wait_until(lambda: stats_of(DEVICE).ps_recv == 60)
        counts = []
        for kernel, engine in flows.values():
            wait_until(lambda: kernel.word(kernel.ids[-1]) == engine.word(engine.ids[-1]), 2)
            counts.append((kernel.word(kernel.ids[-1]), engine.word(engine.ids[-1])))
        self.assertEqual(counts, [(20, 20), (20, 20), (0, 0), (20, 20), (0, 0), (40, 40)])

    def test_flows_are_sampled_in_the_kernel_as_in_the_engine(self):
        kernel, engine = self.in_kernel_and_engine(("HASHSAMP", 512, 0), ("PKT_COUNTER",))
        frames = [
            bytes(UDP[:26]) + address.to_bytes(4, "big") + UDP[30:] for address in range(1, 400)
        ]
        tags = [tagged(frame, "81000064") for frame in frames[:100]]  # left to the engine
        send("near", *frames, *tags, ARP)
        wait_until(lambda: stats_of(DEVICE).ps_recv == 500, 5)
        wait_until(lambda: kernel.word(kernel.ids[1]) == engine.word(engine.ids[1]), 5)
        self.assertEqual(kernel.word(kernel.ids[1]), engine.word(engine.ids[1]))
        self.assertTrue(200 < kernel.word(kernel.ids[1]) < 300, kernel.word(kernel.ids[1]))
        self.assertEqual(stats_of(DEVICE).undecided, 100)

    def test_packets_that_would_make_a_search_slow_are_searched_by_the_engine(self):
        flows = [
            self.flow(("STR_SEARCH", "q" * length, 0, 0), ("PKT_COUNTER",))
            for length in range(1, 31)
        ]
        short = BROADCAST + b"\x08\0" + b"q" * 50
        slow = BROADCAST + b"\x08\0" + b"q" * 1400
        send("near", short, slow, UDP, count=20)
        for flow in flows:
            self.assert_counts(flow, 40)
        stats = stats_of(DEVICE)
        self.assertEqual((stats.ps_recv, stats.undecided, stats.drop_kernel), (60, 20, 0))

    def test_each_function_says_where_it_runs_and_why(self):
        flow = self.flow(
            ("BPF_FILTER", "udp"),
            ("STR_SEARCH", "xxx", 0, 0),
            ("GAP",),
            ("PKT_COUNTER",),
        )
        loop = self.flow(("BPF_FILTER", "ip6 protochain 6"), ("PKT_COUNTER",))
        forced = self.flow_with(IN_ENGINE, 1, ("BPF_FILTER", "udp"), ("PKT_COUNTER",))
        places = [
            [one.information(function).place.decode() for function in one.ids]
            for one in (flow, loop, forced)
        ]
        after = "engine: a function before it runs in the engine"
        self.assertEqual(
            places,
            [
                ["kernel", "kernel", "engine: it only runs there", "kernel"],
                ["engine: the kernel's verifier refuses it", after],
                ["engine: an option of its flow (MAPI_IN_ENGINE)", after],
            ],
        )
        send("near", UDP, ARP, count=10)
        self.assert_counts(flow, 10)
        self.assert_counts(forced, 10)
        self.assert_counts(loop, 0)

    def test_statistics_of_a_counter_say_why_they_run_in_the_engine(self):
        flow = Flow.on_device(DEVICE)
        self.flows.append(flow)
        counter = flow.apply("PKT_COUNTER")
        stats = flow.apply("STATS", flow.fd, counter, "1")
        flow.connect()
        self.assertEqual(
            flow.information(stats).place,
            b"engine: it needs each packet's time, and another function's result as of that packet",
        )

    def test_the_only_interface_has_the_number_0_in_kernel_and_engine(self):
        zero = self.in_kernel_and_engine(("INTERFACE", 0), ("PKT_COUNTER",))
        one = self.in_kernel_and_engine(("INTERFACE", 1), ("PKT_COUNTER",))
        send("near", UDP, ARP, count=10)
        for flow in zero:
            self.assert_counts(flow, 20)
        for flow in one:
            self.assert_counts(flow, 0)

    def test_kernel_and_engine_sample_the_same_packets_while_flows_come_and_go(self):
        frames = [BROADCAST + b"\x08\0" + bytes([number]) * 60 for number in range(1, 101)]
        both = self.in_kernel_and_engine(("SAMPLE", 7, PERIODIC), ("TO_BUFFER", 0))
        send("near", *frames[:40])
        later = self.in_kernel_and_engine(("SAMPLE", 7, PERIODIC), ("TO_BUFFER", 0))
        send("near", *frames[40:70])
        self.flow(("SAMPLE_PACKETS", "3", "PERIODIC"), ("PKT_COUNTER",)).close()
        send("near", *frames[70:])
        for flow in both:
            self.assertEqual(list(itertools.islice(flow.packets(flow.ids[1]), 14)), frames[6::7])
        for flow in later:
            self.assertEqual(list(itertools.islice(flow.packets(flow.ids[1]), 8)), frames[46::7])

    def test_a_reset_restarts_the_period_in_kernel_and_engine(self):
        flows = self.in_kernel_and_engine(("SAMPLE", 5, PERIODIC), ("PKT_COUNTER",))
        send("near", UDP, count=13)
        for flow in flows:
            self.assert_counts(flow, 2)
            flow.reset(flow.ids[0])
        send("near", UDP, count=4)
        for flow in flows:
            self.assert_counts(flow, 2)
        send("near", UDP, count=1)
        for flow in flows:
            self.assert_counts(flow, 3)

    def test_a_period_goes_on_under_traffic_while_flows_come_and_go(self):
        stays = self.flow(("SAMPLE", 7, PERIODIC), ("PKT_COUNTER",), ("PKTINFO", PKT_SIZE))
        with Sender(UDP, ARP) as sender:
            self.connect_and_close(20, ("SAMPLE", 7, PERIODIC), ("PKT_COUNTER",))
        self.assert_counts(stays, 2 * sender.sent // 7, 1)

    def test_packets_pass_at_random_in_the_kernel(self):
        flow = self.flow(("SAMPLE", 25, PROBABILISTIC), ("PKT_COUNTER",))
        all_pass = self.flow(("SAMPLE", 100, PROBABILISTIC), ("PKT_COUNTER",))
        self.assertEqual(flow.information(flow.ids[0]).place, b"kernel")
        send("near", UDP, count=20000)
        self.assert_counts(all_pass, 20000)
        self.assertAlmostEqual(flow.word(flow.ids[1]), 5000, delta=400)  # 6.5 deviations

    def test_the_last_packet_is_the_same_in_kernel_and_engine(self):
        functions = (("PKTINFO", PKT_SIZE), ("BPF_FILTER", "udp"), ("PKTINFO", PKT_TS))
        kernel, engine = self.in_kernel_and_engine(*functions, ("PKTINFO", PKT_SIZE))
        for extra in 1, 50, 7:
            before = time.time()
            send("near", UDP + b"x" * extra, ARP + b"x" * 2 * extra)
            for flow in kernel, engine:
                self.assertTrue(wait_until(lambda: flow.word(flow.ids[0]) == len(ARP) + 2 * extra))
                self.assertTrue(wait_until(lambda: flow.word(flow.ids[3]) == len(UDP) + extra))
            times = [flow.word(flow.ids[2]) / 2**32 - 2208988800 for flow in (kernel, engine)]
            self.assertAlmostEqual(times[0], times[1], delta=0.001)
            self.assertGreaterEqual(times[0], before - 0.001)
            self.assertLessEqual(times[0], time.time() + 0.001)

    def test_functions_that_need_few_bytes_of_a_packet_get_no_more(self):
        frame = BROADCAST + b"\x08\0" + bytes(range(200))
        functions = (("BPF_FILTER", "ether[150] = 136"), ("TO_BUFFER", 0))
        cut = self.flow_with(SNAP_BYTES, 64, *functions)
        first = list(itertools.islice(self.sent(cut, frame), 1))
        whole = self.flow(*functions)
        search = self.flow(("STR_SEARCH", "\x70\x71", 0, 0), ("PKT_COUNTER",))
        second = list(itertools.islice(self.sent(cut, frame), 1))
        self.assertEqual(first + second, [frame[:64]] * 2)
        self.assertEqual(list(itertools.islice(whole.packets(whole.ids[1]), 1)), [frame])
        self.assert_counts(search, 1)

    def sent(self, flow, frame):
        send("near", frame)
        return flow.packets(flow.ids[1])

    def test_flows_that_come_and_go_under_traffic_lose_no_packet_of_one_that_stays(self):
        stays = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",), ("BYTE_COUNTER",))
        with Sender(UDP, ARP) as sender:
            self.connect_and_close(30, ("PKT_COUNTER",), ("GAP",), ("PKT_COUNTER",))
        self.assert_counts(stays, sender.sent, 1)
        self.assertEqual(stays.word(stays.ids[2]), sender.sent * len(UDP))
        self.assertEqual(stats_of(DEVICE).ps_recv, 2 * sender.sent)

    def test_a_flow_in_the_kernel_and_its_packets_in_the_engine_are_the_same(self):
        with Sender(UDP, ARP) as sender:
            flow = self.flow(
                ("BPF_FILTER", "udp"),
                ("PKT_COUNTER",),
                ("GAP",),
                ("PKT_COUNTER",),
            )
            time.sleep(0.3)
        wait_until(lambda: flow.word(flow.ids[1]) == flow.word(flow.ids[3]), 2)
        time.sleep(0.05)
        stats = stats_of(DEVICE)
        self.assertEqual(flow.word(flow.ids[1]), flow.word(flow.ids[3]), stats.drop_kernel)
        self.assertLess(flow.word(flow.ids[1]), sender.sent)  # it began later

    def test_what_does_not_fit_is_counted(self):
        Flow.library.mapi_set_device_option(DEVICE.encode(), b"buffer_mb", b"1")
        flow = self.flow(("PKT_COUNTER",), ("GAP",), ("PKT_COUNTER",))
        big = BROADCAST + b"\x08\0" + b"x" * 1486
        sent = 0
        while stats_of(DEVICE).drop_kernel == 0 and sent < 400000:
            send("near", big, count=10000)
            sent += 10000
        self.assert_counts(flow, sent, 0)  # the kernel has counted all of them
        self.assertEqual(stats_of(DEVICE).ps_recv, sent)

    def test_a_link_that_goes_down_and_an_interface_that_goes_away_end_no_flow(self):
        flow = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",))
        send("near", UDP, count=10)
        self.assert_counts(flow, 10)
        run("ip", "link", "set", "far", "down")
        run("ip", "link", "set", "far", "up")
        self.assertTrue(wait_until(lambda: is_up("near") and is_up("far")))
        send("near", UDP, count=10)
        self.assert_counts(flow, 20)
        self.take_far_away()
        send("near", UDP, ARP, count=10)
        self.assert_counts(flow, 30)

    def test_a_device_that_drops_counts_packets_that_do_not_reach_the_host(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        flow = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",), device=f"{DEVICE},drop")
        gap = self.flow(("BPF_FILTER", "udp"), ("GAP",), ("PKT_COUNTER",), device=f"{DEVICE},drop")
        send("near", UDP, ARP, count=500)
        self.assert_counts(flow, 500)
        self.assert_counts(gap, 500)
        self.assertEqual(receiver.count(), 0)
        self.assertLess(Flow.library.mapi_create_flow(f"{DEVICE},dorp".encode()), 0)
        self.assertIn('unknown key "dorp"', Flow.error())

    def test_an_interface_without_native_xdp_is_used_in_generic_mode_and_says_so(self):
        flow = self.flow(("BPF_FILTER", "udp"), ("PKT_COUNTER",), device="xdp:lo")
        found = self.flow(("STR_SEARCH", "xxx", 0, 0), ("TO_BUFFER", 0), device="xdp:lo")
        send("lo", UDP, ARP, count=20)
        self.assert_counts(flow, 20)
        self.assertEqual(flow.information(flow.ids[0]).place, b"kernel")
        self.assertEqual(list(itertools.islice(found.packets(found.ids[1]), 20)), [UDP] * 20)
        stats = stats_of("xdp:lo")
        self.assertEqual((stats.ps_recv, stats.ps_drop), (40, 0))
        self.assertTrue(stats.remark.startswith(b"lo: XDP in generic mode"), stats.remark)
        self.assertEqual(stats.message, b"")  # it is no fault

    def test_a_second_device_of_the_interface_waits_for_the_first_to_end_and_else_is_refused(self):
        first = self.flow(("PKT_COUNTER",))
        second = Flow.on_device(f"{DEVICE},drop")
        self.flows.append(second)
        second.ids = [second.apply("PKT_COUNTER")]
        self.assertLess(Flow.library.mapi_connect(second.fd), 0)
        self.assertIn("another device of this process", Flow.error())
        closes = threading.Timer(0.3, first.close)
        begin = time.monotonic()
        closes.start()
        second.connect()
        self.assertGreater(time.monotonic() - begin, 0.2)
        closes.join()
        send("near", UDP, count=10)
        self.assert_counts(second, 10)

    def test_a_program_that_somebody_detaches_is_attached_again_with_the_next_flow(self):
        flow = self.flow(("PKT_COUNTER",))
        links = json.loads(
            subprocess.run(["bpftool", "-j", "link"], capture_output=True, check=True).stdout
        )
        program = attached()["prog"]["id"]
        (own,) = [link["id"] for link in links if link.get("prog_id") == program]
        subprocess.run(["bpftool", "link", "detach", "id", str(own)], check=True)
        self.assertFalse(attached())
        other = self.flow(("BYTE_COUNTER",), ("PKT_COUNTER",))
        self.assertTrue(attached())
        send("near", UDP, count=10)
        self.assert_counts(flow, 10)
        self.assert_counts(other, 10, 1)
        self.assertIn(b"far: somebody else detached its program, 1 time", stats_of(DEVICE).message)

    def test_an_xdp_program_that_is_there_is_named_and_stays(self):
        flow = self.flow(("PKT_COUNTER",))
        program = attached()["prog"]["id"]
        child = in_own_process(
            "from mapi_library import Flow\n"
            f"flow = Flow.on_device({DEVICE!r}); flow.apply('PKT_COUNTER')\n"
            "print(Flow.library.mapi_connect(flow.fd), Flow.error())\n"
        )
        said = child.communicate()[0].decode()
        self.assertIn(f'far: XDP program "mapi" (id {program}) is attached already', said)
        self.assertIn("that of another device of MAPI", said)
        send("near", UDP, count=10)
        self.assert_counts(flow, 10)


if __name__ == "__main__":
    main()
