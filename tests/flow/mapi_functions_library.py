# SPDX-License-Identifier: MIT
"""Captures for tests of functions, and their packets as tshark and tcpdump see them."""

import functools
import os
import pathlib
import subprocess
import unittest

import needs
from mapi_library import Flow

DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)
CAPTURES = [DATA / "chrissanders+packets/http_espn.pcapng", DATA / "mapi/tracefile"]
PKT_TS, PKT_SIZE = 0, 1


@functools.lru_cache(None)
def tshark(capture, *fields, filter_text=""):
    """A list of strings per packet, one for each field."""
    command = [
        "tshark",
        "-n",
        "-r",
        capture,
        "-T",
        "fields",
        "-E",
        "occurrence=l",
        "-o",
        "tcp.desegment_tcp_streams:FALSE",
        "-o",
        "ip.defragment:FALSE",
    ]
    for field in fields:
        command += ["-e", field]
    command += ["-Y", filter_text]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def tcpdump(capture, *more):
    return subprocess.run(
        ["tcpdump", "-n", "-tt", "--nano", "-xx", "-r", capture, *more],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def nanoseconds(epoch):
    seconds, fraction = epoch.split(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


def ntp(ns):
    seconds, rest = divmod(ns, 10**9)
    return (seconds + 2208988800 << 32) + (rest << 32) // 10**9


class FunctionsTest(unittest.TestCase):
    def each(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture.name):
                flow = Flow.offline(capture)
                yield capture, flow
                flow.close()


def main():
    needs.tools("tcpdump", "tshark")
    needs.captures(*CAPTURES)
    unittest.main()
