#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-count on an interface: Ctrl-C ends it with all counts and losses; on ERF files it counts
what tshark counts, and mapi-cost measures them."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from mapi_library import BUILD
from mapi_live_library import ARP, BROADCAST, TCP, UDP, LiveTest, main, send, wait_until

COUNT, COST, DUMP = BUILD / "bin/mapi-count", BUILD / "bin/mapi-cost", BUILD / "bin/nsdump"
DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)
ERF = DATA / "derived-erf"


class CountLive(LiveTest):
    def begin(self, *arguments, by=()):
        """Returns once it listens; it prints nothing before its end, so the kernel is asked."""
        before = self.sockets()
        program = subprocess.Popen(
            [*by, COUNT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(program.kill)
        self.assertTrue(wait_until(lambda: self.sockets() > before))
        time.sleep(0.5)  # for the flows after the first
        return program

    @staticmethod
    def sockets():
        """Sockets that are bound to an interface: the fifth word."""
        return sum(
            line.split()[4] != "0"
            for line in pathlib.Path("/proc/net/packet").read_text().splitlines()[1:]
        )

    def end(self, program):
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=20)
        return (
            [line.split("\t")[:2] + line.split("\t")[3:] for line in out.splitlines()],
            err,
            program.returncode,
        )

    def received(self):
        """Packets, from the namespace's own list: /sys is that of another."""
        return next(
            int(line.split()[2])
            for line in pathlib.Path("/proc/net/dev").read_text().splitlines()
            if line.split()[0] == "far:"
        )

    def test_an_interface_is_counted_until_ctrl_c(self):
        program = self.begin("--interface", "far", "udp", "arp", "")
        send("near", UDP, ARP, TCP, count=1000)
        self.assertTrue(wait_until(lambda: self.received() >= 3000))
        time.sleep(0.2)  # a block of the kernel's buffer waits 10 ms for more packets
        rows, err, code = self.end(program)
        self.assertEqual(
            rows,
            [
                ["1000", str(1000 * len(UDP)), "udp"],
                ["1000", str(1000 * len(ARP)), "arp"],
                ["3000", str(1000 * (len(UDP) + len(ARP) + len(TCP))), ""],
            ],
        )
        self.assertEqual((err, code), ("", 0))

    def test_waiting_packets_are_taken_in_bursts_of_several_batches(self):
        with tempfile.TemporaryDirectory() as folder:
            recorder = self.begin(
                "--interface", "far", "udp", "", by=(DUMP, "record", "-w", folder + "/t.nsl", "--")
            )
            counter = int(
                pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text()
            )
            os.kill(counter, signal.SIGSTOP)
            self.assertTrue(
                wait_until(
                    lambda: (
                        pathlib.Path(f"/proc/{counter}/stat")
                        .read_text()
                        .rsplit(")", 1)[1]
                        .split()[0]
                        == "T"
                    )
                )
            )
            send("near", UDP, ARP, count=2000)
            self.assertTrue(wait_until(lambda: self.received() >= 4000))
            os.kill(counter, signal.SIGCONT)
            time.sleep(2)
            os.kill(counter, signal.SIGINT)
            out, err = recorder.communicate(timeout=20)
            self.assertEqual(
                [line.split("\t")[0] for line in out.splitlines()], ["2000", "4000"], err
            )
            stats = subprocess.run(
                [DUMP, "stats", "--all", folder + "/t.nsl"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            units, packets = map(
                int, re.search(r"batch: (\d+) units, (\d+) packets", stats).groups()
            )
            self.assertEqual(packets, 4000)
            self.assertGreater(packets / units, 128)

    def test_what_did_not_fit_in_the_kernels_buffer_is_reported(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        config = pathlib.Path(folder.name) / "mapi.conf"
        config.write_text("[driver]\ndevice=tap\ndriver=af_packet\npath=far\nbuffer_mb=2\n")
        os.environ["MAPI_CONF"] = str(config)
        self.addCleanup(os.environ.pop, "MAPI_CONF")
        program = self.begin("-i", "tap")
        program.send_signal(signal.SIGSTOP)  # packets stay in the buffer
        send("near", BROADCAST + b"\x08\0" + b"x" * 1486, count=10000)
        self.assertTrue(wait_until(lambda: self.received() >= 10000))
        program.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        rows, err, code = self.end(program)
        self.assertRegex(
            err, r"mapi-count: \d+ packets were dropped because the kernel's buffer was full"
        )
        lost = int(err.split()[1])
        self.assertEqual(int(rows[0][0]) + lost, 10000)
        self.assertGreater(lost, 1000)
        self.assertEqual(code, 1)

    def test_a_missing_device_is_refused(self):
        done = subprocess.run([COUNT, "-i", "nowhere"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn('no device or network interface "nowhere"', done.stderr)
        done = subprocess.run(
            [COUNT, "--each", "-i", "far", "udp", "arp"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot be read once for each expression", done.stderr)
        self.assertEqual(
            subprocess.run([COUNT, "-i", "far", "--erf"], capture_output=True).returncode, 2
        )

    def cost(self, *arguments):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        command = [
            COST,
            "--no-instructions",
            "--scenario",
            "none",
            "--scenario",
            "filter",
            "--json",
            *arguments,
        ]
        return subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": folder.name},
        ), folder.name

    def check_cost(self, program, folder, name, packets):
        out, err = program.communicate(timeout=60)
        self.assertTrue(out, err)
        document = json.loads(out)
        self.assertEqual(
            (document["capture"]["path"], document["capture"]["packets"]), (str(name), packets)
        )
        self.assertTrue(all(row["cycles"]["packets"] > 0 for row in document["rows"]))
        self.assertIn(f"the first {packets} packets of {name}", err)
        self.assertEqual(os.listdir(folder), [])

    @unittest.skipUnless(
        COST.exists() and ERF.is_dir(), "this build has no mapi-cost, or no captures"
    )
    def test_costs_are_measured_on_packets_of_an_erf_file(self):
        path = min(ERF.glob("*.erf"))
        counted = subprocess.run(
            [COUNT, "--erf", "-r", path], capture_output=True, text=True, check=True
        ).stdout.split()
        self.check_cost(
            *self.cost("-c", "100", "--filter", "ip or ip6", "--erf", "-r", path),
            path,
            min(100, int(counted[0])),
        )

    @unittest.skipUnless(ERF.is_dir() and shutil.which("tshark"), "no captures, or no tshark")
    def test_erf_files_are_counted(self):
        for path in sorted(ERF.glob("*.erf")):
            with self.subTest(capture=path.name):
                done = subprocess.run(
                    [COUNT, "--erf", "-r", path], capture_output=True, text=True, check=True
                )
                lengths = subprocess.run(
                    ["tshark", "-n", "-r", path, "-T", "fields", "-e", "frame.len"],
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout.split()
                self.assertEqual(
                    done.stdout.split()[:2], [str(len(lengths)), str(sum(map(int, lengths)))]
                )
                self.assertGreater(len(lengths), 0)


if __name__ == "__main__":
    main()
