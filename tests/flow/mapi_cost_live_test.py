#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-cost on an interface: it measures the packets that arrive, reports how many there were and
what was dropped, and names the rows that need others."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from mapi_cost_flows_test import FLOWS
from mapi_library import BUILD
from mapi_live_library import ARP, BROADCAST, TCP, UDP, LiveTest, main, send, wait_until
from mapi_sanitizer import SANITIZER

COST, REPORT = BUILD / "bin/mapi-cost", BUILD / "bin/nsreport"
LIVE_ROWS = ["none", "counter", "filter", "sample", "buffer", "filter+buffer"]
ONE_ROW = ["--no-instructions", "--scenario", "counter"]


class CostLive(LiveTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.traces = self.folder / "traces"
        self.traces.mkdir()
        self.stop, self.sender = threading.Event(), None

    def tearDown(self):
        self.stop.set()
        if self.sender:
            self.sender.join()
        super().tearDown()

    def begin(self, *arguments, device="far", **environment):
        command = [COST, "-w", self.folder / "cost.json", "-i", device, *arguments]
        program = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(self.traces)} | environment,
        )
        self.addCleanup(program.kill)
        return program

    def begin_and_listen(self, *arguments, **others):
        """Packets that are sent afterwards are seen."""
        program = self.begin(*arguments, **others)
        self.assertTrue(wait_until(lambda: self.sockets() > 0))
        return program

    @staticmethod
    def sockets():
        """Sockets that are bound to the measured interface, not to the sending one: the fifth
        word."""
        far = str(socket.if_nametoindex("far"))
        return sum(
            line.split()[4] == far
            for line in pathlib.Path("/proc/net/packet").read_text().splitlines()[1:]
        )

    def keep_sending(self, *frames):
        def run():
            while not self.stop.wait(0.002):
                send("near", *frames, count=10)

        self.sender = threading.Thread(target=run)
        self.sender.start()

    def end(self, program, code=0):
        self.out, self.err = program.communicate(timeout=240)
        self.assertEqual(program.returncode, code, self.err + self.out)
        self.assertEqual(os.listdir(self.traces), [])

    def document(self):
        return json.loads((self.folder / "cost.json").read_text())

    def check_row(self, row):
        timed = row["live"]["timed"]
        self.assertGreater(row["cycles"]["net"], 0, row)
        self.assertGreater(row["cycles"]["ci95"], 0, row)
        self.assertGreater(row["cycles"]["raw"], row["cycles"]["net"])
        self.assertLessEqual(
            row["cycles"]["packets"], timed["batches"] * timed["packets_per_batch"] + 0.5
        )
        (read,) = (part for part in row["parts"] if part["name"] == "driver_read")
        self.assertFalse(read["in_cost"])
        self.assertGreater(read["cycles"], 0)
        self.assertTrue(1 <= timed["packets_per_batch"] <= 64, timed)

    def test_the_packets_that_were_sent_are_those_that_were_measured(self):
        program = self.begin_and_listen(*ONE_ROW, "-c", "3000", "-d", "60")
        for _ in range(10):
            send("near", UDP, ARP, TCP, count=100)
            time.sleep(0.03)
        self.end(program)
        document = self.document()
        (row,) = document["rows"]
        self.check_row(row)
        timed = row["live"]["timed"]
        self.assertEqual(
            (timed["packets"], timed["bytes"]), (3000, 1000 * (len(UDP) + len(ARP) + len(TCP)))
        )
        self.assertAlmostEqual(timed["batches"] * timed["packets_per_batch"], 3000)
        self.assertEqual(set(timed["drops"].values()), {0})
        self.assertLess(timed["seconds"], 60)
        self.assertEqual(
            row["functions"], [{"name": "PKT_COUNTER", "packets": 3000, "passed": 3000}]
        )
        self.assertIsNone(row["live"]["counted"])
        self.assertEqual(
            (
                document["live"]["interface"],
                document["live"]["timed"],
                document["live"]["seconds_per_pass"],
            ),
            ("far", timed, 60),
        )
        self.assertEqual(
            (
                document["capture"]["path"],
                document["capture"]["packets"],
                document["capture"]["filter_packets"],
            ),
            ("far", 3000, None),
        )
        self.assertRegex(self.out, r"live device +far: 3000 packets")
        self.assertRegex(self.out, r"dropped +none")

    def test_each_row_has_its_own_packets_and_instructions_where_they_can_be_counted(self):
        self.keep_sending(UDP, TCP)
        program = self.begin(
            "-d",
            "4" if SANITIZER else "2",
            "--flow",
            "STR_SEARCH xxx 0 0 | TO_BUFFER",
            "--scenario",
            "table2",
            "--write-csv",
            self.folder / "cost.csv",
        )
        self.out, self.err = program.communicate(timeout=240)
        document = self.document()
        is_counted = document["sources"]["instructions"] is not None
        self.assertEqual(program.returncode, 0 if is_counted else 1, self.err)
        self.assertEqual([row["id"] for row in document["rows"]], [*LIVE_ROWS, "flow-1"])
        for row in document["rows"]:
            with self.subTest(row=row["id"]):
                self.check_row(row)
                if row["id"].startswith("filter"):  # the kernel leaves out what it rejects
                    self.assertGreater(
                        row["functions"][0]["passed"], 0.8 * row["functions"][0]["packets"]
                    )
                if is_counted:
                    self.assertGreater(row["instructions"]["net"], 0)
                    self.assertGreater(
                        row["live"]["counted"]["packets"], row["instructions"]["packets"] // 2
                    )
        self.assertEqual(
            document["live"]["timed"]["packets"],
            sum(row["live"]["timed"]["packets"] for row in document["rows"]),
        )
        self.assertEqual(
            (document["additive"]["cycles"], document["losses"]["equation_holds"]), (None, True)
        )
        self.assertIn("--record measures them on recorded packets): five, search-64,", self.out)
        lines = (self.folder / "cost.csv").read_text().splitlines()
        place = lines[0].split(",").index("timed_packets")
        self.assertEqual(
            [int(line.split(",")[place]) for line in lines[1:]],
            [row["live"]["timed"]["packets"] for row in document["rows"]],
        )
        if REPORT.exists() and shutil.which("gnuplot"):
            subprocess.run(
                [REPORT, self.folder / "cost.json", "-o", self.folder / "report"], check=True
            )
            self.assertIn(
                "Packets from the live device", (self.folder / "report/index.html").read_text()
            )

    def test_every_function_is_measured(self):
        self.keep_sending(UDP, TCP, ARP)
        options = [
            word for flow in FLOWS.values() for word in ("--flow", flow.format(folder=self.folder))
        ]
        self.end(self.begin("--no-instructions", "-d", "20", "-c", "300", *options))
        for name, row in zip(FLOWS, self.document()["rows"], strict=True):
            with self.subTest(function=name):
                self.check_row(row)

    def test_what_did_not_fit_in_the_kernels_buffer_is_reported(self):
        config = self.folder / "mapi.conf"
        config.write_text("[driver]\ndevice=tap\ndriver=af_packet\npath=far\nbuffer_mb=2\n")
        program = self.begin_and_listen(*ONE_ROW, "-d", "6", device="tap", MAPI_CONF=str(config))
        time.sleep(0.3)
        program.send_signal(signal.SIGSTOP)  # packets stay in the buffer
        send("near", BROADCAST + b"\x08\0" + b"x" * 1486, count=10000)
        program.send_signal(signal.SIGCONT)
        self.end(program)
        timed = self.document()["rows"][0]["live"]["timed"]
        self.assertGreater(timed["drops"]["kernel"], 1000)
        self.assertEqual(timed["packets"] + timed["drops"]["kernel"], 10000)
        self.assertRegex(self.out, rf"dropped +{timed['drops']['kernel']} kernel")

    def test_a_device_without_packets_is_an_error_with_a_remedy(self):
        program = self.begin("-d", "1")
        self.end(program, 3)
        self.assertEqual(self.out, "")
        self.assertRegex(self.err, r"far: no packet arrived in 1 s \(.*--duration\)")
        self.assertFalse((self.folder / "cost.json").exists())

    def test_a_filter_that_passes_nothing_does_not_affect_the_other_rows(self):
        self.keep_sending(UDP)
        self.end(
            self.begin(
                "--no-instructions",
                "-d",
                "1",
                "--scenario",
                "filter",
                "--scenario",
                "counter",
            ),
            1,
        )
        counter, filtered = self.document()["rows"]
        self.check_row(counter)
        self.assertIsNone(filtered["cycles"])  # the kernel had the filter before the first packet
        self.assertIn(
            "far: too few packets that pass the filter arrived within 1 s", filtered["missing"]
        )

    def test_ctrl_c_keeps_the_rows_that_are_finished(self):
        self.keep_sending(UDP)
        program = self.begin_and_listen("--no-instructions", "-d", "1", "-c", "1000000")
        self.assertTrue(wait_until(lambda: self.sockets() == 0))  # between two rows
        self.assertTrue(wait_until(lambda: self.sockets() > 0))
        program.send_signal(signal.SIGINT)
        self.end(program, 130)
        document = self.document()
        self.assertTrue(document["interrupted"])
        self.assertTrue(0 < len(document["rows"]) < len(LIVE_ROWS), document["rows"])
        self.check_row(document["rows"][0])

    def test_packets_can_be_recorded_first_so_that_rows_have_the_same_ones(self):
        program = self.begin_and_listen(
            "--record", *ONE_ROW, "--scenario", "search-64", "-c", "3000", "--filter", "udp"
        )
        send("near", UDP, ARP, count=2000)
        self.end(program)
        document = self.document()
        self.assertEqual(
            (document["live"], document["capture"]["path"], document["capture"]["packets"]),
            (None, "far", 3000),
        )
        self.assertEqual(
            [(row["id"], row["live"]) for row in document["rows"]],
            [("counter", None), ("search-64", None)],
        )
        self.assertIn("the first 3000 packets of far", self.out)

    def test_rows_that_cannot_be_live_and_live_options_without_a_device_are_usage_errors(self):
        self.end(self.begin("--scenario", "search-64"), 2)
        self.assertIn(
            '--scenario: "search-64" cannot be measured on a live device (add --record', self.err
        )
        self.end(self.begin("--scenario", "table4"), 2)
        for option in (["--record"], ["-d", "1"]):
            done = subprocess.run(
                [COST, *option, "-r", "capture.pcap"], capture_output=True, text=True
            )
            self.assertEqual((done.returncode, "requires -i" in done.stderr), (2, True))
        self.end(self.begin(device="nowhere"), 3)
        self.assertIn('no device or network interface "nowhere"', self.err)


if __name__ == "__main__":
    main()
