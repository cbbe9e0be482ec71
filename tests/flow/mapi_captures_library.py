# SPDX-License-Identifier: MIT
"""Captures made for a test, read by mapi-count and mapi-flow."""

import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import needs
from mapid import BUILD, DATA, Daemon

BIN = BUILD / "bin"
TRACE = DATA / "mapi/tracefile"
TIME_S = 1700000000


def frame(payload=b"x" * 20, ports=(1, 2)):
    udp = struct.pack(">4H", *ports, 8 + len(payload), 0) + payload
    return (
        bytes(12)
        + b"\x08\0"
        + struct.pack(">BBHIBBHII", 0x45, 0, 20 + len(udp), 0, 64, 17, 0, 0x0A000001, 0x0A000002)
        + udp
    )


def pcap(path, packets, link_type=1):
    """A capture of packets given as (seconds, bytes)."""
    records = b"".join(
        struct.pack("<4I", seconds, 0, len(data), len(data)) + data for seconds, data in packets
    )
    pathlib.Path(path).write_bytes(
        struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type) + records
    )
    return str(path)


def run(program, *arguments, socket="none", **more):
    more = (
        {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
        | ({"stdin": None} if "input" in more else {})
        | more
    )
    if "input" in more:
        del more["stdin"]
    return subprocess.run(
        [BIN / program, *map(str, arguments)],
        stderr=subprocess.PIPE,
        check=False,
        env=os.environ | {"MAPI_SOCKET": str(socket)},
        **more,
    )


def found(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def read(*names):
    """Options to read these captures."""
    return [word for name in names for word in ("-r", name)]


def times(path):
    return [
        line.split(".")[0]
        for line in found(
            "tshark", "-n", "-r", path, "-T", "fields", "-e", "frame.time_epoch"
        ).split()
    ]


class CapturesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.chmod(self.folder, 0o755)
        daemon = Daemon()
        self.addCleanup(daemon.close)
        self.sockets = daemon.socket, "none"

    def counts(self, *arguments, code=0, **more):
        done = run("mapi-count", *arguments, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        return [
            int(line.split(b"\t")[0]) for line in done.stdout.splitlines()
        ], done.stderr.decode()


def main():
    needs.tools("tcpdump", "tshark", "capinfos", "mergecap")
    unittest.main()
