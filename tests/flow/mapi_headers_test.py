#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Addresses, ports, tags and labels that the header walk finds in real captures are the same that
tshark finds."""

import os
import pathlib
import subprocess
import unittest

import needs
from mapi_sanitizer import ONE_IN

PRINT = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "tests/print_headers"
DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)

# What the walk supports. Where tshark names anything else, the walk ends.
LINKS = {
    "eth",
    "ethertype",
    "sll",
    "null",
    "raw",
    "ppp",
    "pppoes",
    "chdlc",
    "llc",
    "vlan",
    "ieee8021ad",
    "mpls",
    "pwethheuristic",
    "pwethcw",
    "gre",
    "erspan",
    "radiotap",
    "wlan_radio",
    "wlan",
    "prism",
    "ppi",
    "pcap_pktdata",
    "fddi",
    "tr",
    "fr",
    "enc",
    "pflog",
    "nflog",
    "ipnet",
    "ipoib",
    "pktap",
    "erf",
    "atm",
    "ipv6.hopopts",
    "ipv6.fraghdr",
    "ipv6.routing",
    "ipv6.dstopts",
    "ah",
    "mipv6",
}
NETWORKS = {"ip", "ipv6"}
TRANSPORTS = {"tcp", "udp", "udplite", "sctp", "dccp"}
LAYERS_MAX = 4

FIELDS = [
    "frame.protocols",
    "ip.src",
    "ip.dst",
    "ipv6.src",
    "ipv6.dst",
    "vlan.id",
    "mpls.label",
    *(f"{name}.{side}port" for name in ("tcp", "udp", "sctp", "dccp") for side in ("src", "dst")),
]


def tshark(capture):
    """A dictionary of lists per packet."""
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
        "ip.defragment:FALSE",
        "-o",
        "ipv6.defragment:FALSE",
        "-o",
        "tcp.desegment_tcp_streams:FALSE",
    ]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    for line in done.stdout.splitlines():
        columns = line.split("\t")
        yield {
            name: [value for value in column.split(";") if value]
            for name, column in zip(FIELDS, columns)
        }


def expected(packet):
    """tshark's addresses, layer by layer, and the ports after the last one, as far as the walk
    goes; None if a layer has no address."""
    chain = packet["frame.protocols"][0].split(":") if packet["frame.protocols"] else []
    addresses, ports, seen = [], "-", {"ip": 0, "ipv6": 0}
    for name in chain:
        if name in NETWORKS:
            if len(addresses) == LAYERS_MAX:
                break
            sources, destinations = packet[f"{name}.src"], packet[f"{name}.dst"]
            if seen[name] >= min(len(sources), len(destinations)):
                return None
            addresses.append(f"{sources[seen[name]]}>{destinations[seen[name]]}")
            seen[name] += 1
        elif name in TRANSPORTS:
            group = "udp" if name == "udplite" else name
            if packet[f"{group}.srcport"] and packet[f"{group}.dstport"]:
                ports = f"{packet[f'{group}.srcport'][0]}>{packet[f'{group}.dstport'][0]}"
            break
        elif name not in LINKS:
            break
    return " ".join(addresses), ports


def captures():
    listed = DATA / "MANIFEST.tsv"
    if not listed.exists():
        return []
    lines = [line.split("\t") for line in listed.read_text().splitlines()]
    path, tier, link = (lines[0].index(name) for name in ("file", "tier", "link type"))
    first_of_each_link = {line[link]: line for line in reversed(lines[1:])}.values()
    return [
        DATA / line[path]
        for line in lines[1:]
        if line[tier] == "core" or line in first_of_each_link
    ]


class Headers(unittest.TestCase):
    def test_addresses_and_ports_are_tsharks(self):
        compared = 0
        for index, capture in enumerate(captures()):
            done = subprocess.run([PRINT, capture], capture_output=True, text=True)
            if done.returncode:
                self.assertEqual(done.returncode, 2, f"{capture}: {done.stderr}")
                continue  # not a capture file: damaged ones are tested with the drivers
            if index % ONE_IN:
                continue
            ours = [line.split("\t") for line in done.stdout.splitlines()]
            for number, (mine, packet) in enumerate(zip(ours, tshark(capture)), 1):
                wanted = expected(packet)
                if wanted:
                    compared += 1
                    self.assertEqual(
                        (mine[0], mine[1]),
                        wanted,
                        f"{capture}, packet {number}: {packet['frame.protocols']}",
                    )
        self.assertGreater(compared, 10000 // ONE_IN)


if __name__ == "__main__":
    needs.tools("tshark")
    if not captures():
        needs.skip("no captures")
    unittest.main()
