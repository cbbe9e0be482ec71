#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-impair does to packets what its log says: tcpdump at both sides sees the same packets,
copies and times."""

import collections
import json
import os
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

import needs
from mapi_interfaces import enter_name_space, make_pair, run, send
from mapi_listener import Listener

IMPAIR = pathlib.Path(os.environ["NETSLICE_BIN"]) / "mapi-impair"
HEAD = bytes.fromhex("024e53000001 020000000001 88b5")
PACKET_VNET_HDR = 15


def frames(count, bytes_each=100):
    """All different."""
    return [HEAD + struct.pack(">I", i) * ((bytes_each - len(HEAD)) // 4) for i in range(count)]


def digest(frame):
    value = 0xCBF29CE484222325
    for byte in frame:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


class Impair(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        make_pair("near", "in")
        make_pair("out", "far")

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.log_path = self.folder / "log.jsonl"

    def start(self, *words):
        child = subprocess.Popen(
            [IMPAIR, *map(str, words), "in", "out"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.close, child)
        self.assertIn("between in and out", child.stderr.readline())
        return child

    def close(self, child):
        child.kill()
        child.wait()
        for stream in child.stdout, child.stderr:
            stream.close()

    def wait_until_taken(self, packets=30):
        """Until so many forward packets, which were sent, are taken: the node takes at most 32 of
        each direction in turns, and the other one is not impaired. Returns how many it sent there.
        """
        markers = packets // 32 + 2
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as near:
            near.bind(("near", 3))
            near.settimeout(20)
            for number in range(markers):
                marker = HEAD + f"marker {number}".encode()
                send("far", marker)
                while near.recv(2048) != marker:
                    pass
        return markers

    def start_logged(self, *words):
        words = ["--direction", "forward", *words]
        return self.start("--log", self.log_path, "--json", *words)

    def end(self, child, code=0, number=signal.SIGINT):
        """Returns the sums, and what it said."""
        child.send_signal(number)
        out, said = child.communicate(timeout=20)
        self.assertEqual(child.returncode, code, said)
        return json.loads(out), said

    def log(self):
        lines = [json.loads(line) for line in self.log_path.read_text().splitlines()]
        self.assertEqual((lines[0]["type"], lines[-1]["type"]), ("begin", "end"))
        forward = [line for line in lines[1:-1] if line["direction"] == "forward"]
        return sorted(forward, key=lambda line: line["number"])

    def test_each_packet_is_in_the_log_once_and_arrives_as_often_as_it_says(self):
        sent = frames(1000)
        far = Listener(self.folder, "far")
        child = self.start_logged("--loss", 20, "--duplicate", 10, "--reorder", 5)
        send("near", *sent)
        self.wait_until_taken(len(sent))
        sums, _ = self.end(child)
        log = {line["digest"]: line for line in self.log()}
        copies = sum(line["copies"] for line in log.values())
        arrived = collections.Counter(digest(frame) for _, frame in far.packets(copies))
        self.assertEqual(len(self.log()), 1000)
        self.assertEqual(set(log), set(map(digest, sent)))
        self.assertEqual(
            {key: line["copies"] for key, line in log.items() if line["copies"]}, arrived
        )
        for outcome in "sent", "lost":
            count = sum(line["outcome"] == outcome for line in log.values())
            self.assertEqual(sums["forward"][outcome], count)
        self.assertAlmostEqual(sums["forward"]["lost"], 200, delta=60)
        self.assertAlmostEqual(sums["forward"]["duplicated"], 80, delta=45)
        chosen = sum(line["reordered"] for line in log.values())
        self.assertAlmostEqual(chosen, 40, delta=32)

    def test_delays_by_captures_agree_with_those_of_the_log(self):
        near, far = Listener(self.folder, "in"), Listener(self.folder, "far")
        child = self.start_logged("--delay", "2ms", "--jitter", "1ms")
        for frame in frames(300):
            send("near", frame)
            time.sleep(0.001)
        at_far = {digest(frame): at for at, frame in far.packets(300)}
        at_near = {digest(frame): at for at, frame in near.packets(300)}
        self.end(child)
        differences, delays = [], []
        for line in self.log():
            self.assertEqual(line["in_ns"], at_near[line["digest"]])
            differences.append(at_far[line["digest"]] - line["out_ns"])
            delays.append(line["out_mono_ns"] - line["in_mono_ns"])
            self.assertGreaterEqual(line["out_mono_ns"], line["due_mono_ns"])
            self.assertGreaterEqual(delays[-1], 1_000_000)
        self.assertGreaterEqual(min(differences), 0)
        self.assertLess(min(differences), 300_000)
        due = [line["due_mono_ns"] - line["in_mono_ns"] for line in self.log()]
        self.assertGreaterEqual(min(due), 1_000_000)
        self.assertGreater(max(due) - min(due), 1_000_000)

    def test_packets_keep_their_order_unless_they_are_reordered(self):
        for words, is_ordered in ([], True), (["--reorder", 20], False):
            with self.subTest(words=words):
                far = Listener(self.folder, "far")
                child = self.start_logged("--delay", "2ms", "--jitter", "2ms", *words)
                sent = frames(200)
                send("near", *sent)
                arrived = [frame for _, frame in far.packets(200)]
                self.end(child)
                self.assertEqual(sorted(arrived), sorted(sent))
                self.assertEqual(arrived == sent, is_ordered)

    def test_the_seed_decides(self):
        def outcomes(seed):
            child = self.start_logged("--loss", 50, "--seed", seed)
            send("near", *frames(64))
            self.wait_until_taken()
            self.end(child)
            return [line["outcome"] for line in self.log()]

        first = outcomes(7)
        self.assertEqual(len(first), 64)
        self.assertEqual(outcomes(7), first)
        self.assertNotEqual(outcomes(8), first)

    def test_only_the_chosen_direction_is_impaired(self):
        near = Listener(self.folder, "near")
        child = self.start("--loss", 100, "--direction", "forward", "--json")
        send("near", *frames(10))
        send("far", *frames(20))
        self.assertEqual(len(near.packets(20)), 20)
        sums, _ = self.end(child)
        self.assertEqual((sums["forward"]["lost"], sums["forward"]["sent"]), (10, 0))
        self.assertEqual((sums["backward"]["lost"], sums["backward"]["sent"]), (0, 20))

    def test_tags_are_kept_and_checksums_completed(self):
        far = Listener(self.folder, "far")
        child = self.start()
        tagged = HEAD[:12] + bytes.fromhex("8100 2064 88b5") + b"tagged" * 10
        send("near", tagged)
        run("ip", "address", "add", "192.0.2.1/24", "dev", "near")
        self.addCleanup(run, "ip", "address", "flush", "dev", "near")
        run("ip", "neighbour", "add", "192.0.2.2", "lladdr", "02:4e:53:00:00:01", "dev", "near")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"odd number of bytes", ("192.0.2.2", 9))
        arrived = [frame for _, frame in far.packets(2)]
        child.send_signal(signal.SIGINT)
        self.assertIn(tagged, arrived)
        shown = subprocess.run(
            ["tcpdump", "-vv", "-n", "-r", far.path, "udp"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertIn("[udp sum ok]", shown)

    def test_merged_and_too_long_packets_are_counted_and_told(self):
        run("ip", "link", "set", "out", "mtu", "1300")
        self.addCleanup(run, "ip", "link", "set", "out", "mtu", "1500")
        child = self.start_logged()
        send("near", HEAD + bytes(1400))
        addresses = bytes.fromhex("c0000201 c0000202")
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + 3000, 0, 0, 64, 6, 0) + addresses
        tcp = struct.pack(">HHIIBBHHH", 1, 2, 3, 4, 0x50, 0x10, 512, 0, 0)
        frame = HEAD[:12] + b"\x08\x00" + ip + tcp + bytes(3000)
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.setsockopt(263, PACKET_VNET_HDR, 1)
            sender.bind(("near", 0))
            sender.send(struct.pack("<BBHHHH", 1, 1, 54, 1000, 34, 16) + frame)
        self.wait_until_taken()
        sums, said = self.end(child)
        self.assertEqual((sums["forward"]["too_long"], sums["forward"]["sent"]), (2, 0), said)
        self.assertEqual([line["outcome"] for line in self.log()], ["too_long"] * 2)
        self.assertIn("gro off", said)

    def test_a_full_queue_and_an_end_with_waiting_packets_are_counted(self):
        child = self.start_logged("--delay", "60s", "--limit", 10)
        send("near", *frames(30))
        self.wait_until_taken()
        sums, said = self.end(child, number=signal.SIGTERM)
        self.assertEqual((sums["forward"]["full"], sums["forward"]["unsent"]), (20, 10))
        outcomes = collections.Counter(line["outcome"] for line in self.log())
        self.assertEqual(outcomes, {"full": 20, "unsent": 10})
        self.assertIn("--limit", said)

    def test_an_interface_that_goes_down_ends_it_with_a_whole_log(self):
        for words in ["set", "in", "down"], ["del", "near"]:
            run("ip", "link", "set", "in", "up")
            with self.subTest(words=words):
                child = self.start_logged()
                far = Listener(self.folder, "far")
                send("near", *frames(10))
                self.assertEqual(len(far.packets(10)), 10)
                run("ip", "link", *words)
                out, said = child.communicate(timeout=20)
                self.assertEqual(child.returncode, 1)
                self.assertIn("mapi-impair: in: the interface went away", said)
                self.assertEqual(len(self.log()), 10)
                self.assertEqual(json.loads(out)["forward"]["sent"], 10)
        make_pair("near", "in")

    def test_a_log_that_cannot_be_written_is_an_error(self):
        child = self.start_logged()
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (100_000, 100_000))
        send("near", *frames(2000))
        _, said = child.communicate(timeout=20)
        self.assertEqual(child.returncode, 1)
        self.assertIn(f"{self.log_path}: cannot write: File too large", said)
        self.assertFalse(self.log_path.exists())

    def test_a_log_on_standard_output_is_all_that_is_there(self):
        child = self.start("--direction", "forward", "--log", "-")
        send("near", *frames(3))
        packets = 3 + self.wait_until_taken()
        child.send_signal(signal.SIGINT)
        lines = [json.loads(line) for line in child.communicate(timeout=20)[0].splitlines()]
        self.assertEqual([line["type"] for line in lines], ["begin", *["packet"] * packets, "end"])
        self.assertEqual(lines[-1]["forward"]["sent"], 3)

    def test_netem_is_used_or_its_absence_told(self):
        child = subprocess.Popen(
            [IMPAIR, "--netem", "--delay", "5ms", "--loss", "100", "in", "out"],
            stderr=subprocess.PIPE,
            text=True,
        )
        said = child.stderr.readline()
        if "is a bridge between" in said:
            send("near", *frames(10))
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(timeout=10), 0)
        else:
            self.assertEqual(child.wait(timeout=10), 1)
            self.assertIn("this kernel has no netem", said)
        child.stderr.close()
        shown = subprocess.run(["ip", "link"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("impair", shown)
        self.assertNotIn("master", shown)

    def test_errors_say_what_where_and_what_to_do(self):
        for words, code, text in (
            (["in"], 2, "two interfaces are required"),
            (["in", "in"], 2, "two different ones"),
            (["in", "nosuch"], 1, "nosuch: no such interface (ip link"),
            (["--delay", "5", "in", "out"], 2, "is not a time"),
            (["--delay", "1ms", "--jitter", "2ms", "in", "out"], 2, "larger than --delay"),
            (["--loss", "101", "in", "out"], 2, "percentage from 0 to 100"),
            (["--netem", "--seed", "3", "in", "out"], 2, "--seed cannot be combined"),
            (["--log", "/nosuch/log", "in", "out"], 1, "/nosuch/log: cannot write"),
            (["--log", "/dev/full", "in", "out"], 1, "/dev/full: cannot write: No space"),
        ):
            with self.subTest(words=words):
                done = subprocess.run(
                    [IMPAIR, *words], capture_output=True, text=True, check=False, timeout=20
                )
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertTrue(done.stderr.startswith("mapi-impair: "), done.stderr)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    needs.tools("tcpdump")
    enter_name_space(is_own_user=False)
    run("ip", "link", "set", "lo", "up")
    unittest.main()
