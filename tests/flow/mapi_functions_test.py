#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results of functions on a capture equal calculations on tshark's fields."""

import collections
import ctypes
import decimal
import functools
import ipaddress
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

import needs
from mapi_library import MFF_PCAP, Flow

BUILD = pathlib.Path(os.environ["NETSLICE_BUILD"])
DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)
CAPTURES = [DATA / "chrissanders+packets/http_espn.pcapng", DATA / "mapi/tracefile"]

PKT_TS, PKT_SIZE = 0, 1
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
def tshark(capture, *fields, filter_text=""):
    """A list of strings per packet, one for each field."""
    command = [
        "tshark",
        "-n",
        "-r",
        capture,
        "-T",
        "fields",
        "-E",
        "occurrence=l",
        "-o",
        "tcp.desegment_tcp_streams:FALSE",
        "-o",
        "ip.defragment:FALSE",
    ]
    for field in fields:
        command += ["-e", field]
    command += ["-Y", filter_text]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def tcpdump(capture, *more):
    return subprocess.run(
        ["tcpdump", "-n", "-tt", "--nano", "-xx", "-r", capture, *more],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def nanoseconds(epoch):
    seconds, fraction = epoch.split(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


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


def ntp(ns):
    seconds, rest = divmod(ns, 10**9)
    return (seconds + 2208988800 << 32) + (rest << 32) // 10**9


def additive_hash(data):
    return (len(data) + sum(data)) % 500009


class Functions(unittest.TestCase):
    def each(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture.name):
                flow = Flow.offline(capture)
                yield capture, flow
                flow.close()

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

    def test_a_file_of_packets_is_what_tcpdump_would_write(self):
        for capture, flow in self.each():
            with tempfile.TemporaryDirectory() as folder:
                whole, some = (
                    pathlib.Path(folder) / "whole.pcap",
                    pathlib.Path(folder) / "some.pcap",
                )
                some.write_text("of an earlier run, and longer than what comes" * 10000)
                flow.apply("BPF_FILTER", "tcp")
                files = (
                    flow.apply("TO_FILE", MFF_PCAP, str(whole), 0),
                    flow.apply("TO_FILE", MFF_PCAP, str(some), 50),
                )
                flow.run()
                self.assertEqual([flow.word(file) for file in files], [0, 0])
                for path, more in (whole, []), (some, ["-c", "50"]):
                    self.assertEqual(tcpdump(path), tcpdump(capture, *more, "tcp"))

    def test_a_file_without_a_packet_is_a_capture_file(self):
        with tempfile.TemporaryDirectory() as folder:
            flow = Flow.offline(CAPTURES[0])
            flow.apply("BPF_FILTER", "udp port 1")
            flow.apply("TO_FILE", MFF_PCAP, folder + "/empty.pcap", 0)
            flow.run()
            self.assertEqual(tcpdump(folder + "/empty.pcap"), "")
            flow.close()

    def test_rows_of_results_have_what_each_interval_added(self):
        for capture, flow in self.each():
            with tempfile.TemporaryDirectory() as folder:
                count, size, time = (
                    flow.apply("PKT_COUNTER"),
                    flow.apply("PKTINFO", PKT_SIZE),
                    flow.apply("PKTINFO", PKT_TS),
                )
                statistics = flow.apply("STATS", flow.fd, size, "0")
                columns = ",".join(
                    f"{function}@{flow.fd}" for function in (count, size, time, statistics)
                )
                flow.apply(
                    "RES2FILE",
                    "1,1,2,3",
                    columns,
                    "count size time stats",
                    folder + "/periods",
                    "5s",
                    1,
                )
                flow.apply(
                    "RES2FILE",
                    "1,1",
                    f"{count}@{flow.fd},{size}@{flow.fd}",
                    "each",
                    folder + "/each",
                    "0",
                    0,
                )
                flow.apply(
                    "RES2FILE",
                    "1,3",
                    f"{count}@{flow.fd},{statistics}@{flow.fd}",
                    "end",
                    folder + "/end",
                    "-1",
                    0,
                )
                flow.apply("RES2FILE", "0", f"{count}@{flow.fd}", "raw", folder + "/raw", "-1", 0)
                flow.run()
                rows = {
                    name: (pathlib.Path(folder) / name).read_bytes()
                    for name in ("periods", "each", "end", "raw")
                }
            packets = [
                (nanoseconds(epoch), int(length))
                for epoch, length in tshark(capture, "frame.time_epoch", "frame.len")
            ]
            sizes = [length for _, length in packets]

            def stats(upto):
                return (
                    f"{upto}  {sum(sizes[:upto])}.000000 "
                    f"{sum(x * x for x in sizes[:upto])}.000000 {min(sizes[:upto])} "
                    f"{max(sizes[:upto])}"
                )

            wanted, begin, before = ["count size time stats"], packets[0][0], 0
            for i, (time, _) in enumerate(packets + [(packets[-1][0] + 5 * 10**9, 0)]):
                for silent in range((time - begin) // (5 * 10**9)):
                    begin += 5 * 10**9
                    wanted.append(
                        f"0 0 0.000000000000 {stats(i)}"
                        if silent
                        else (
                            f"{i - before} {sizes[i - 1]} "
                            f"{decimal.Decimal(ntp(packets[i - 1][0])) / 2**32:.12f} {stats(i)}"
                        )
                    )
                    before = i
            self.assertEqual(
                [line.rstrip() for line in rows["periods"].decode().splitlines()], wanted
            )
            self.assertEqual(
                rows["each"].decode().splitlines(),
                ["each"] + [f"{i} {length} " for i, length in enumerate(sizes, 1)],
            )
            self.assertEqual(
                rows["end"].decode().splitlines(), ["end", f"{len(sizes)} {stats(len(sizes))} "]
            )
            self.assertEqual(rows["raw"], b"raw\n" + struct.pack("<QQ", 8, len(sizes)) + b"\n")

    def test_what_does_not_fit_on_a_full_disk_is_counted(self):
        for _, flow in self.each():
            file = flow.apply("TO_FILE", MFF_PCAP, "/dev/full", 0)
            count = flow.apply("PKT_COUNTER")
            flow.run()
            self.assertEqual(flow.dropped(file), flow.word(count))


if __name__ == "__main__":
    needs.tools("tcpdump", "tshark")
    needs.captures(*CAPTURES)
    unittest.main()
