#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FLOW_REPORT: messages of NetFlow v5, v9 and IPFIX, as read by tshark and nfcapd, compared with
flows calculated from the packets."""

import collections
import ctypes
import functools
import ipaddress
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import unittest

import mapi_flows
import needs
from mapi_collectors import Nfcapd, Receiver, as_capture, milliseconds
from mapi_library import Flow

DATA = pathlib.Path(__file__).resolve().parents[3] / "shared/data"
NDPI = DATA / "ntop+nDPI/tests/cfgs/default/pcap"
MANY = DATA / "seladb+PcapPlusPlus/Tests/Pcap++Test/PcapExamples/example.pcap"
VLAN = DATA / "LibtraceTeam+libtrace/test/traces/vlan.pcap"
CAPTURES = [
    NDPI / "android.pcap",
    NDPI / "signal.pcap",
    NDPI / "teamviewer.pcap",
    DATA / "debian+tcpflow-1.6.1/tests/local.pcap",
    MANY,
]
SOME = [CAPTURES[0], MANY]
IDLE_NS, ACTIVE_NS = 30 * 10**9, 120 * 10**9
MESSAGE_BYTES = 1400
RECORD = (
    "%IP_SRC_ADDR %IP_DST_ADDR %L4_SRC_PORT %L4_DST_PORT %PROT %PKTS %BYTES %TCP_FLAGS "
    "%FLOW_START_MS %FLOW_END_MS %IP_PROTO_VER"
)
FIELDS = [
    "cflow.srcport",
    "cflow.dstport",
    "cflow.protocol",
    "cflow.packets",
    "cflow.octets",
    "cflow.tcpflags",
    "cflow.abstimestart",
    "cflow.abstimeend",
    "cflow.ip_version",
]
ADDRESSES = ["cflow.srcaddr", "cflow.dstaddr", "cflow.srcaddrv6", "cflow.dstaddrv6"]

FIRST, LEAST, GREATEST = (lambda values: values[0]), min, max
OTHERS = [  # element, tshark's field, how and from which field of the packets it is derived
    ("IP_SRC_ADDR", "cflow.srcaddr", (FIRST, "ip.src")),
    ("IP_DST_ADDR", "cflow.dstaddr", (FIRST, "ip.dst")),
    ("L4_SRC_PORT", "cflow.srcport", (FIRST, "tcp.srcport")),
    ("L4_DST_PORT", "cflow.dstport", (FIRST, "tcp.dstport")),
    ("MIN_TTL", "cflow.ttl_min", (LEAST, "ip.ttl")),
    ("MAX_TTL", "cflow.ttl_max", (GREATEST, "ip.ttl")),
    ("MIN_PKT_LNGTH", "cflow.length_min", (LEAST, "ip.len")),
    ("MAX_PKT_LNGTH", "cflow.length_max", (GREATEST, "ip.len")),
    ("TOS", "cflow.tos", (FIRST, "ip.dsfield")),
    ("TCP_WINDOW", "cflow.tcp_windows_size", (FIRST, "tcp.window_size_value")),
    ("TCP_SEQUENCE", "cflow.tcp_seq_num", (FIRST, "tcp.seq_raw")),
    ("IPV4_IDENT", "cflow.frag_ident", (FIRST, "ip.id")),
    ("SRC_MAC", "cflow.srcmac", (FIRST, "eth.src")),
    ("DST_MAC", "cflow.dstmac", (FIRST, "eth.dst")),
    ("VLAN_TAG", "cflow.vlanid", (FIRST, "vlan.id")),
    ("PKTLEN_IPV4", "cflow.ipv4_total_length", (FIRST, "ip.len")),
    ("FLOW_START_US", "cflow.abstimestart", (FIRST, "frame.time")),
]

Reported = collections.namedtuple("Reported", "key packets octets tcp_flags first_ms last_ms")


class Report(ctypes.Structure):
    _fields_ = [
        ("recno", ctypes.c_uint64),
        ("size", ctypes.c_uint32),
        ("bytes", ctypes.c_uint8 * 2000),
    ]

    def message(self):
        return bytes(self.bytes[: self.size])


def plain(text):
    """A number as an int, a time in microseconds, anything else unchanged."""
    try:
        return str(int(text, 0))
    except ValueError:
        return text if "UTC" not in text else re.sub(r" +", " ", text.removesuffix(" UTC"))[:-3]


def other_elements(capture):
    """The values of OTHERS for each IPv4 flow of TCP."""
    # tshark prints a repeated field only once
    fields = list(dict.fromkeys(field for *_, (_, field) in OTHERS))
    packets = collections.defaultdict(list)
    for row in tshark(capture, *fields):
        columns = dict(zip(fields, (column.partition(";")[0] for column in row)))
        row = [columns[field] for *_, (_, field) in OTHERS]
        if row[0] and row[2]:
            packets[tuple(row[:4])].append([plain(text or "0") for text in row])
    for of_flow in packets.values():
        columns = [list(column) for column in zip(*of_flow)]
        yield tuple(
            how(column) if how is FIRST else str(how(map(int, column)))
            for column, (*_, (how, _)) in zip(columns, OTHERS)
        )


@functools.cache
def expected_of(capture):
    flows = mapi_flows.flows_of(mapi_flows.read_packets(capture), IDLE_NS, ACTIVE_NS)
    return collections.Counter(
        Reported(
            one.key,
            one.packets,
            one.ip_bytes,
            one.tcp_flags,
            one.first_ns // 10**6,
            one.last_ns // 10**6,
        )
        for one in flows
    )


def tshark(path, *fields):
    command = [
        "tshark",
        "-n",
        "-r",
        str(path),
        "-d",
        "udp.port==2055,cflow",
        "-T",
        "fields",
        "-E",
        "aggregator=;",
    ]
    for field in fields:
        command += ["-e", field]
    environment = dict(os.environ, TZ="UTC")
    return [
        line.split("\t")
        for line in subprocess.run(
            command, check=True, capture_output=True, text=True, env=environment
        ).stdout.splitlines()
    ]


def read_records(path):
    """Flows with ports, from records like RECORD."""
    reported = collections.Counter()
    for row in tshark(path, *FIELDS, *ADDRESSES):
        columns = [column.split(";") if column else [] for column in row]
        addresses = {4: iter(zip(*columns[9:11])), 6: iter(zip(*columns[11:13]))}
        for (
            source_port,
            destination_port,
            protocol,
            packets,
            octets,
            flags,
            first,
            last,
            version,
        ) in zip(*columns[:9]):
            source, destination = map(ipaddress.ip_address, next(addresses[int(version)]))
            key = source, destination, int(source_port), int(destination_port), int(protocol)
            if is_judged(key):
                reported[
                    Reported(
                        key,
                        int(packets),
                        int(octets),
                        int(flags, 16),
                        milliseconds(first),
                        milliseconds(last),
                    )
                ] += 1
    return reported


def is_judged(key):
    return (key[2] or key[3]) and key[4] in (mapi_flows.TCP, mapi_flows.UDP)


class FlowReport(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def report(self, capture, *reports, lost=0):
        flow = Flow.offline(capture)
        functions = [flow.apply("FLOW_REPORT", *report) for report in reports]
        flow.run()
        self.assertEqual(
            [flow.dropped(function) for function in functions], [lost] * len(functions)
        )
        flow.close()

    def check_messages(self, messages):
        self.assertTrue(messages)
        self.assertLessEqual(max(map(len, messages)), MESSAGE_BYTES)

    def test_ipfix_files_report_every_flow_as_tshark_sees_its_packets(self):
        flows = 0
        for capture in CAPTURES:
            with self.subTest(capture.name):
                path = self.folder / "flows.ipfix"
                self.report(capture, ("IPFIX", str(path), "", RECORD))
                reported = read_records(path)
                self.assertEqual(reported, expected_of(capture))
                self.check_messages([bytes(int(length)) for (length,) in tshark(path, "cflow.len")])
                flows += reported.total()
        self.assertGreater(flows, 400)

    def test_netflow_9_and_ipfix_over_udp_report_the_same_flows(self):
        for capture in SOME:
            for name in ("NETFLOW_V9", "IPFIX"):
                with self.subTest(capture=capture.name, format=name):
                    receiver = Receiver()
                    self.report(capture, (name, receiver.address, "", RECORD))
                    messages = receiver.take()
                    self.check_messages(messages)
                    as_capture(messages, self.folder / "messages.pcap")
                    self.assertEqual(
                        read_records(self.folder / "messages.pcap"), expected_of(capture)
                    )

    def test_nfcapd_reads_all_three_formats_with_their_times(self):
        for name in ("NETFLOW_V5", "NETFLOW_V9", "IPFIX"):
            with self.subTest(name):
                has_ipv6 = name != "NETFLOW_V5"
                folder = self.folder / name
                folder.mkdir()
                collector = Nfcapd(folder)
                wanted, dropped = collections.Counter(), 0
                for capture in SOME:
                    flow = Flow.offline(capture)
                    function = flow.apply("FLOW_REPORT", name, collector.address, "", "")
                    flow.run()
                    dropped += flow.dropped(function)
                    flow.close()
                    for reported, count in expected_of(capture).items():
                        if has_ipv6 or reported.key[0].version == 4:
                            wanted[
                                reported.key,
                                reported.first_ms,
                                reported.last_ms,
                                reported.packets,
                                reported.octets,
                            ] += count
                reported = collections.Counter(
                    (row.key, row.first_ms, row.last_ms, row.packets, row.octets)
                    for row in collector.take()
                    if is_judged(row.key)
                )
                self.assertEqual(reported, wanted)
                self.assertEqual(dropped > 0, not has_ipv6)

    def test_sequence_numbers_count_what_each_format_counts(self):
        receivers = {name: Receiver() for name in ("NETFLOW_V5", "NETFLOW_V9", "IPFIX")}
        flow = Flow.offline(MANY)
        for name, receiver in receivers.items():
            flow.apply("FLOW_REPORT", name, receiver.address, "", "")
        flow.run()
        flow.close()
        messages = {name: receiver.take() for name, receiver in receivers.items()}
        counted = 0
        for message in messages["NETFLOW_V5"]:
            version, count = struct.unpack_from("!HH", message)
            self.assertEqual(
                (version, struct.unpack_from("!I", message, 16)[0], len(message)),
                (5, counted, 24 + 48 * count),
            )
            counted += count
        self.assertGreater(counted, 100)
        self.assertEqual(
            [struct.unpack_from("!I", message, 12)[0] for message in messages["NETFLOW_V9"]],
            list(range(len(messages["NETFLOW_V9"]))),
        )
        as_capture(messages["IPFIX"], self.folder / "ipfix.pcap")
        counted = 0
        for sequence, packets in tshark(
            self.folder / "ipfix.pcap", "cflow.sequence", "cflow.packets"
        ):
            self.assertEqual(int(sequence), counted)
            counted += len(packets.split(";")) if packets else 0
        self.assertGreater(counted, 100)

    def test_shared_memory_gives_the_messages_one_by_one(self):
        for name in ("NETFLOW_V9", "IPFIX"):
            flow = Flow.offline(MANY)
            function = flow.apply("FLOW_REPORT", name, "SHMEM", "", RECORD)
            flow.connect()
            reports = list(flow.each(function, Report))
            flow.close()
            self.assertEqual([report.recno for report in reports], list(range(len(reports))))
            self.check_messages([report.message() for report in reports])
            as_capture([report.message() for report in reports], self.folder / "messages.pcap")
            self.assertEqual(read_records(self.folder / "messages.pcap"), expected_of(MANY))

    def test_data_lost_at_a_full_disk_or_a_closed_port_is_counted(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closed:
            closed.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{closed.getsockname()[1]}"
        for name in ("NETFLOW_V9", "IPFIX"):
            whole = self.folder / "whole.pcap"
            receiver = Receiver()
            self.report(MANY, (name, receiver.address, "", ""))
            as_capture(receiver.take(), whole)
            flows = sum(
                len(packets.split(";")) for (packets,) in tshark(whole, "cflow.packets") if packets
            )
            self.report(MANY, (name, "/dev/full", "", ""), (name, address, "", ""), lost=flows)

    def test_a_key_of_fewer_parts_merges_their_packets(self):
        path = self.folder / "flows.ipfix"
        flow = Flow.offline(CAPTURES[0])
        flow.apply("BPF_FILTER", "ip and tcp")
        flow.apply("FLOW_REPORT", "IPFIX", str(path), "%IP_SRC_ADDR %PROT", "IP_SRC_ADDR PROT PKTS")
        flow.run()
        flow.close()
        reported = collections.Counter()
        for protocols, packets, sources in tshark(
            path, "cflow.protocol", "cflow.packets", "cflow.srcaddr"
        ):
            if packets:
                self.assertEqual(set(protocols.split(";")), {"6"})
                for count, source in zip(packets.split(";"), sources.split(";")):
                    reported[ipaddress.ip_address(source)] += int(count)
        expected = collections.Counter()
        for packet in mapi_flows.read_packets(CAPTURES[0]):
            if packet.protocol == mapi_flows.TCP and packet.source.version == 4:
                expected[packet.source] += 1
        self.assertEqual(reported, expected)

    def test_other_elements_match_the_packets(self):
        os.environ["MAPI_CONF"] = str(self.folder / "mapi.conf")
        self.addCleanup(os.environ.pop, "MAPI_CONF")
        (self.folder / "mapi.conf").write_text(
            "[ipfixflib]\nidleTimeout=65535\nlifetimeTimeout=65535\n"
        )
        for capture, expression in ((MANY, "ip and tcp"), (VLAN, "vlan and ip and tcp")):
            with self.subTest(capture.name):
                path = self.folder / "flows.ipfix"
                flow = Flow.offline(capture)
                flow.apply("BPF_FILTER", expression)
                flow.apply(
                    "FLOW_REPORT", "IPFIX", str(path), "", " ".join(name for name, *_ in OTHERS)
                )
                flow.run()
                flow.close()
                reported = []
                for row in tshark(path, *(field for _, field, _ in OTHERS)):
                    reported += zip(*(column.split(";") for column in row))
                self.assertEqual(
                    sorted(tuple(map(plain, flow)) for flow in reported if any(flow)),
                    sorted(other_elements(capture)),
                )

    def test_in_a_small_cache_flows_end_early_and_no_packet_is_lost(self):
        os.environ["MAPI_CONF"] = str(self.folder / "mapi.conf")
        self.addCleanup(os.environ.pop, "MAPI_CONF")
        (self.folder / "mapi.conf").write_text("[ipfixflib]\nhashSize=16\n")
        path = self.folder / "flows.ipfix"
        flow = Flow.offline(MANY)
        flow.apply("BPF_FILTER", "ip and (tcp or udp)")
        count = flow.apply("PKT_COUNTER")
        flow.apply("FLOW_REPORT", "IPFIX", str(path), "", "PKTS FLOW_END_REASON")
        flow.run()
        reported, reasons = 0, set()
        for packets, of_flows in tshark(path, "cflow.packets", "cflow.flow_end_reason"):
            reported += sum(map(int, packets.split(";"))) if packets else 0
            reasons.update(of_flows.split(";"))
        self.assertEqual(reported, flow.word(count))
        self.assertIn("5", reasons)
        flow.close()

    def test_wrong_arguments_are_refused_with_a_message_that_names_them(self):
        flow = Flow.offline(CAPTURES[0])
        path = self.folder / "flows"
        for arguments, number, word in (
            (("IPFIX_V2", str(path), "", ""), 7001, "IPFIX_V2"),
            (("IPFIX", str(path), "", "PKTS NO_SUCH_THING"), 7004, "NO_SUCH_THING"),
            (("IPFIX", str(path), "PKTS", ""), 7003, "PKTS"),
            (("IPFIX", str(path), "IP_SRC_ADDR", "IP_DST_ADDR"), 7004, "IP_DST_ADDR"),
            (("NETFLOW_V5", str(path), "", "PKTS"), 7004, "empty"),
            (("IPFIX", "/no/such/folder/flows", "", ""), 6155, "/no/such/folder"),
            (("IPFIX", "no.such.host.invalid:2055", "", ""), 7006, "no.such.host.invalid"),
        ):
            self.assertEqual(flow.try_apply("FLOW_REPORT", *arguments), -1, arguments)
            error = flow.error()
            self.assertTrue(error.startswith(str(number)) and word in error, error)
        self.assertFalse(path.exists())
        flow.close()

    def test_mapi_conf_sets_timeouts_and_the_observation_domain(self):
        configuration = self.folder / "mapi.conf"
        os.environ["MAPI_CONF"] = str(configuration)
        self.addCleanup(os.environ.pop, "MAPI_CONF")
        configuration.write_text(
            "[ipfixflib]\nobservationDomain=77\nidleTimeout = 5\nlifetimeTimeout=20\ntraceMode=1\n"
        )
        path = self.folder / "flows.ipfix"
        self.report(MANY, ("IPFIX", str(path), "", RECORD))
        flows = mapi_flows.flows_of(mapi_flows.read_packets(MANY), 5 * 10**9, 20 * 10**9)
        self.assertEqual(read_records(path).total(), len(flows))
        self.assertEqual({domain for (domain,) in tshark(path, "cflow.od_id")}, {"77"})
        for line in ("idleTimeout=0", "idleTimeout=x", "someTimeout=5"):
            configuration.write_text("[ipfixflib]\n" + line + "\n")
            flow = Flow.offline(MANY)
            self.assertEqual(flow.try_apply("FLOW_REPORT", "IPFIX", str(path), "", ""), -1)
            error = flow.error()
            self.assertTrue(error.startswith("6161") and line in error, error)
            flow.close()


if __name__ == "__main__":
    needs.tools("tshark", "nfcapd", "nfdump")
    needs.captures(*CAPTURES)
    unittest.main()
