#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""However often clients fail, mapid's log stays short, and each line that it leaves out is
counted."""

import os
import pwd
import re
import time
import unittest

from mapi_info_run import Test
from mapi_raw import HELLO, VERSION, Raw, call
from mapid import wait_until

PLACES = 8
FIRST_LINES = 5  # logged immediately, of one kind from one user
FLOOD_S = 1
INTERVAL_S = 10
SILENT = 20
UNREAD = 300  # clients that do not wait for the refusal
MORE = re.compile(r" \((\d+) more like this(?:, of several users,)? in (\d+) s\)$")


def lines(daemon, kind):
    return [line for line in daemon.log().splitlines() if kind in line]


def events(found):
    """How many lines there would be without a limit."""
    return sum(1 + int(more[1]) if (more := MORE.search(line)) else 1 for line in found)


def flood(act, seconds=FLOOD_S):
    """How often a client could do it."""
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        act()
        count += 1
    return count


class LogLimit(Test):
    def raw(self, daemon, **how):
        client = Raw(daemon.socket, **how)
        self.addCleanup(client.close)
        return client

    def fill(self, daemon):
        """Takes all places."""
        places = [self.raw(daemon) for _ in range(PLACES)]
        self.assertTrue(wait_until(lambda: daemon.memories() == PLACES), daemon.log())
        return places

    @staticmethod
    def send(daemon, data=b"\xff", **how):
        """A client that sends one message and waits for the end."""
        client = Raw(daemon.socket, is_greeted=False, **how)
        client.ask(data)
        client.close()

    # The first lines are in the log now, and few others; all are counted when mapid has ended.
    def check(self, daemon, kind, count):
        self.assertGreater(count, 10 * FIRST_LINES, "this is no flood")
        found = lines(daemon, kind)
        self.assertGreaterEqual(len(found), FIRST_LINES)
        self.assertEqual([line for line in found[:FIRST_LINES] if MORE.search(line)], [])
        self.assertLess(len(found), 3 * FIRST_LINES)
        if daemon.process.poll() is None:
            self.assertEqual(daemon.terminate(), 0)
        found = lines(daemon, kind)
        self.assertEqual(events(found), count, found)
        self.assertLess(len(found), 3 * FIRST_LINES)

    def test_refused_clients_are_counted_exactly_in_few_lines(self):
        daemon = self.daemon("", "--max-clients", str(PLACES), "--log-level", "info")
        places = self.fill(daemon)
        count = flood(lambda: self.send(daemon))
        for _ in range(UNREAD):
            Raw(daemon.socket, is_greeted=False).close()
        self.send(daemon)  # is answered after them
        count += UNREAD + 1
        for place in places:
            place.close()
        self.assertTrue(wait_until(lambda: daemon.memories() == 0))
        tally = self.json(daemon)["mapid"]["refusals"]
        self.assertEqual(tally["clients"], count)
        self.check(daemon, ": client refused: ", count)

    def test_malformed_requests_are_counted_exactly_in_few_lines(self):
        daemon = self.daemon("", "--log-level", "info")
        count = flood(lambda: self.send(daemon))
        words = ": dropped: malformed request ("
        self.assertTrue(wait_until(lambda: lines(daemon, words), 2 * INTERVAL_S), daemon.log())
        self.assertIn(f" more like this in {INTERVAL_S} s)", lines(daemon, words)[0])
        self.check(daemon, ": dropped: malformed request", count)
        self.check(daemon, ": connected", count)
        self.assertLess(len(daemon.log().splitlines()), 30)

    def test_clients_that_come_and_go_are_counted_exactly_in_few_lines(self):
        daemon = self.daemon("", "--max-clients", "10000", "--log-level", "info")
        count = flood(lambda: self.raw(daemon).close())
        self.assertTrue(wait_until(lambda: daemon.memories() == 0))
        self.check(daemon, ": disconnected", count)
        self.check(daemon, ": connected", count)

    def test_handshakes_that_time_out_are_counted_exactly_in_few_lines(self):
        daemon = self.daemon("", "--log-level", "info")
        for silent in [self.raw(daemon, is_greeted=False) for _ in range(SILENT)]:
            self.assertEqual(silent.receive()[0], b"")
        self.assertEqual(daemon.terminate(), 0)
        found = lines(daemon, "handshake timed out")
        self.assertEqual(len(found), FIRST_LINES + 1)
        self.assertEqual(events(found), SILENT, found)

    def test_the_flood_of_one_user_hides_no_line_of_another(self):
        if os.geteuid() != 0:
            self.skipTest("requires root, to run as another user")
        daemon = self.daemon("", "--max-clients", str(PLACES), "--log-level", "info")
        self.fill(daemon)
        flood(lambda: self.send(daemon))
        other = daemon.client(user="games")
        other.get("Flow.library.mapi_create_flow(b'tap')")
        words = f"user {pwd.getpwnam('games').pw_uid}: client refused: too many clients"
        self.assertTrue(wait_until(lambda: lines(daemon, words), 5), daemon.log())

    def test_lines_below_the_level_are_not_counted(self):
        daemon = self.daemon("", "--log-level", "warning")
        flood(lambda: self.raw(daemon).close())
        self.assertEqual(daemon.terminate(), 0)
        self.assertEqual(daemon.log(), "")

    def test_refused_handshakes_are_counted_exactly_in_few_lines(self):
        daemon = self.daemon("", "--log-level", "info")
        count = flood(lambda: self.send(daemon, call(HELLO, (1, VERSION + 1))))
        self.check(daemon, ": dropped: handshake refused: protocol version", count)


if __name__ == "__main__":
    unittest.main()
