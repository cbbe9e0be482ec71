#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real captures give the same packets after compression with gzip, bzip2, xz, zstd and compatible
programs, complete or in parts."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import needs

PRINT = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "tests/print_packets"
DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)
# Each with options that change its output format: size in the header, several blocks, several
# threads.
PACKERS = [
    ["gzip", "-c"],
    ["gzip", "-1c"],
    ["bzip2", "-1c"],
    ["xz", "-0c"],
    ["xz", "--block-size=100000", "-0c"],
    ["zstd", "-qc"],
    ["zstd", "-19qc", "--no-check"],
    ["pzstd", "-qc"],
]
TRACES = DATA / "LibtraceTeam+libtrace/test/traces"
BYTES_MAX = 3_000_000


def print_packets(path):
    driver = "erf_file" if ".erf" in path.name else "pcap_file"
    done = subprocess.run([PRINT, driver, path], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr.strip()


def pack(packer, content):
    return subprocess.run(packer, input=content, stdout=subprocess.PIPE, check=True).stdout


def packers():
    """Those that are installed and whose output this build can read."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "empty"
        for packer in PACKERS:
            if shutil.which(packer[0]):
                path.write_bytes(pack(packer, b""))
                if "which this build cannot unpack" not in print_packets(path)[2]:
                    yield packer


def captures():
    """Every 24th of a sorted list, and all of ERF; including damaged ones."""
    listed = DATA / "MANIFEST.tsv"
    if not listed.exists():
        return []
    names = sorted(line.split("\t")[0] for line in listed.read_text().splitlines()[1:])
    chosen = [
        name
        for name in names[::24] + [name for name in names if name.endswith(".erf")]
        if not name.endswith((".bz2", ".xz"))
    ]
    return [
        DATA / name
        for name in dict.fromkeys(chosen)
        if 0 < (DATA / name).stat().st_size <= BYTES_MAX
    ]


class Compressed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def check(self, capture, packed, wanted, what):
        path = pathlib.Path(self.folder.name) / capture.name
        path.write_bytes(packed)
        code, packets, message = print_packets(path)
        self.assertEqual(code, wanted[0], f"{what} {capture}: {message}")
        self.assertEqual(packets, wanted[1], f"{what} {capture}")
        self.assertEqual(message == "", wanted[2] == "", f"{what} {capture}: {message}")

    def test_packets_are_those_of_the_plain_file(self):
        compared = 0
        known = list(packers())
        for capture in captures():
            content = capture.read_bytes()
            wanted = print_packets(capture)
            for packer in known:
                self.check(capture, pack(packer, content), wanted, packer)
                compared += 1
        print(f"{compared} packed files", file=sys.stderr)
        self.assertGreater(compared, 100)

    def test_parts_that_were_packed_separately_are_one_capture(self):
        known = list(packers())
        for capture in captures()[::4]:
            content = capture.read_bytes()
            third = len(content) // 3
            wanted = print_packets(capture)
            for packer in known:
                parts = [content[:third], content[third : third + 1], content[third + 1 :]]
                self.check(capture, b"".join(pack(packer, part) for part in parts), wanted, packer)

    def test_captures_that_other_programs_packed(self):
        plain = print_packets(TRACES / "5_packets.erf")
        self.assertEqual(plain[1].count("\n"), 5)
        for name in ("5_packets.erf.bz2", "5_packets.erf.xz"):
            self.assertEqual(print_packets(TRACES / name), plain, name)


if __name__ == "__main__":
    if not captures():
        needs.skip("no captures")
    if not list(packers()):
        needs.skip("no compressor is installed")
    unittest.main()
