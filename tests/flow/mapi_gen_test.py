#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-gen sends what it says, by both methods: tcpdump at the far end of a pair of interfaces
counts packets, and shows their sizes and bytes."""

import collections
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import needs
from mapi_interfaces import enter_name_space, make_pair, run, wait_until
from mapi_listener import RECORD, Listener

GEN = pathlib.Path(os.environ["NETSLICE_BIN"]) / "mapi-gen"
METHODS = ("xdp", "af_packet")
TENTH_NS = 100_000_000


def write_capture(path, packets):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for packet in packets:
            file.write(RECORD.pack(0, 0, len(packet), len(packet)) + packet)


def count_received():
    shown = subprocess.run(
        ["ip", "-json", "-s", "link", "show", "far"], capture_output=True, check=True
    ).stdout
    return json.loads(shown)[0]["stats64"]["rx"]["packets"]


class Gen(unittest.TestCase):
    def setUp(self):
        make_pair("near", "far")
        # without it, the driver of a pair takes no XDP frames
        subprocess.run(["ethtool", "-K", "far", "gro", "on"], check=True, capture_output=True)
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def tearDown(self):
        subprocess.run(["ip", "link", "del", "near"], stderr=subprocess.DEVNULL)

    def gen(self, *words, code=0):
        done = subprocess.run(
            [GEN, *map(str, words)], capture_output=True, text=True, check=False, timeout=60
        )
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def last_line(self, *words):
        return json.loads(self.gen(*words, "--json", "near").stdout)

    def test_as_many_packets_arrive_as_were_asked_for(self):
        for method in METHODS:
            for rate in [], ["--rate", "2k"], ["--rate", "50k"]:
                with self.subTest(method=method, rate=rate):
                    listener = Listener(self.folder, "far")
                    line = self.last_line("--method", method, "--count", 1001, *rate)
                    # dropped: AF_PACKET sent it, but the far end had no room
                    packets = listener.packets(1001 - line["dropped"])
                    self.assertEqual(len(packets) + line["dropped"], 1001)
                    self.assertEqual({len(packet) for _, packet in packets}, {60})
                    self.assertEqual((line["packets"], line["bytes"]), (1001, 1001 * 64))
                    self.assertEqual((line["method"], line["interface"]), (method, "near"))
                    self.assertEqual(line["refused"], 0)

    def test_two_threads_send_the_count_together(self):
        allowed = sorted(os.sched_getaffinity(0))[:2]
        for method in METHODS:
            with self.subTest(method=method):
                listener = Listener(self.folder, "far")
                line = self.last_line(
                    *("--method", method, "--count", 1001, "--source-ports", 7, "--rate", "20k"),
                    *("--cpus", ",".join(map(str, allowed))),
                )
                packets = listener.packets(1001)
                self.assertEqual((len(packets), line["packets"]), (1001, 1001))
                self.assertEqual(line["threads"], len(allowed))
                ports = collections.Counter(packet[34:36] for _, packet in packets)
                self.assertEqual(len(ports), 7)

    def test_sizes_payload_and_checksums_are_right(self):
        for method in METHODS:
            for size in 64, 65, 1000, 1518:
                with self.subTest(method=method, size=size):
                    listener = Listener(self.folder, "far")
                    self.gen(
                        *("--method", method, "--count", 20, "--size", size, "--payload", "text"),
                        *("--source-ports", 3, "near"),
                    )
                    packets = listener.packets(20)
                    self.assertEqual([len(packet) for _, packet in packets], [size - 4] * 20)
                    self.assertEqual(
                        [struct.unpack_from(">H", packet, 34)[0] for _, packet in packets],
                        [1024 + number % 3 for number in range(20)],
                    )
                    shown = subprocess.run(
                        ["tcpdump", "-vv", "-n", "-r", listener.path],
                        capture_output=True,
                        text=True,
                        check=True,
                    ).stdout
                    self.assertEqual(shown.count("[udp sum ok]"), 20, shown)
                    self.assertNotIn("bad cksum", shown)
                    self.assertIn(b"GET /", packets[0][1])

    def test_a_capture_arrives_byte_by_byte_again_and_again(self):
        head = bytes.fromhex("024e53000001 020000000001 88b5")
        packets = [head + bytes([number]) * (46 + 97 * number % 1450) for number in range(100)]
        packets += [head, head + b"x" * 20]
        for capture_of, options in (packets, []), (packets, ["--bit-rate", "200M"]):
            write_capture(self.folder / "sent.pcap", capture_of)
            for method in METHODS:
                with self.subTest(method=method, options=options):
                    listener = Listener(self.folder, "far")
                    line = self.last_line(
                        *("--method", method, "--count", 250, *options),
                        *("--capture", self.folder / "sent.pcap"),
                    )
                    expected = (3 * packets)[:250]
                    arrived = [packet for _, packet in listener.packets(250)]
                    self.assertEqual(len(arrived), 250)
                    self.assertEqual(arrived, expected)
                    wire = sum(max(64, len(packet) + 4) for packet in expected)
                    self.assertEqual(line["bytes"], wire)

    def test_packets_of_a_capture_that_do_not_fit_are_counted(self):
        packets = [b"x" * 60, b"y" * 1500, b"z" * 5]
        write_capture(self.folder / "sent.pcap", packets)
        run("ip", "link", "set", "near", "mtu", "1000")
        line = self.last_line("--count", 10, "--capture", self.folder / "sent.pcap")
        self.assertEqual((line["packets"], line["too_long"], line["too_short"]), (10, 1, 1))

    def test_a_rate_is_kept_and_even(self):
        for method in METHODS:
            for rate in 5000, 40000:
                with self.subTest(method=method, rate=rate):
                    listener = Listener(self.folder, "far")
                    line = self.last_line(
                        "--method", method, "--rate", rate, "--duration", 0.5, "--quiet"
                    )
                    # what a busy machine prevents is counted
                    self.assertAlmostEqual(
                        line["packets"] + line["behind"], rate * 0.5, delta=rate * 0.15
                    )
                    self.assertAlmostEqual(line["seconds"], 0.5, delta=0.2)
                    # dropped: the far end had no room for them; a busy tcpdump may miss others
                    packets = listener.packets(line["packets"] - line["dropped"])
                    self.assertEqual(listener.received + line["dropped"], line["packets"])
                    self.assertGreater(len(packets), line["packets"] * 0.5)
                    begin = packets[0][0]
                    tenths = collections.Counter((at - begin) // TENTH_NS for at, _ in packets)
                    # never more than twice the rate, plus what may leave at once
                    self.assertLess(max(tenths.values()), rate * 0.1 * 2.5, tenths)

    def test_each_second_has_a_line(self):
        shown = self.gen("--rate", 1000, "--duration", 2.5, "near").stderr
        lines = re.findall(
            r"^mapi-gen: \d\.\d s: \d+ packets/s, [\d.]+ Mbit/s, sent \d+, refused 0", shown, re.M
        )
        self.assertEqual(len(lines), 2, shown)
        quiet = self.gen("--rate", 1000, "--duration", 1.5, "--quiet", "near")
        self.assertNotIn("packets/s", quiet.stderr)

    def test_an_interrupt_ends_it_with_a_whole_line(self):
        for method in METHODS:
            for rate in [], ["--rate", "100"], ["--rate", "50k"]:
                for number in signal.SIGINT, signal.SIGTERM:
                    with self.subTest(method=method, rate=rate, number=number):
                        child = subprocess.Popen(
                            [GEN, "--method", method, *rate, "--json", "near"],
                            stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE,
                            text=True,
                        )
                        child.stderr.readline()  # the method: now it sends
                        time.sleep(0.3)
                        child.send_signal(number)
                        out, errors = child.communicate(timeout=20)
                        self.assertEqual(child.returncode, 0, errors)
                        self.assertTrue(out.endswith("}\n"))
                        self.assertGreater(json.loads(out)["packets"], 0)

    def test_what_the_far_end_has_no_room_for_is_counted(self):
        # both CPUs fill the ring that one of them empties
        allowed = sorted(os.sched_getaffinity(0))[:2]
        before = count_received()
        line = self.last_line(
            *("--method", "xdp", "--duration", 0.5, "--quiet"),
            *("--cpus", ",".join(map(str, allowed))),
        )
        if len(allowed) > 1:
            self.assertGreater(line["refused"], 0)
        wait_until(lambda: count_received() >= before + line["packets"], 2)
        time.sleep(0.1)
        self.assertEqual(count_received() - before, line["packets"])

    def test_auto_falls_back_and_says_why(self):
        subprocess.run(["ethtool", "-K", "far", "gro", "off"], check=True, capture_output=True)
        listener = Listener(self.folder, "far")
        done = self.gen("--count", 10, "--json", "near")
        self.assertEqual(json.loads(done.stdout)["method"], "af_packet")
        self.assertIn("near: sends through AF_PACKET: XDP live frames: the driver", done.stderr)
        self.assertEqual(len(listener.packets(10)), 10)
        refused = self.gen("--method", "xdp", "--count", 10, "near", code=1)
        self.assertIn("gro on", refused.stderr)

    def test_errors_say_what_where_and_what_to_do(self):
        run("ip", "link", "add", "asleep", "type", "veth", "peer", "name", "unused")
        self.addCleanup(run, "ip", "link", "del", "asleep")
        for words, code, text in (
            ([], 2, "an interface is required"),
            (["nosuch"], 1, "nosuch: no such interface (ip link"),
            (["asleep"], 1, "asleep: the interface is down (ip link set asleep up)"),
            (["--size", "63", "near"], 2, "--size"),
            (["--capture", "/nosuch", "near"], 1, "/nosuch: No such file"),
            (["--cpus", "1023", "near"], 1, "CPU 1023 does not exist"),
        ):
            with self.subTest(words=words):
                done = self.gen(*words, code=code)
                self.assertTrue(done.stderr.startswith("mapi-gen: "), done.stderr)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stdout, "")
        done = subprocess.run(
            ["setpriv", "--bounding-set=-all", "--inh-caps=-all", GEN, "near"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        for name in "CAP_BPF", "CAP_NET_ADMIN", "CAP_NET_RAW":
            self.assertIn(name, done.stderr)

    def test_an_interface_that_disappears_ends_it(self):
        for method in METHODS:
            with self.subTest(method=method):
                child = subprocess.Popen(
                    [GEN, "--method", method, "--rate", "1k", "--json", "near"],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                child.stderr.readline()
                run("ip", "link", "del", "near")
                out, errors = child.communicate(timeout=20)
                self.assertEqual(child.returncode, 1, errors)
                self.assertIn("near: the interface has disappeared", errors)
                json.loads(out)
                self.setUp()


if __name__ == "__main__":
    needs.tools("bpftool", "ethtool", "tcpdump", "setpriv")
    if subprocess.run(["bpftool", "prog"], capture_output=True).returncode != 0:
        needs.skip("cannot load BPF programs")
    enter_name_space(is_own_user=False)
    run("ip", "link", "set", "lo", "up")
    unittest.main()
