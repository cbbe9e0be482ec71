#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simple tests of suricata-verify, as rules of sids in stream mode: the alerts that Suricata's
authors expect, or the reason of a difference.  Filters such as tcp, which do not look behind VLAN
tags, are left out where a capture has them."""

import unittest
from dataclasses import dataclass

import needs
from mapid import DATA
from sids_library import SidsTest, packets

TESTS = DATA / "OISF+suricata-verify/tests"
ROOT = '; content:"uid=0|28|root|29|"; classtype:bad-unknown; rev:7;'


@dataclass
class Case:
    """Rules by id, the alerts that Suricata's test expects of each, and those of sids if they
    differ, with the reason."""

    capture: str
    rules: dict
    expected: dict
    different: dict = None
    reason: str = ""
    is_cooked: bool = True


def one(capture, rule, expected, different=None, **how):
    other = None if different is None else {1: different}
    return Case(capture, {1: rule}, {1: expected}, other, **how)


def uri(number, rule):
    return one(f"detect-http-uri/UriTestSig{number}/test.fpc.pcap", f"tcp; {rule}", 1)


def of_packets(capture, rule, expected, **how):
    """Options that look at a packet's header or size."""
    return one(capture, rule, expected, is_cooked=False, **how)


CASES = {
    "alert-distance-within-1": one(
        "alert-distance-within-1/input.pcap",
        'tcp; content:"AllWorkAndNoPlayMakesWill"; content:"DullBoy"; distance:1; within:7;',
        2,
    ),
    "alert-testmyids-async": one("alert-testmyids-async/input.pcap", ROOT, 1),
    "alert-testmyids-midstream": one("alert-testmyids-midstream/input.pcap", ROOT, 1),
    "alert-testmyids-midstream3": one("alert-testmyids-midstream3/input.pcap", ROOT, 1),
    "alert-testmyids-midstream5": one("alert-testmyids-midstream5/input.pcap", ROOT, 1),
    "alert-testmyids-not-established": Case(
        "alert-testmyids-not-established/input.pcap",
        {1: ROOT + " flow:established;", 2: ROOT + " flow:not_established;"},
        {1: 0, 2: 1},
    ),
    "decode-sctp-01": of_packets(
        "decode-sctp-01/input.pcap", "sctp and src port 7 and dst port 7;", 1
    ),
    "defrag/bug-6887-defrag-eth-vlan-ipv6-tcp": one(
        "defrag/bug-6887-defrag-eth-vlan-ipv6-tcp/frag-eth-vlan-ipv6-tcp.pcap", "; dsize:1000;", 1
    ),
    "defrag/bug-6887-defrag-ipv6-tcp": one(
        "defrag/bug-6887-defrag-ipv6-tcp/frag-ip-tcp.pcap", "tcp; dsize:1000;", 1
    ),
    "defrag/bug-6887-defrag-ppp-ipv6-tcp": one(
        "defrag/bug-6887-defrag-ppp-ipv6-tcp/frag-ppp-ipv6-tcp.pcap", "; dsize:1000;", 1
    ),
    "defrag/bug-6942-6887-defrag-eth-ip-gre-ppp-ip-udp-data": one(
        "defrag/bug-6942-6887-defrag-eth-ip-gre-ppp-ip-udp-data/eth-ip-gre-ppp-max-ip-packet.pcap",
        "; ip_proto:17; dsize:>65000;",
        1,
        different=0,
        reason="COOKING reassembles fragments of TCP, not those of UDP",
    ),
    "detect-http-uri/UriTestSig01": Case(
        "detect-http-uri/UriTestSig01/test.fpc.pcap",
        {1: 'tcp; uricontent:"one";'},
        {1: 2},
        {1: 1},
        "of several requests in one piece of a stream, MATCH examines the first",
    ),
    "detect-http-uri/UriTestSig17": uri(
        17,
        'uricontent:"this"; uricontent:"is"; within:6; uricontent:"big"; within:8; '
        'uricontent:"string"; within:8;',
    ),
    "detect-http-uri/UriTestSig18": uri(
        18,
        'uricontent:"this"; uricontent:"is"; within:9; uricontent:"big"; within:12; '
        'uricontent:"string"; within:8;',
    ),
    "detect-http-uri/UriTestSig19": uri(
        19,
        'uricontent:"now"; uricontent:"this"; uricontent:"is"; within:12; uricontent:"big"; '
        'within:8; uricontent:"string"; within:8;',
    ),
    "detect-http-uri/UriTestSig20": uri(
        20,
        'uricontent:"thus"; offset:8; uricontent:"is"; within:6; uricontent:"big"; within:8;',
    ),
    "detect-http-uri/UriTestSig21": uri(
        21, 'uricontent:"fix"; uricontent:"this"; within:6; uricontent:!"and"; distance:0;'
    ),
    "eve-ip-version-4": one("alert-testmyids-async/input.pcap", ROOT, 1),
    "eve-payload-06-tcp-data-leading-gap, streams": Case(
        "eve-payload-06-tcp-data-leading-gap/tcp-leading-gap.pcap",
        {
            1: '; content:"VERY";',
            2: '; content:"GOOD";',
            3: '; content:"DATA";',
            7: '; content:"VERYGOODDATA";',
        },
        {1: 0, 2: 1, 3: 1, 7: 0},
    ),
    "eve-payload-06-tcp-data-leading-gap, packets": Case(
        "eve-payload-06-tcp-data-leading-gap/tcp-leading-gap.pcap",
        {4: '; content:"VERY";', 5: '; content:"GOOD";', 6: '; content:"DATA";'},
        {4: 0, 5: 1, 6: 1},
        is_cooked=False,
    ),
    "http2-disabled": one("http2-keywords2/input.pcap", '; content:"Sitemap";', 1),
    "iponly-midstream-01": Case(
        "uricontent/detect-uricontent-06/input.pcap",
        {
            1: "tcp and src host 192.168.1.5 and dst host 192.168.1.1;",
            2: "tcp and src host 192.168.1.1 and dst host 192.168.1.5;",
            3: "tcp;",
            4: "tcp and src net 192.168.1.0/24 and dst net 192.168.1.0/24;",
        },
        {1: 1, 2: 0, 3: 1, 4: 1},
        is_cooked=False,
    ),
    "ipopts-esec": of_packets("ipopts-esec/test.pcap", "ip; ipopts:esec;", 1),
    "ipv6-evasion/ipv6-malformed-fragments-30": of_packets(
        "ipv6-evasion/ipv6-malformed-fragments-30/frag-30.pcap", "icmp6; itype:3; icode:1;", 1
    ),
    "ipv6-evasion/ipv6-malformed-fragments-35": of_packets(
        "ipv6-evasion/ipv6-malformed-fragments-35/frag-35.pcap", "icmp6; itype:4; icode:0;", 1
    ),
    "ipv6-evasion/ipv6-malformed-fragments-36": of_packets(
        "ipv6-evasion/ipv6-malformed-fragments-36/frag-36.pcap", "icmp6; itype:4; icode:0;", 1
    ),
    "ipv6-evasion/ipv6-rsmurf": of_packets(
        "ipv6-evasion/ipv6-rsmurf/rsmurf6.pcap", "icmp6 and dst net ff00::/8; itype:128;", 1000
    ),
    "test-dsize-values": Case(
        "test-dsize-values/input.pcap",
        {
            1: "tcp; dsize:10;",
            2: "tcp; dsize:<10;",
            4: "tcp; dsize:>8;",
            6: "tcp; dsize:8<>20;",
        },
        {1: 1, 2: 4, 4: 1, 6: 1},
        is_cooked=False,
    ),
}


LEFT_OUT = {
    "rdp-protocol": "asks for the protocol that Suricata's parser detects; sids has no such option",
    "test-unreachable-distance-1": "expects that rules which cannot match are refused, not alerts",
}


class Suricata(SidsTest):
    def counts(self, case):
        rules = "".join(
            f"count {rule} id:{number};{' cooked;' if case.is_cooked else ''}\n"
            for number, rule in case.rules.items()
        )
        return packets(self.table(rules, "-r", TESTS / case.capture, "--all"))

    def test_every_simple_test_is_here_or_left_out_for_a_reason(self):
        lines = (TESTS.parent / "SIMPLE_RULE_TESTS.tsv").read_text().splitlines()[1:]
        names = {line.split("\t")[0] for line in lines}
        self.assertEqual(names, {name.split(",")[0] for name in CASES} | set(LEFT_OUT))

    def test_the_alerts_are_those_of_suricata_or_differ_for_a_reason(self):
        for name, case in CASES.items():
            with self.subTest(test=name, reason=case.reason):
                self.assertEqual(self.counts(case), case.different or case.expected)
                self.assertEqual(case.different is None, not case.reason)


if __name__ == "__main__":
    needs.captures(TESTS)
    unittest.main()
