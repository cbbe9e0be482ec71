#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results of functions on a capture equal calculations on tshark's fields."""

import collections
import ctypes
import functools
import ipaddress
import json
import os
import pathlib
import socket
import subprocess
import sys

from mapi_functions_library import (
    CAPTURES,
    PKT_SIZE,
    FunctionsTest,
    main,
    nanoseconds,
    ntp,
    tshark,
)
from mapi_library import Flow

BUILD = pathlib.Path(os.environ["NETSLICE_BUILD"])
ULL, WINDOW, ABOVE, ABOVE_DIFF = 2, 128, 1, 8  # of THRESHOLD
NTP_SECOND = 1 << 32
FILTER = "ip and (tcp or udp) and not icmp"


class Event(ctypes.Structure):
    """Event of BUCKET and THRESHOLD."""

    _fields_ = [("timestamp", ctypes.c_uint64), ("value", ctypes.c_uint64)]


class Sample(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint32)
        for name in (
            "ipv4_source",
            "ipv4_destination",
            "source_port",
            "destination_port",
            "sequence",
            "mapi2_flags",
            "protocol",
        )
    ] + [
        ("timestamp", ctypes.c_uint64),
        ("source", ctypes.c_uint8 * 16),
        ("destination", ctypes.c_uint8 * 16),
        ("family", ctypes.c_uint16),
        ("tcp_flags", ctypes.c_uint8),
        ("reserved", ctypes.c_uint8 * 5),
    ]

    def published(self):
        """Addresses and flags as in MAPI 2's struct sample."""
        return (
            self.ipv4_source.to_bytes(4, sys.byteorder),
            self.ipv4_destination.to_bytes(4, sys.byteorder),
            self.mapi2_flags,
        )

    def wanted(self):
        is_ipv4 = self.family == socket.AF_INET
        flags = sum(
            mapi2
            for header, mapi2 in ((1, 8), (2, 1), (4, 4), (8, 16), (16, 2))
            if self.tcp_flags & header
        )
        return (
            bytes(self.source)[:4] if is_ipv4 else bytes(4),
            bytes(self.destination)[:4] if is_ipv4 else bytes(4),
            flags,
        )

    def address(self, name):
        return str(
            ipaddress.ip_address(
                bytes(getattr(self, name))[: 4 if self.family == socket.AF_INET else 16]
            )
        )


@functools.lru_cache(None)
def datagrams(capture):
    """A list: bytes of each packet that FILTER passes, from the link, IP, transport and application
    header on, as far as captured."""
    command = [
        "tshark",
        "-n",
        "-r",
        capture,
        "-T",
        "json",
        "-x",
        "-o",
        "tcp.desegment_tcp_streams:FALSE",
        "-o",
        "ip.defragment:FALSE",
        "--no-duplicate-keys",
        "-j",
        "frame ip tcp udp",
        "-Y",
        FILTER,
    ]
    found = []
    for decoded in json.loads(subprocess.run(command, capture_output=True, check=True).stdout):
        layers = decoded["_source"]["layers"]
        frame = bytes.fromhex(layers["frame_raw"][0])
        _, ip, ip_header_bytes, *_ = layers["ip_raw"]
        packet = frame[ip : ip + int(layers["ip"]["ip.len"])]
        datagram = packet[ip_header_bytes:]
        header = layers.get("tcp_raw") or layers.get("udp_raw")
        found.append((frame, packet, datagram, datagram[header[2] :] if header else b""))
    return found


def additive_hash(data):
    return (len(data) + sum(data)) % 500009


class Functions(FunctionsTest):
    def test_a_distribution_has_each_packets_value_in_its_interval(self):
        for capture, flow in self.each():
            size = flow.apply("PKTINFO", PKT_SIZE)
            distribution = flow.apply("DIST", flow.fd, size, "100", "1050", "100")
            flow.run()
            wanted = collections.Counter()
            for (length,) in tshark(capture, "frame.len"):
                value = int(length)
                wanted[0 if value < 100 else 10 if value >= 1050 else (value - 100) // 100] += 1
                wanted[11] += value < 100
            self.assertEqual(
                flow.words(distribution), [100, 1050, 10] + [wanted[i] for i in range(12)]
            )

    def test_a_distribution_of_gaps_accepts_times(self):
        for capture, flow in self.each():
            gap = flow.apply("GAP")
            distribution = flow.apply("DIST", flow.fd, gap, "0", "100ms", "10ms")
            flow.run()
            times = [nanoseconds(epoch) for (epoch,) in tshark(capture, "frame.time_epoch")]
            wanted = collections.Counter()
            for before, after in zip(times, times[1:]):
                wanted[min(max(after - before, 0) // 10**7, 10)] += 1
            self.assertEqual(flow.words(distribution)[3:], [wanted[i] for i in range(12)])

    def test_hashes_are_of_the_bytes_from_their_layer_on(self):
        for capture in CAPTURES:
            for layer in range(4):
                with self.subTest(capture=capture.name, layer=layer):
                    flow = Flow.offline(capture)
                    flow.apply("BPF_FILTER", FILTER)
                    value = flow.apply("HASH", layer)
                    distribution = flow.apply("DIST", flow.fd, value, "0", "500009", "2")
                    flow.run()
                    wanted = collections.Counter(
                        additive_hash(layers[layer]) // 2 for layers in datagrams(capture)
                    )
                    found = {
                        i: count for i, count in enumerate(flow.words(distribution)[3:]) if count
                    }
                    flow.close()
                    self.assertEqual(found, dict(wanted))

    def test_bursts_are_packets_as_close_as_the_line_rate_allows(self):
        least, greatest, step, apart_ns, late_ns, early_ns, mbit_per_s = (
            500,
            9000,
            500,
            96,
            200000,
            50000,
            100,
        )
        for capture, flow in self.each():
            function = flow.apply(
                "BURST", least, greatest, step, apart_ns, late_ns, early_ns, mbit_per_s
            )
            flow.run()
            categories = (greatest - least) // step + 2

            def category(count):
                return 0 if count < least else min((count - least) // step + 1, categories - 1)

            wanted = [[0] * 5 for _ in range(categories)]
            packets = [
                (nanoseconds(epoch), int(length))
                for epoch, length in tshark(capture, "frame.time_epoch", "frame.len")
            ]
            burst, expected = [], 0

            def end():
                row = wanted[category(sum(burst))]
                row[0] += sum(burst)
                row[1] += len(burst)
                row[2] += 1

            for time, length in packets:
                if burst and not expected - early_ns <= time <= expected + late_ns:
                    end()
                    burst = []
                    gap = max(time - expected, 0) * mbit_per_s // 8000
                    wanted[category(gap)][3] += gap
                    wanted[category(gap)][4] += 1
                burst.append(length)
                expected = time + length * 8000 // mbit_per_s + apart_ns
            end()
            self.assertEqual(flow.words(function), sum(wanted, []))
            self.assertEqual(sum(row[1] for row in wanted), len(packets))

    def test_buckets_have_what_each_interval_added(self):
        interval = 10**9
        for capture, flow in self.each():
            count = flow.apply("PKT_COUNTER")
            added = flow.apply("BUCKET", flow.fd, count, "1s", 1)
            stood = flow.apply("BUCKET", flow.fd, count, "1s", 0)
            each = flow.apply("BUCKET", flow.fd, count, "100", 1)
            end = flow.apply("BUCKET", flow.fd, count, "-1", 0)
            flow.run()
            times = [nanoseconds(epoch) for (epoch,) in tshark(capture, "frame.time_epoch")]
            begin, wanted, packets = times[0], [], 0
            for time in times:
                while time - begin >= interval:
                    begin += interval
                    wanted.append((ntp(begin), packets))
                packets += 1
            wanted.append((ntp(begin + interval), packets))
            self.assertEqual(
                [(entry.timestamp, entry.value) for entry in flow.each(stood, Event)], wanted
            )
            before = [0] + [packets for _, packets in wanted]
            self.assertEqual(
                [(entry.timestamp, entry.value) for entry in flow.each(added, Event)],
                [(time, packets - earlier) for (time, packets), earlier in zip(wanted, before)],
            )
            hundreds = [100] * (len(times) // 100) + (
                [len(times) % 100] if len(times) % 100 else []
            )
            self.assertEqual([entry.value for entry in flow.each(each, Event)], hundreds)
            self.assertEqual(
                [(entry.timestamp, entry.value) for entry in flow.each(end, Event)],
                [(ntp(times[-1]), len(times))],
            )

    def test_thresholds_report_when_a_result_passes_its_bound(self):
        for capture, flow in self.each():
            size = flow.apply("PKTINFO", PKT_SIZE)
            count = flow.apply("BYTE_COUNTER")
            above = flow.apply(
                "THRESHOLD", ULL, flow.fd, size, ctypes.c_uint64(1000), ABOVE, 0, 0, 0
            )
            differs = flow.apply(
                "THRESHOLD", ULL, flow.fd, count, ctypes.c_uint64(1000), ABOVE_DIFF, 0, 0, 0
            )
            # in the last second, at the end of each of its tenths
            window = flow.apply(
                "THRESHOLD",
                ULL | WINDOW,
                flow.fd,
                count,
                ctypes.c_uint64(20000),
                ABOVE,
                1000,
                10,
                0,
            )
            three = flow.apply(
                "THRESHOLD", ULL, flow.fd, size, ctypes.c_uint64(1000), ABOVE, 0, 0, 3
            )
            further = flow.apply("PKT_COUNTER")
            flow.run()
            packets = [
                (nanoseconds(epoch), int(length))
                for epoch, length in tshark(capture, "frame.time_epoch", "frame.len")
            ]
            great = [(ntp(time), length) for time, length in packets if length > 1000]
            self.assertGreater(len(great), 3)
            self.assertEqual(
                [(event.timestamp, event.value) for event in flow.each(above, Event)], great
            )
            self.assertEqual(
                [(event.timestamp, event.value) for event in flow.each(differs, Event)],
                great[packets[0][1] > 1000 :],
            )
            self.assertEqual(
                [(event.timestamp, event.value) for event in flow.each(three, Event)], great[:3]
            )
            # the packet of the third event is not passed on
            self.assertEqual(
                flow.words(further),
                [next(i for i, (time, _) in enumerate(packets) if ntp(time) == great[2][0])],
            )
            part, begin, wanted, growth, now = 10**8, packets[0][0], [], [], 0
            for time, length in packets:
                while time - begin >= part:
                    begin += part
                    growth, now = (growth + [now])[-10:], 0
                    if sum(growth) > 20000:
                        wanted.append((ntp(begin), sum(growth)))
                now += length
            self.assertEqual(
                [(event.timestamp, event.value) for event in flow.each(window, Event)], wanted
            )

    def test_a_hash_samples_whole_flows_about_as_many_as_requested(self):
        fields = [
            "frame.time_epoch",
            "ip.src",
            "ip.dst",
            "ip.proto",
            "tcp.srcport",
            "tcp.dstport",
            "udp.srcport",
            "udp.dstport",
            "tcp.seq_raw",
            "tcp.flags",
        ]
        for capture, flow in self.each():
            flow.apply("BPF_FILTER", FILTER)
            all_packets = flow.apply("PKT_COUNTER")
            samples = flow.apply("HASHSAMP", 512, 1)
            sampled_packets = flow.apply("PKT_COUNTER")
            flow.run()
            packets = []
            for time, source, destination, protocol, *rest in tshark(
                capture, *fields, filter_text=FILTER
            ):
                ports = [port for port in rest[:4] if port]
                if len(ports) == 2:
                    packets.append(
                        (
                            ntp(nanoseconds(time)),
                            source,
                            destination,
                            int(protocol),
                            *map(int, ports),
                            int(rest[4] or "0"),
                            int(rest[5] or "0", 16) & 255,
                        )
                    )
            kept = list(flow.each(samples, Sample))
            self.assertEqual([one.published() for one in kept], [one.wanted() for one in kept])
            found = [
                (
                    one.timestamp,
                    one.address("source"),
                    one.address("destination"),
                    one.protocol,
                    one.source_port,
                    one.destination_port,
                    one.sequence,
                    one.tcp_flags,
                )
                for one in kept
            ]
            chosen = {packet[1:6] for packet in found}
            self.assertEqual(found, [packet for packet in packets if packet[1:6] in chosen])
            self.assertEqual(flow.words(sampled_packets), [len(found)])
            self.assertLessEqual(len(packets), flow.words(all_packets)[0])
            flows = {packet[1:6] for packet in packets}
            self.assertLess(abs(len(chosen) - len(flows) / 2), 4 * (len(flows) / 4) ** 0.5)


if __name__ == "__main__":
    main()
