#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""VLAN and interface in flow keys, biflows, and what a report leaves out: compared with ipfixDump
of libfixbuf, tshark and the packets."""

import collections
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

import mapi_expired_flows_test as expired_flows
import mapi_flows
import needs
from mapi_library import Flow
from mapi_sanitizer import BUILD

DATA = pathlib.Path(__file__).resolve().parents[3] / "shared/data"
CAPTURES = [
    DATA / "ntop+nDPI/tests/cfgs/default/pcap/android.pcap",
    DATA / "seladb+PcapPlusPlus/Tests/Pcap++Test/PcapExamples/example.pcap",
]
SECOND = 10**9
FIVE = "IP_SRC_ADDR IP_DST_ADDR L4_SRC_PORT L4_DST_PORT PROT"
RECORD = FIVE + " PKTS BYTES TCP_FLAGS FLOW_START_MS FLOW_END_MS"


def udp_frame(tags, source_port=1000, payload=b""):
    udp = struct.pack("!HHHH", source_port, 53, 8 + len(payload), 0) + payload
    packet = (
        struct.pack(
            "!BBHHHBBH4B4B", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, 10, 0, 0, 1, 10, 0, 0, 2
        )
        + udp
    )
    return (
        bytes(12) + b"".join(struct.pack("!HH", 0x8100, tag) for tag in tags) + b"\x08\x00" + packet
    )


def write_pcapng(path, frames):
    """(interface, frame) each, one second apart."""

    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    content = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    content += block(1, struct.pack("<HHI", 1, 0, 65535)) * 3
    for i, (interface, frame) in enumerate(frames):
        time_us = (1700000000 + i) * 10**6
        content += block(
            6,
            struct.pack(
                "<IIIII", interface, time_us >> 32, time_us & 0xFFFFFFFF, len(frame), len(frame)
            )
            + frame,
        )
    path.write_bytes(content)


def ipfix_records(path):
    """Name -> text of each data record, from ipfixDump; names of the other direction begin with
    "reverse"."""
    text = subprocess.run(
        ["ipfixDump", "--in", str(path)], check=True, capture_output=True, text=True
    ).stdout
    records = []
    for part in re.split(r"^--- data record", text, flags=re.MULTILINE | re.IGNORECASE)[1:]:
        part = re.split(r"^---", part.partition("\n")[2], flags=re.MULTILINE)[0]
        records.append(dict(re.findall(r"^\s+\([\d/]+\)\s+(\w+) : (.*?)\s*$", part, re.MULTILINE)))
    return records


class Keys(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.capture = self.folder / "capture.pcapng"
        # Untagged, tagged and double-tagged, on three interfaces; all of the same five-tuple.
        self.frames = [
            (0, ()),
            (0, (7,)),
            (0, (7, 8)),
            (1, (7,)),
            (2, (9,)),
            (0, (7,)),
            (2, ()),
            (0, ()),
        ]
        write_pcapng(
            self.capture, [(interface, udp_frame(tags)) for interface, tags in self.frames]
        )

    def wanted(self, *parts):
        """Packets of each (vlan, interface), 0 if it is not part of the key."""
        return collections.Counter(
            (tags[0] if tags and "VLAN_TAG" in parts else 0, interface if "INGRESS" in parts else 0)
            for interface, tags in self.frames
        )

    def report(self, name, key, record=RECORD, capture=None, before=()):
        path = self.folder / "flows"
        flow = Flow.offline(capture or self.capture)
        for function in before:
            flow.apply(*function)
        function = flow.apply("FLOW_REPORT", name, str(path), key, record)
        flow.run()
        self.assertEqual(flow.dropped(function), 0)
        flow.close()
        return path

    def test_expired_flows_are_separated_by_vlan_and_interface(self):
        for parts in (("VLAN_TAG",), ("INGRESS",), ("VLAN_TAG", "INGRESS"), ()):
            flow = Flow.offline(self.capture)
            function = flow.apply("EXPIRED_FLOWS", 50, 0, 0, " ".join(parts))
            flow.run()
            reported = collections.Counter()
            for one in expired_flows.read(flow, function)[1]:
                self.assertEqual(one.has_place, 1 if parts else 0)
                reported[one.more.vlan, one.more.interface] += one.packets_count
            flow.close()
            self.assertEqual(reported, self.wanted(*parts))

    def test_reports_are_separated_by_vlan_and_interface(self):
        for parts in (("VLAN_TAG",), ("INGRESS",), ("VLAN_TAG", "INGRESS"), ()):
            with self.subTest(parts):
                path = self.report(
                    "IPFIX", FIVE + " " + " ".join(parts), RECORD + " VLAN_TAG INGRESS"
                )
                reported = collections.Counter()
                for record in ipfix_records(path):
                    reported[
                        int(record["vlanId"]) if "VLAN_TAG" in parts else 0,
                        int(record["ingressInterface"]) if "INGRESS" in parts else 0,
                    ] += int(record["packetDeltaCount"])
                self.assertEqual(reported, self.wanted(*parts))

    def test_the_usual_record_has_the_vlan_if_the_key_has_it(self):
        records = ipfix_records(self.report("IPFIX", FIVE + " VLAN_TAG", ""))
        self.assertEqual({int(record["vlanId"]) for record in records}, {0, 7, 9})
        self.assertNotIn("vlanId", ipfix_records(self.report("IPFIX", "", ""))[0])

    def test_biflows_have_both_directions_as_tshark_sees_the_packets(self):
        checked = 0
        for capture in CAPTURES:
            with self.subTest(capture.name):
                wanted = collections.Counter()
                for first, other in self.biflows(mapi_flows.read_packets(capture)):
                    wanted[self.reported(first) + (self.reported(other) if other else ())] += 1
                path = self.report(
                    "IPFIX",
                    "BIFLOW",
                    capture=capture,
                    before=[("BPF_FILTER", "ip and (tcp or udp)")],
                )
                reported = collections.Counter(
                    self.as_reported(record) for record in ipfix_records(path)
                )
                self.assertEqual({key: count for key, count in reported.items() if key[3]}, wanted)
                checked += wanted.total()
        self.assertGreater(checked, 100)

    @staticmethod
    def biflows(packets):
        """Pairs of flows; both time out together."""
        pairs, going = [], {}
        for packet in (packet for packet in packets if packet.source.version == 4):
            key = mapi_flows.key_of(packet)
            ends = frozenset([(key[0], key[2]), (key[1], key[3])]), key[4]
            pair = going.get(ends)
            if (
                pair is None
                or packet.time_ns - pair["last"] >= 30 * SECOND
                or packet.time_ns - pair["first"] >= 120 * SECOND
            ):
                pair = going[ends] = {"first": packet.time_ns, "flows": {}}
                pairs.append(pair)
            pair["last"] = packet.time_ns
            pair["flows"].setdefault(key, mapi_flows.Flow(packet)).add(packet)
        for pair in pairs:
            first, other = (list(pair["flows"].values()) + [None])[:2]
            yield first, other

    @staticmethod
    def reported(flow):
        return (
            str(flow.key[0]),
            str(flow.key[1]),
            flow.key[4],
            flow.packets,
            flow.ip_bytes,
            flow.tcp_flags,
        )

    @staticmethod
    def as_reported(record):
        key = (
            record["sourceIPv4Address"],
            record["destinationIPv4Address"],
            int(record["protocolIdentifier"]),
        )
        counts = tuple(
            int(record[name], 0)
            for name in ("packetDeltaCount", "octetDeltaCount", "tcpControlBits")
        )
        if "reversePacketDeltaCount" not in record:
            return key + counts
        reverse = tuple(
            int(record[name], 0)
            for name in (
                "reversePacketDeltaCount",
                "reverseOctetDeltaCount",
                "reverseTcpControlBits",
            )
        )
        return key + counts + (key[1], key[0], key[2]) + reverse

    def test_biflows_require_ipfix_and_both_ends(self):
        flow = Flow.offline(self.capture)
        for name, key in (("NETFLOW_V9", "BIFLOW"), ("IPFIX", "BIFLOW IP_SRC_ADDR")):
            self.assertEqual(
                flow.try_apply("FLOW_REPORT", name, str(self.folder / "flows"), key, "PKTS"), -1
            )
            self.assertTrue(flow.error().startswith("7003"), flow.error())
        self.assertEqual(flow.try_apply("EXPIRED_FLOWS", 1, 1, 1, "PROT"), -1)
        self.assertTrue(flow.error().startswith("7004"), flow.error())
        flow.close()

    def flow(self, capture, functions):
        """Exit code and error messages of mapi-flow."""
        program = subprocess.run(
            [BUILD / "bin/mapi-flow", "-r", capture, functions],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"MAPI_SOCKET": "none"},
        )
        return program.returncode, program.stderr

    def test_what_netflow_5_leaves_out_is_named_with_the_file_and_a_remedy(self):
        capture, path = self.folder / "ipv6.pcap", self.folder / "flows.v5"
        packet = (
            struct.pack("!IHBB", 6 << 28, 8, 17, 64) + bytes(32) + struct.pack("!HHHH", 1, 2, 8, 0)
        )
        capture.write_bytes(
            struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
            + struct.pack("<IIII", 1, 0, len(packet), len(packet))
            + packet
        )
        code, errors = self.flow(capture, f"FLOW_REPORT NETFLOW_V5 {path} '' ''")
        self.assertEqual(code, 1)
        for word in ("FLOW_REPORT", str(path), "IPv6", "NETFLOW_V9", "IPFIX"):
            self.assertIn(word, errors)

    def test_a_write_that_fails_names_function_and_file(self):
        _, errors = self.flow(self.capture, "TO_FILE 0 /dev/full 0")
        self.assertIn("TO_FILE: /dev/full: No space left on device\n", errors)


if __name__ == "__main__":
    needs.tools("tshark", "ipfixDump")
    needs.captures(*CAPTURES)
    unittest.main()
