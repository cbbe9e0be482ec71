# SPDX-License-Identifier: MIT
"""The example program with probes: built as its Makefile says, loaded, checked by its packets."""

import os
import pathlib
import signal
import subprocess
import unittest

from nsbpf_library import HEADERS, NSDUMP, SOURCE, counts, fail_of, run

BLOCKED, OTHER = 4242, 4243
RECORDS = 7  # of a packet with a port


def build(folder, *variables):
    """Without the library for sessions, unless a variable says so."""
    done = run(
        *("make", "-C", SOURCE / "nsbpf/examples", f"O={folder}"),
        *(f"NSPROBE_CFLAGS={' '.join(HEADERS)}", "WARNINGS=-Wall -Wextra -Werror"),
        *("SESSION_LIBS=", *variables),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def child_of(process):
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return int(children.read_text().split()[0])


class Loader:
    """The example, which is attached when this returns."""

    def __init__(self, programs, *options, record=(), interface="far", environment=None):
        self.process = subprocess.Popen(
            [*map(str, (*record, programs / "xdp_ports", *options, interface, BLOCKED))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | (environment or {}),
        )
        self.is_recorded = NSDUMP in record
        line = self.process.stdout.readline()
        if line != "ready\n":
            fail_of(self.process, line)

    def end(self):
        loader = child_of(self.process) if self.is_recorded else self.process.pid
        os.kill(loader, signal.SIGTERM)
        words = self.process.communicate(timeout=60)[1]
        assert self.process.returncode == 0, words
        return words


class Checks(unittest.TestCase):
    """What a trace must have."""

    def check_whole(self, trace):
        done = run(NSDUMP, "check", trace)
        self.assertIn("every one accounted for", done.stdout + done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout)

    def check_packets(self, stats, packets, with_port):
        found = counts(stats)
        self.assertEqual(found.get("packet", 0), packets, found)
        self.assertEqual(found.get("parse", 0), packets, found)
        self.assertEqual(found.get("lookup", 0), with_port, found)
        self.assertEqual(found.get("port", 0), with_port, found)
        classes = stats["classes"]
        for name in "crossed", "malformed", "unmatched_start", "unmatched_stop":
            self.assertEqual(classes[name], 0, classes)
        # The scheduler may migrate the loader inside a slice of its own.
        for one in stats["slices"]:
            if one["name"].startswith("kernel:"):
                self.assertEqual(one["migrated"], 0, one)
