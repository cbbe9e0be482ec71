#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-qos at two live points, by itself and through a mapid at each: every packet that does not
reach the second point is found, and a point that stops does not make loss."""

import json
import os
import pathlib
import signal
import sqlite3
import struct
import subprocess
import tempfile
import unittest

from mapi_interfaces import enter_name_space, make_pair, send, wait_until
from mapid import Daemon

QOS = pathlib.Path(os.environ["NETSLICE_BIN"]) / "mapi-qos"
SENT = 400
LOST = range(7, SENT, 20)


def frame(number):
    payload = struct.pack(">Q", number) * 8
    udp = struct.pack(">HHHH", 1000, 2000, 8 + len(payload), 0) + payload
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), number, 0, 64, 17, 0)
    return bytes(6) + bytes(6) + b"\x08\0" + ip + b"\x0a\0\0\1\x0a\0\0\2" + udp


class Live(unittest.TestCase):
    def setUp(self):
        for number in (1, 2):
            make_pair(f"near{number}", f"far{number}")
            self.addCleanup(subprocess.run, ["ip", "link", "del", f"near{number}"], check=True)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = f"{folder.name}/qos.db"

    def collect(self, point, interface, socket="none"):
        process = subprocess.Popen(
            [QOS, "collect", "-q", "-i", interface, "--point", point, "--store", self.store, "udp"],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"MAPI_SOCKET": str(socket)},
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def ask(self, question):
        try:
            with sqlite3.connect(self.store, timeout=20) as database:
                return [row[0] for row in database.execute(question)]
        except sqlite3.OperationalError:
            return []  # there are no tables yet

    def wait_for_points(self):
        self.assertTrue(
            wait_until(lambda: set(self.ask("SELECT point FROM qos_runs")) == {"a", "b"})
        )

    def wait_for_packets(self, count):
        self.assertTrue(
            wait_until(lambda: self.ask("SELECT COUNT(*) FROM qos_packets") == [count]),
            self.ask("SELECT COUNT(*) FROM qos_packets"),
        )

    def finish(self, *processes):
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            self.assertEqual((process.communicate(timeout=30)[1], process.returncode), ("", 0))

    def report(self, *options):
        command = [QOS, "report", "--json", "-q", "--store", self.store]
        command += ["--from", "a", "--to", "b", "--one-way", *options]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    def send_all(self, numbers):
        send("near1", *(frame(number) for number in numbers))
        send("near2", *(frame(number) for number in numbers if number not in LOST))

    def check_loss(self, *sockets):
        processes = [
            self.collect(point, interface, socket)
            for point, interface, socket in zip("ab", ("far1", "far2"), sockets)
        ]
        self.wait_for_points()
        self.send_all(range(SENT))
        self.wait_for_packets(2 * SENT - len(LOST))
        self.finish(*processes)
        found = self.report()
        path = found["paths"][0]
        self.assertEqual(path["sent"], SENT)
        self.assertEqual(path["lost"], len(LOST))
        self.assertEqual((path["duplicates"], path["reordered"]), (0, 0))
        self.assertFalse(any(point["has_stopped"] for point in found["points"]))

    def test_lost_packets_are_found(self):
        self.check_loss("none", "none")

    def test_lost_packets_are_found_through_two_daemons(self):
        daemons = [Daemon() for _ in range(2)]
        try:
            self.check_loss(*(daemon.socket for daemon in daemons))
        finally:
            for daemon in daemons:
                daemon.close()

    def test_everything_may_be_lost(self):
        processes = self.collect("a", "far1"), self.collect("b", "far2")
        self.wait_for_points()
        send("near1", *map(frame, range(100)))
        self.wait_for_packets(100)
        self.finish(*processes)
        path = self.report()["paths"][0]
        self.assertEqual((path["sent"], path["lost"], path["undecided"]), (100, 100, 0))
        self.assertIsNone(path["delay_ms"])

    def test_the_end_of_mapid_is_reported_and_what_was_read_is_stored(self):
        daemon = Daemon()
        try:
            process = self.collect("a", "far1", daemon.socket)
            self.assertTrue(wait_until(lambda: self.ask("SELECT point FROM qos_runs")))
            send("near1", *map(frame, range(100)))
            self.wait_for_packets(100)
        finally:
            daemon.close()
        error = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 1, error)
        self.assertIn("mapi-qos: no more packets: ", error)
        self.assertEqual(self.ask("SELECT COUNT(*) FROM qos_packets"), [100])
        self.assertEqual(self.ask("SELECT is_complete FROM qos_runs"), [0])

    def test_a_point_that_stops_does_not_make_loss(self):
        first, second = self.collect("a", "far1"), self.collect("b", "far2")
        self.wait_for_points()
        self.send_all(range(100))
        self.wait_for_packets(200 - sum(number < 100 for number in LOST))
        second.kill()
        second.wait()
        self.send_all(range(100, SENT))
        stored = "SELECT COUNT(*) FROM qos_packets p, qos_runs r WHERE p.run = r.id AND point = 'a'"
        self.assertTrue(wait_until(lambda: self.ask(stored) == [SENT]))
        self.finish(first)
        found = self.report()
        self.assertEqual([point["has_stopped"] for point in found["points"]], [False, True])
        path = found["paths"][0]
        self.assertLessEqual(path["lost"], sum(number < 100 for number in LOST))
        self.assertGreaterEqual(path["undecided"], SENT - 100)
        self.assertTrue(any("point b has stopped" in note for note in found["notes"]))

    def test_a_run_never_covers_a_time_whose_packets_are_not_stored_yet(self):
        process = self.collect("a", "far1")
        self.assertTrue(wait_until(lambda: self.ask("SELECT point FROM qos_runs")))
        self.wait_for_packets(0)
        with sqlite3.connect(self.store, timeout=20, isolation_level=None) as database:
            database.execute("CREATE TABLE claims (last_ns INTEGER, packets INTEGER)")
            database.execute(
                "CREATE TRIGGER claim AFTER UPDATE ON qos_runs BEGIN INSERT INTO claims "
                "VALUES (NEW.last_ns, (SELECT COUNT(*) FROM qos_packets)); END"
            )
            database.execute("BEGIN IMMEDIATE")  # packets wait, for more than one batch
            send("near1", *map(frame, range(40000)))
            database.execute("COMMIT")
        self.assertTrue(wait_until(lambda: self.ask("SELECT COUNT(*) FROM qos_packets") > [0]))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertIn(process.returncode, (0, 1))  # 1: some were lost
        claims = self.ask("SELECT last_ns FROM claims ORDER BY rowid")
        # a run is written before the packets of its transaction
        stored = self.ask("SELECT packets FROM claims ORDER BY rowid")[1:]
        self.assertGreater(len(claims), 1)
        for last_ns, first_later in zip(claims, stored):
            times = "SELECT MIN(time_ns) FROM qos_packets WHERE number >= "
            later_ns = self.ask(times + str(first_later))[0]
            if later_ns is not None:
                self.assertGreaterEqual(later_ns, last_ns)


if __name__ == "__main__":
    enter_name_space()
    unittest.main()
