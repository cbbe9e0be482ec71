#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-qos stores each selected packet once, in SQLite and in PostgreSQL, also if the server is
away for a while; what could not be stored is reported."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import unittest

import needs
from mapi_interfaces import wait_until
from postgresql_server import Server

QOS = pathlib.Path(os.environ["NETSLICE_BIN"]) / "mapi-qos"
DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "../shared/data"
)
LINK = DATA / "qos-pairs/emulated-link-1"
SIDES = {"a": LINK / "a_side.pcap", "b": LINK / "b_side.pcap"}
PACKETS = 3063


def collect(store, point, *options):
    return [QOS, "collect", "--point", point, "--store", str(store), *options]


def collect_both(store):
    for point, capture in SIDES.items():
        subprocess.run(collect(store, point, "-q", "-r", capture), check=True)


def report(store):
    command = [QOS, "report", "--json", "-q", "--store", store, "--from", "a", "--to", "b"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


class Piped:
    """A collector that reads a capture as it is given."""

    def __init__(self, store, *options):
        self.capture = SIDES["a"].read_bytes()
        self.half = len(self.capture) // 2
        self.process = subprocess.Popen(
            collect(store, "a", "-r", "-", *options),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.notes = []

    def give_first_half(self):
        self.process.stdin.write(self.capture[: self.half])
        self.process.stdin.flush()

    def give_rest(self):
        try:
            self.process.stdin.write(self.capture[self.half :])
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it has given up

    def wait_for_note(self, text):
        for line in self.process.stderr:
            self.notes.append(line.decode())
            if text in self.notes[-1]:
                return
        raise AssertionError(f"no note with {text!r}: {self.notes}")

    def finish(self):
        self.notes += [line.decode() for line in self.process.stderr]
        self.process.stderr.close()
        return self.process.wait(timeout=60)


class Postgresql(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def test_a_report_is_the_same_as_from_sqlite(self):
        address = self.server.create_database("same")
        collect_both(address)
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/qos.db"
            collect_both(file)
            self.assertEqual(report(address), report(file))

    def test_collectors_may_start_at_the_same_time(self):
        address = self.server.create_database("together")
        processes = [
            subprocess.Popen(collect(address, point, "-q", "-r", capture))
            for point, capture in SIDES.items()
        ]
        self.assertEqual([process.wait(timeout=60) for process in processes], [0, 0])
        self.assertEqual(report(address)["paths"][0]["sent"], 2237)

    def test_each_packet_is_stored_once_although_the_server_was_away(self):
        address = self.server.create_database("away")
        collector = Piped(address)
        collector.give_first_half()
        self.server.stop()
        collector.wait_for_note("away")
        self.server.start()
        collector.give_rest()
        self.assertEqual(collector.finish(), 0, collector.notes)
        self.assertTrue(any("back" in note for note in collector.notes), collector.notes)
        subprocess.run(collect(address, "b", "-q", "-r", SIDES["b"]), check=True)
        point = report(address)["points"][0]
        self.assertEqual((point["selected"], point["repeated"]), (PACKETS, 0))

    def test_what_is_not_stored_is_reported(self):
        address = self.server.create_database("gone")
        collector = Piped(address, "--patience", "0.1")
        collector.give_first_half()  # more than a pipe holds: the store is open
        self.server.stop()
        try:
            collector.give_rest()
            self.assertEqual(collector.finish(), 1)
        finally:
            self.server.start()
        self.assertRegex("".join(collector.notes), r"[1-9]\d* packets not stored: ")

    def test_a_server_that_is_not_there_is_an_error_with_its_address(self):
        address = "postgresql:///qos?host=/nowhere"
        done = subprocess.run(
            collect(address, "a", "-r", SIDES["a"]), capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"mapi-qos: {address}: ", done.stderr)


class Sqlite(unittest.TestCase):
    def test_an_interrupt_leaves_what_was_read(self):
        with tempfile.TemporaryDirectory() as folder:
            store = f"{folder}/qos.db"
            collector = Piped(store)
            collector.give_first_half()
            self.wait_for_packets(store)
            collector.process.send_signal(signal.SIGINT)
            self.assertEqual(collector.finish(), 130)
            collector.process.stdin.close()
            self.assertGreater(self.count(store), 0)
            with sqlite3.connect(store) as database:
                rows = database.execute("SELECT is_complete, selected FROM qos_runs").fetchall()
            self.assertEqual(rows, [(0, self.count(store))])

    def test_a_capture_is_read_without_patience_for_its_store(self):
        with tempfile.TemporaryDirectory() as folder:
            store = f"{folder}/qos.db"
            options = "-q", "--patience", "0", "-r", SIDES["a"]
            subprocess.run(collect(store, "a", *options), check=True)
            self.assertEqual(self.count(store), PACKETS)

    def test_what_a_store_refuses_later_is_reported_as_not_stored(self):
        with tempfile.TemporaryDirectory() as folder:
            store = f"{folder}/qos.db"
            collector = Piped(store)
            collector.give_first_half()
            self.wait_for_packets(store)
            with sqlite3.connect(store, timeout=10) as database:
                database.execute("DROP TABLE qos_packets")
            collector.give_rest()
            self.assertEqual(collector.finish(), 1, collector.notes)
            self.assertRegex(
                "".join(collector.notes),
                rf"mapi-qos: {store}: [1-9]\d* packets not stored: no such table",
            )

    def test_losses_before_the_last_part_of_a_run_do_not_change_the_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            store = f"{folder}/qos.db"
            collect_both(store)
            with sqlite3.connect(store, timeout=10) as database:
                database.execute("UPDATE qos_runs SET lost = 7 WHERE point = 'a'")
            command = [QOS, "report", "--store", store, "--from", "a", "--to", "b"]
            for last, code, text in (
                ([], 1, "point a has lost 7 packets itself: they count as lost on the way"),
                (["--last", "5"], 0, "point a has lost 7 packets itself in the whole run"),
            ):
                done = subprocess.run(
                    command + last, capture_output=True, text=True, check=False, timeout=60
                )
                self.assertEqual(done.returncode, code)
                self.assertIn(text, done.stderr)

    def wait_for_packets(self, store):  # the collector writes each second
        self.assertTrue(wait_until(lambda: self.count(store)))

    @staticmethod
    def count(store):
        try:
            with sqlite3.connect(store, timeout=10) as database:
                return database.execute("SELECT COUNT(*) FROM qos_packets").fetchone()[0]
        except sqlite3.OperationalError:
            return 0  # there are no tables yet

    def test_a_store_that_cannot_be_read_is_an_error_with_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("missing.db", None), ("text.db", "no database at all\n" * 50)):
                store = pathlib.Path(folder) / name
                if text:
                    store.write_text(text)
                done = subprocess.run(
                    [QOS, "report", "--store", store, "--from", "a", "--to", "b"],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(done.returncode, 3)
                self.assertIn(f"mapi-qos: {store}: ", done.stderr)


if __name__ == "__main__":
    needs.captures(*SIDES.values())
    unittest.main()
