#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The results of ANONYMIZE and ANONYMIZEIP on real captures match tshark, Python's hashlib and
another Crypto-PAn."""

import collections
import functools
import hashlib
import ipaddress
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import needs
from mapi_library import MFF_PCAP, Flow
from mapi_sanitizer import ONE_IN

DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)
WEB = DATA / "chrissanders+packets/http_espn.pcapng"
CAPTURES = [WEB, DATA / "mapi/tracefile"]
KEY = "0123456789abcdef0123456789abcdef"
ADDRESSES = ("ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "arp.src.proto_ipv4", "arp.dst.proto_ipv4")
SUMS = (
    "-o",
    "ip.check_checksum:TRUE",
    "-o",
    "tcp.check_checksum:TRUE",
    "-o",
    "udp.check_checksum:TRUE",
)


def tshark(capture, *fields, more=()):
    command = [
        "tshark",
        "-n",
        "-r",
        capture,
        "-T",
        "fields",
        "-E",
        "occurrence=a",
        "-E",
        "aggregator=;",
        "-o",
        "tcp.desegment_tcp_streams:FALSE",
        "-o",
        "ip.defragment:FALSE",
        "-o",
        "tcp.relative_sequence_numbers:FALSE",
        *more,
    ]
    for field in fields:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def packets_of(capture):
    """Bytes of each packet of a pcap file that TO_FILE wrote."""
    data, at = capture.read_bytes(), 24
    while at < len(data):
        bytes_there = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16 : at + 16 + bytes_there]
        at += 16 + bytes_there


class Anonymize(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def treated(self, capture, *rules, name="ANONYMIZE"):
        """A capture file anonymised by the rules, and ANONYMIZE's last result."""
        path = pathlib.Path(self.folder.name) / "treated.pcap"
        flow = Flow.offline(capture)
        functions = [flow.apply(name, rule) for rule in rules]
        flow.apply("TO_FILE", MFF_PCAP, str(path), 0)
        flow.run()
        words = flow.words(functions[-1]) if functions else []
        flow.close()
        return path, words

    def differing(self, before, after):
        """Counts of packets by the set of byte offsets that differ."""
        pairs = list(zip(packets_of(before), packets_of(after), strict=True))
        self.assertTrue(pairs)
        return collections.Counter(
            tuple(i for i in range(len(old)) if old[i] != new[i]) if len(old) == len(new) else None
            for old, new in pairs
        )

    def original(self, capture):
        """The packets as TO_FILE writes them without rules."""
        path = self.treated(capture)[0]
        kept = path.with_name("original.pcap")
        path.rename(kept)
        return kept

    def test_each_field_of_headers_changes_and_nothing_else(self):
        places = {
            "IP,TTL": "ip.ttl",
            "IP,ID": "ip.id",
            "IP,TOS": "ip.dsfield",
            "IP,SRC_IP": "ip.src",
            "IP,DST_IP": "ip.dst",
            "IP,CHECKSUM": "ip.checksum",
            "TCP,SRC_PORT": "tcp.srcport",
            "TCP,DST_PORT": "tcp.dstport",
            "TCP,SEQUENCE_NUMBER": "tcp.seq",
            "TCP,ACK_NUMBER": "tcp.ack",
            "TCP,WINDOW": "tcp.window_size_value",
            "TCP,CHECKSUM": "tcp.checksum",
            "TCP,URGENT_POINTER": "tcp.urgent_pointer",
            "TCP,FLAGS": "tcp.flags",
            "UDP,SRC_PORT": "udp.srcport",
            "UDP,DST_PORT": "udp.dstport",
            "UDP,CHECKSUM": "udp.checksum",
        }
        fields = [*dict.fromkeys(places.values()), "ip.proto", "frame.len", "eth.src", "eth.dst"]
        before = tshark(WEB, *fields)
        for rule, field in places.items():
            method = "PATTERN_FILL,INTEGER,90"
            after = tshark(self.treated(WEB, f"{rule},{method}")[0], *fields)
            self.assertEqual(len(after), len(before))
            changed = 0
            for old, new in zip(before, after):
                for name, was, became in zip(fields, old, new):
                    if name == field and was:
                        changed += 1
                        pattern = {"ip.src": "90.90.90.90", "ip.dst": "90.90.90.90"}.get(name)
                        values = {"5a" * size for size in (1, 2, 4)}
                        number = pattern or format(int(became, 0), "x").rjust(2, "0")
                        # in its TCP flags field, tshark also shows the bits before it
                        self.assertTrue(
                            number == pattern or number in values or number.endswith("5a"),
                            (rule, became),
                        )
                    elif not (name.startswith("tcp.") and rule.startswith("TCP,FLAGS")):
                        self.assertEqual(was, became, (rule, name))
            self.assertGreater(changed, 100 if rule[:3] != "UDP" else 10, rule)

    def test_bytes_next_to_the_field_stay(self):
        for capture in CAPTURES:
            original = self.original(capture)
            for rule, places in {
                "IP,TTL,ZERO": {22},
                "TCP,WINDOW,RANDOM": {48, 49},
                "IP,SRC_IP,MAP": set(range(26, 32)),
            }.items():
                quoted = {place + 28 for place in places}
                for places_changed in self.differing(original, self.treated(capture, rule)[0]):
                    self.assertTrue(
                        set(places_changed) <= places or set(places_changed) <= places | quoted,
                        (capture, rule, places_changed),
                    )

    def test_unchanged_leaves_every_byte(self):
        for capture in CAPTURES:
            self.assertEqual(
                set(
                    self.differing(
                        self.original(capture), self.treated(capture, "IP,PAYLOAD,UNCHANGED")[0]
                    )
                ),
                {()},
            )

    def test_checksums_are_correct_only_on_request(self):
        statuses = ("ip.checksum.status", "tcp.checksum.status", "udp.checksum.status")
        bad, good = "0", "1"
        rules = (
            "IP,SRC_IP,PREFIX_PRESERVING",
            "IP,DST_IP,PREFIX_PRESERVING",
            "TCP,PAYLOAD,STRIP,7",
            "UDP,PAYLOAD,REPLACE,a text of its own",
        )
        seen = collections.Counter(
            status
            for row in tshark(self.treated(WEB, *rules)[0], *statuses, more=SUMS)
            for status in row
        )
        self.assertGreater(seen[bad], 100)
        seen = collections.Counter(
            status
            for row in tshark(
                self.treated(WEB, *rules, "IP,CHECKSUM,CHECKSUM_ADJUST")[0], *statuses, more=SUMS
            )
            for status in row
        )
        self.assertEqual(seen[bad], 0)
        self.assertGreater(seen[good], 1000)

    def test_checksums_are_correct_wherever_their_rule_is(self):
        rules = [
            "IP,CHECKSUM,CHECKSUM_ADJUST",
            "IP,SRC_IP,PREFIX_PRESERVING",
            "TCP,SRC_PORT,MAP",
            "UDP,PAYLOAD,REPLACE,a text of its own",
        ]
        for at in range(len(rules)):
            lines = "\n".join(rules[1 : at + 1] + rules[:1] + rules[at + 1 :])
            seen = collections.Counter(
                status
                for row in tshark(
                    self.treated(WEB, lines)[0],
                    "ip.checksum.status",
                    "tcp.checksum.status",
                    "udp.checksum.status",
                    more=SUMS,
                )
                for status in row
            )
            self.assertEqual(seen["0"], 0, lines)
            self.assertGreater(seen["1"], 1000)

    def test_checksums_after_routing_headers_are_those_that_tshark_expects(self):
        route = DATA / "found/a01_routing.pcap"
        if not route.exists():
            self.skipTest(f"missing: {route}")
        self.assertEqual(
            tshark(self.treated(route, "IP,CHECKSUM,CHECKSUM_ADJUST")[0], "tcp.checksum"),
            [["0xec09"]] * 5,
        )
        for rules in (
            ("IP,DST_IP,PREFIX_PRESERVING",),
            ("IP,SRC_IP,MAP", "IP,DST_IP,MAP"),
            ("TCP,PAYLOAD,STRIP,2",),
        ):
            for checksum, wanted in (((), {"0"}), (("IP,CHECKSUM,CHECKSUM_ADJUST",), {"1"})):
                statuses = tshark(
                    self.treated(route, *rules, *checksum)[0], "tcp.checksum.status", more=SUMS
                )
                self.assertEqual({status for row in statuses for status in row}, wanted, rules)

    def test_stripped_and_replaced_payload_leaves_correct_lengths(self):
        path, words = self.treated(
            WEB, "TCP,PAYLOAD,STRIP,7\nTCP,TCP_OPTIONS,STRIP\nUDP,PAYLOAD,REPLACE,a text of its own"
        )
        for tcp, header, udp, ip, _ in tshark(
            path, "tcp.len", "tcp.hdr_len", "udp.length", "ip.len", "frame.len"
        ):
            if tcp:
                self.assertLessEqual(int(tcp), 7)
                self.assertEqual(int(header), 20)
                self.assertEqual(int(ip), 20 + 20 + int(tcp))
            if udp:
                self.assertEqual(int(udp), 8 + 17)
        self.assertGreater(words[1], 1000)

    def test_crypto_pan_matches_another_implementation(self):
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        cipher = Cipher(algorithms.AES(KEY[:16].encode()), modes.ECB())

        def encrypted(block):
            encryptor = cipher.encryptor()
            return encryptor.update(block) + encryptor.finalize()

        pad = int.from_bytes(encrypted(KEY[16:].encode()), "big")

        @functools.lru_cache(None)
        def expected(text):
            address = ipaddress.ip_address(text)
            bits = address.max_prefixlen
            wide = int(address) << 128 - bits
            flips = 0
            for bit in range(bits):
                mask = (1 << 128) - (1 << 128 - bit)
                block = (wide & mask) | (pad & ~mask & (1 << 128) - 1)
                flips = flips << 1 | encrypted(block.to_bytes(16, "big"))[0] >> 7
            return str(type(address)(int(address) ^ flips))

        captures = [
            WEB,
            *sorted(DATA.glob("OISF+suricata-verify/tests/*/*icmpv6*.pcap"))[:3],
            *sorted((DATA / "chrissanders+packets").glob("*icmp*"))[:3],
            *sorted((DATA / "chrissanders+packets").glob("*arp*"))[:3],
        ]
        checked = 0
        for capture in captures:
            before = tshark(capture, *ADDRESSES)
            after = tshark(self.treated(capture, KEY, name="ANONYMIZEIP")[0], *ADDRESSES)
            for old, new in zip(before, after, strict=True):
                for was, became in zip(old, new):
                    for address, other in zip(was.split(";"), became.split(";"), strict=True):
                        if address:
                            self.assertEqual(other, expected(address), capture)
                            checked += 1
        self.assertGreater(checked, 2000)

    def test_hosts_have_the_same_numbers_in_both_directions(self):
        before = tshark(WEB, "ip.src", "ip.dst")
        after = tshark(self.treated(WEB, "IP,SRC_IP,MAP", "IP,DST_IP,MAP")[0], "ip.src", "ip.dst")
        made = collections.defaultdict(set)
        for old, new in zip(before, after, strict=True):
            for was, became in zip(old, new):
                made[was].add(became)
        self.assertTrue(all(len(others) == 1 for others in made.values()))
        self.assertEqual(len({other for others in made.values() for other in others}), len(made))

    def test_fields_of_http_are_those_that_tshark_finds(self):
        names = {
            "HOST": "http.host",
            "USER_AGENT": "http.user_agent",
            "URI": "http.request.uri",
            "COOKIE": "http.cookie",
            "SERVER": "http.server",
            "CONTENT_TYPE": "http.content_type",
        }
        fields = [*names.values(), "http.request.method", "http.response.code"]
        more = ("-o", "http.desegment_headers:FALSE", "-o", "http.desegment_body:FALSE")
        before = tshark(WEB, *fields, more=more)
        for rule, field in names.items():
            after = tshark(
                self.treated(WEB, f"HTTP,{rule},PATTERN_FILL,STR,x")[0], *fields, more=more
            )
            column, seen = fields.index(field), 0
            for old, new in zip(before, after, strict=True):
                # continues from the previous segment: its first line becomes zeros, and tshark sees
                # no HTTP
                if not old[-1] and not old[-2]:
                    continue
                if old[column]:
                    seen += 1
                    self.assertEqual(new[column], "x" * len(old[column]), rule)
                for other, (was, became) in enumerate(zip(old, new)):
                    if other != column:
                        self.assertEqual(was, became, (rule, fields[other]))
            self.assertGreater(seen, 10, rule)

    def test_a_digest_matches_hashlib(self):
        before = [row[0] for row in tshark(WEB, "http.host")]
        payloads = [
            row[0]
            for row in tshark(
                self.treated(WEB, "HTTP,HOST,HASHED,SHA_2,STRIP_REST")[0], "tcp.payload"
            )
        ]
        hosts = 0
        for host, payload in zip(before, payloads, strict=True):
            if host:
                hosts += 1
                self.assertIn(hashlib.sha256(host.encode()).hexdigest(), payload)
        self.assertGreater(hosts, 10)

    def test_no_address_of_any_capture_remains(self):
        """Every address that tshark finds in any IP, ICMP or ARP header, including tunnels and
        quoted packets."""
        captures, addresses = 0, 0
        for capture in sorted(DATA.rglob("*.pcap"))[::ONE_IN]:
            if capture.stat().st_size > 300000 or not any(
                word in capture.name + capture.parent.name
                for word in (
                    "icmp",
                    "gre",
                    "vlan",
                    "qinq",
                    "mpls",
                    "ipv6",
                    "arp",
                    "tunnel",
                    "erspan",
                    "pppoe",
                    "vxlan",
                    "gtp",
                    "geneve",
                    "teredo",
                    "l2tp",
                )
            ):
                continue
            try:
                path, words = self.treated(capture, "IP,SRC_IP,ZERO\nIP,DST_IP,ZERO")
            except AssertionError:  # not a capture file, or one with several link types
                continue
            captures += 1
            for row in tshark_or_nothing(path):
                for address in ";".join(row).split(";"):
                    if address:
                        addresses += 1
                        self.assertIn(address, ("0.0.0.0", "::"), capture)
        self.assertGreater(captures, 20 // ONE_IN)
        self.assertGreater(addresses, 500 // ONE_IN)

    def test_a_flow_without_rules_keeps_its_packets(self):
        path = pathlib.Path(self.folder.name)
        flow, other = Flow.offline(WEB), self.original(WEB)
        flow.apply("TO_FILE", MFF_PCAP, str(path / "before.pcap"), 0)
        flow.apply("ANONYMIZE", "IP,PAYLOAD,STRIP,0")
        counter = flow.apply("BYTE_COUNTER")
        flow.run()
        self.assertEqual((path / "before.pcap").read_bytes(), other.read_bytes())
        self.assertLess(flow.word(counter), other.stat().st_size / 3)
        flow.close()

    def test_an_error_names_the_part_that_is_wrong(self):
        for rule, number, words in (
            ("SCTP,SRC_PORT,ZERO", 7001, "not a known protocol"),
            ("IP,SRC_PORT,ZERO", 7002, "not a field of IP"),
            ("IP,TTL,SHUFFLE", 7003, "not a known function"),
            ("IP,TTL,ZERO,1", 7004, "no parameters"),
            ("IP,TTL,ZERO\nIP,TTL", 7003, "line 2: "),
        ):
            flow = Flow.offline(WEB)
            with self.assertRaisesRegex(AssertionError, f"{number}.*{words}"):
                flow.apply("ANONYMIZE", rule)
            with self.assertRaisesRegex(AssertionError, "7001.*256 bits"):
                flow.apply("ANONYMIZEIP", "short")
            flow.close()


def tshark_or_nothing(path):
    try:
        return tshark(path, *ADDRESSES)
    except subprocess.CalledProcessError:  # a damaged end
        return []


if __name__ == "__main__":
    needs.tools("tshark")
    needs.captures(WEB)
    unittest.main()
