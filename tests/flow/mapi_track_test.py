#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TRACK finds the flows that ndpiReader finds, and passes their packets from then on."""

import collections
import csv
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import needs
from mapi_library import MFF_PCAP, Flow

DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)
FOLDER = DATA / "ntop+nDPI/tests/cfgs/default/pcap"
CAPTURES = [
    FOLDER / name
    for name in (
        "ftp.pcap",
        "bt-http.pcapng",
        "android.pcap",
        "chrome.pcap",
        "KakaoTalk_chat.pcap",
        "coap_mqtt.pcap",
        "dropbox.pcap",
    )
]
TUNNELS = [
    FOLDER / "4in6tunnel.pcap",
    FOLDER / "6in6tunnel.pcap",
    DATA
    / (
        "OISF+suricata-verify/tests/defrag/bug-6942-6887-defrag-eth-ip-gre-ppp-ip-udp-data/"
        "eth-ip-gre-ppp-max-ip-packet.pcap"
    ),
]
FTP = CAPTURES[0]
FLOWS, MATCHED, UNKNOWN, FORGOTTEN, NOT_JUDGED = range(5)
ETHERNET, IPV4 = 1, b"\x08\x00"


def judged(capture):
    """ndpiReader's flows that it recognises: (protocol, name) of each, without guesses by ports."""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/flows.csv"
        subprocess.run(
            ["ndpiReader", "-i", capture, "-d", "-q", "-C", path], check=True, capture_output=True
        )
        with open(path, errors="replace", newline="") as file:
            return list(csv.DictReader(file))


def tshark(capture, *fields, filter_text=""):
    command = ["tshark", "-n", "-r", capture, "-T", "fields", "-Y", filter_text]
    for field in fields:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def write_pcap(path, packets):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, ETHERNET))
        for time, (length, data) in enumerate(packets):
            file.write(struct.pack("<IIII", time, 0, len(data), length) + data)


def read_pcap(path):
    """Frames of a little-endian pcap file."""
    data, at, frames = path.read_bytes(), 24, []
    while at < len(data):
        kept = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16 : at + 16 + kept])
        at += 16 + kept
    return frames


def tcp(source, destination):
    return (
        bytes(12)
        + IPV4
        + struct.pack(
            ">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
        )
        + struct.pack(">HHIIBBHHH", source, destination, 0, 0, 0x50, 16, 0, 0, 0)
    )


def count(capture, function, *arguments):
    """Packets that pass, and the function's own result."""
    flow = Flow.offline(capture)
    tracked = flow.apply(function, *arguments)
    passed = flow.apply("PKT_COUNTER")
    flow.run()
    result = flow.words(tracked) if flow.information(tracked).result_size else None
    packets = flow.word(passed)
    flow.close()
    return packets, result


class Track(unittest.TestCase):
    def test_as_many_flows_of_each_protocol_are_found_as_ndpi_reader_finds(self):
        protocols = 0
        for capture in CAPTURES:
            flows = judged(capture)
            wanted = collections.Counter(
                name for flow in flows for name in set(flow["ndpi_proto"].split("."))
            )
            for name, matched in wanted.items():
                with self.subTest(capture=capture.name, protocol=name):
                    packets, result = count(capture, "TRACK", name)
                    most = sum(
                        int(flow["c_to_s_pkts"]) + int(flow["s_to_c_pkts"])
                        for flow in flows
                        if name in flow["ndpi_proto"].split(".")
                    )
                    self.assertEqual(result[MATCHED], matched)
                    self.assertGreater(packets, 0)
                    self.assertLessEqual(packets, most)
                    protocols += 1
        self.assertGreater(protocols, 15)

    def test_all_packets_of_a_flow_pass_once_it_is_recognised(self):
        control = next(flow for flow in judged(FTP) if flow["ndpi_proto"] == "FTP_CONTROL")
        times = [
            line[0]
            for line in tshark(
                FTP, "frame.time_epoch", filter_text=f"tcp.port == {control['src_port']}"
            )
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/passed.pcap"
            flow = Flow.offline(FTP)
            flow.apply("TRACK", "ftp_control")
            flow.apply("TO_FILE", MFF_PCAP, path, 0)
            flow.run()
            flow.close()
            passed = [line[0] for line in tshark(path, "frame.time_epoch")]
        self.assertGreater(len(passed), len(times) // 2)
        self.assertLess(len(passed), len(times))
        self.assertEqual(passed, times[-len(passed) :])

    def test_older_names_stand_for_the_same_protocols(self):
        both = sum(count(FTP, "TRACK", name)[0] for name in ("FTP_CONTROL", "FTP_DATA"))
        self.assertEqual(count(FTP, "TRACK_FTP")[0], both)
        torrent = FOLDER / "bt-http.pcapng"
        self.assertEqual(count(torrent, "TRACK_TORRENT"), count(torrent, "TRACK", "BitTorrent"))
        for name in "DC", "GNUTELLA", "EDONKEY", "IRC", "SKYPE", "WEB":
            self.assertEqual(count(torrent, "TRACK_" + name)[0], 0)

    def test_ip_over_ip_is_what_tshark_shows_after_ip(self):
        total = 0
        for capture in TUNNELS:
            wanted = len(
                tshark(
                    capture,
                    "frame.number",
                    filter_text="ip.proto == 4 || ip.proto == 41 || "
                    "ipv6.nxt == 4 || ipv6.nxt == 41 || "
                    "(gre && (gre.proto == 0x0800 || gre.proto == 0x86dd || (ppp && ip)))",
                )
            )
            total += wanted
            self.assertEqual(count(capture, "TRACK_IPOVERIP")[0], wanted, capture.name)
        self.assertGreater(total, 100)
        self.assertEqual(count(FTP, "TRACK_IPOVERIP")[0], 0)

    def test_dimapi_and_grid_ftp_are_recognised_by_ports(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/ports.pcap"
            write_pcap(
                path,
                [
                    (54, tcp(*ports))
                    for ports in ((2233, 40000), (40000, 2233), (40000, 2811), (40000, 2234))
                ],
            )
            self.assertEqual(count(path, "TRACK_MAPI")[0], 2)
            self.assertEqual(count(path, "TRACK_GRID_FTP")[0], 1)

    def test_truncated_packets_are_counted_not_guessed(self):
        frames = read_pcap(FTP)[:60]
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/cut.pcap"
            write_pcap(path, [(len(frame), frame[:66]) for frame in frames])
            packets, result = count(path, "TRACK", "FTP_CONTROL")
        self.assertEqual(packets, 0)
        self.assertEqual(result[NOT_JUDGED], sum(len(frame) > 66 for frame in frames))
        self.assertGreater(result[NOT_JUDGED], 10)

    def test_an_unknown_protocol_is_refused_with_similar_ones(self):
        flow = Flow.offline(FTP)
        self.assertEqual(flow.try_apply("TRACK", "bittorent"), -1)
        error = flow.error()
        self.assertIn("7001", error)
        self.assertIn("BitTorrent", error)
        flow.close()


if __name__ == "__main__":
    needs.tools("tshark", "ndpiReader")
    needs.captures(*CAPTURES, *TUNNELS)
    probe = Flow.offline(FTP)
    if probe.try_apply("TRACK", "HTTP") < 0 and "without nDPI" in probe.error():
        needs.skip("built without nDPI")
    unittest.main()
