#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TO_FILE on a disk that becomes full: the file ends with a complete packet, missing packets are
counted, other flows continue."""

import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import needs
from mapi_interfaces import wait_until
from mapi_library import BUILD, MFF_PCAP, Flow, stats_of
from mapid import Daemon

INSIDE = "NETSLICE_TEST_INSIDE"
PACKET_BYTES = 1000
BURST = 60
DISK_KIB = 1024
FREE_KIB = 16  # less than the packets of one write


class FullDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_KIB}k", "tmpfs", self.disk], check=True
        )
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)
        self.sent = 0
        os.mkfifo(self.folder / "source")
        config = self.folder / "mapi.conf"
        self.device = f"[driver]\ndevice=slow\npath={self.folder / 'source'}\n"
        config.write_text(self.device)
        os.environ["MAPI_CONF"] = str(config)
        self.addCleanup(os.environ.pop, "MAPI_CONF")

    def flows(self, count):
        """A flow on a device whose packets send() sends."""
        opened = []
        opener = threading.Thread(target=lambda: opened.append(Flow.on_device("slow")))
        opener.start()
        self.source = open(self.folder / "source", "wb", buffering=0)
        self.source.write(struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        opener.join()
        return opened + [Flow.on_device("slow") for _ in range(count - 1)]

    def send_packet(self):
        """Numbered packets."""
        self.source.write(
            struct.pack("<IIII", 10**9, self.sent, PACKET_BYTES, PACKET_BYTES)
            + self.sent.to_bytes(4, "big").ljust(PACKET_BYTES, b"x")
        )
        self.sent += 1

    def send(self, count=BURST):
        """In pieces that are written one by one."""
        for _ in range(count):
            self.send_packet()
        time.sleep(0.12)  # longer than a file waits for more

    def numbers(self, path):
        """Packets in a file that must contain only complete ones."""
        data = path.read_bytes()
        records, rest = divmod(len(data) - 24, 16 + PACKET_BYTES)
        self.assertEqual(rest, 0)
        return [
            int.from_bytes(data[at + 16 : at + 20], "big")
            for at in range(24, 24 + records * (16 + PACKET_BYTES), 16 + PACKET_BYTES)
        ]

    def test_a_file_on_a_full_disk_ends_with_a_complete_packet_and_continues_later(self):
        full, good = self.flows(2)
        file, count = (
            full.apply("TO_FILE", MFF_PCAP, str(self.disk / "file"), 0),
            good.apply("PKT_COUNTER"),
        )
        good.apply("TO_FILE", MFF_PCAP, str(self.folder / "file"), 0)
        for flow in full, good:
            flow.connect()
        while full.dropped(file) == 0 and self.sent * PACKET_BYTES < 4 * DISK_KIB * 1024:
            self.send()
        self.assertGreater(full.dropped(file), 0)
        self.assertTrue(
            wait_until(lambda: good.word(count) == self.sent), "the other flow does not go on"
        )
        self.assertIn(b"No space left", stats_of("slow").message)
        before = self.numbers(self.disk / "file")
        self.assertGreater(len(before), DISK_KIB * 1024 // PACKET_BYTES // 2)
        self.assertEqual(before, list(range(len(before))))
        self.assertTrue(
            wait_until(lambda: len(before) + full.dropped(file) == self.sent),
            (len(before), full.dropped(file), self.sent),
        )
        first_again = self.sent
        subprocess.run(["mount", "-o", f"remount,size={8 * DISK_KIB}k", self.disk], check=True)
        self.send()
        self.assertTrue(
            wait_until(
                lambda: (
                    self.numbers(self.disk / "file") == before + list(range(first_again, self.sent))
                )
            )
        )
        self.source.close()
        for flow in full, good:
            self.assertEqual(flow.library.mapi_wait_flow(flow.fd, 20000), 0)
        self.assertEqual(len(self.numbers(self.disk / "file")) + full.dropped(file), self.sent)
        self.assertEqual(stats_of("slow").drop_not_written, full.dropped(file))
        self.assertEqual(self.numbers(self.folder / "file"), list(range(self.sent)))
        for flow in full, good:
            flow.close()

    def test_a_capture_on_a_disk_that_is_too_small_for_one_write_has_as_much_as_fits(self):
        (flow,) = self.flows(1)
        file = flow.apply("TO_FILE", MFF_PCAP, str(self.disk / "file"), 0)
        (self.disk / "other").write_bytes(b"x" * (DISK_KIB - FREE_KIB) * 1024)
        room = (FREE_KIB * 1024 - 24) // (16 + PACKET_BYTES)
        flow.connect()
        self.send()
        self.assertTrue(wait_until(lambda: flow.dropped(file) == BURST - room))
        self.source.close()
        self.assertEqual(flow.library.mapi_wait_flow(flow.fd, 20000), 0)
        flow.close()
        self.assertEqual(self.numbers(self.disk / "file"), list(range(room)))

    def keep_sending_to(self, program):
        """Also while it ends."""
        self.source = open(self.folder / "source", "wb", buffering=0)
        try:
            self.source.write(struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
            while program.poll() is None:
                self.send_packet()
                time.sleep(0.001)
        except BrokenPipeError:  # its reader has gone
            pass
        self.source.close()

    def test_mapi_flow_reports_for_each_packet_whether_it_was_written_to_a_full_disk(self):
        (self.disk / "other").write_bytes(b"x" * (DISK_KIB - FREE_KIB) * 1024)
        daemon = Daemon(self.device)
        self.addCleanup(daemon.close)
        for socket, options in ((daemon.socket, ("-d", "1")), ("none", ())):
            with self.subTest(options=options):
                self.sent = 0
                program = subprocess.Popen(
                    [
                        BUILD / "bin/mapi-flow",
                        "-i",
                        "slow",
                        *options,
                        f"TO_FILE 0 {self.disk / 'file'} 0",
                    ],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    env=os.environ | {"MAPI_SOCKET": str(socket)},
                )
                self.addCleanup(program.kill)
                sender = threading.Thread(target=self.keep_sending_to, args=(program,), daemon=True)
                sender.start()
                if not options:
                    self.assertTrue(wait_until(lambda: self.sent > 500))
                    program.send_signal(signal.SIGINT)
                out, err = program.communicate(timeout=20)
                self.assertEqual(program.returncode, 1, err)
                sender.join(20)
                came = int(re.search(r"^1\.1\tTO_FILE\t(\d+)\t", out, re.M)[1])
                lost = int(
                    re.search(r"^mapi-flow: (\d+) packets.* not written to a file$", err, re.M)[1]
                )
                self.assertIn("No space left", err)
                self.assertGreater(came, 100)
                written = len(self.numbers(self.disk / "file"))
                self.assertTrue(
                    came <= written + lost <= self.sent, (came, written, lost, self.sent)
                )
                (self.disk / "file").unlink()


if __name__ == "__main__":
    if not os.environ.get(INSIDE):
        mounts = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", tempfile.gettempdir()]
        if subprocess.run(mounts, capture_output=True, check=False).returncode != 0:
            needs.skip("cannot mount a file system")
        os.execvpe(
            "unshare",
            ["unshare", "-rm", sys.executable, "-B", *sys.argv],
            os.environ | {INSIDE: "1"},
        )
    unittest.main()
