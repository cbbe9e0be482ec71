#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All kinds of requests to mapid at the same time: short-lived programs, reloads, metrics, lists,
recordings. Under a sanitizer mapid's exit code shows whether it found something; programs of the
same build are the clients."""

import concurrent.futures
import http.client
import os
import signal
import subprocess
import time
import unittest

import needs
from mapid import BUILD, DATA, Daemon, free_port

TRACE = DATA / "mapi/tracefile"
SECONDS = 8
OTHER = f"[driver]\ndevice=other\npath={TRACE}\nrepeat=forever\ndescription=%d\n"
TAP = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
FLOWS = (
    (
        "tap",
        "BPF_FILTER tcp | PKT_COUNTER",
        "STR_SEARCH www 0 0 | BYTE_COUNTER",
        "BPF_FILTER 'udp port 53' | TO_BUFFER 1",
    ),
    (
        "tap",
        "PKTINFO 1 | STATS @1 0 | DIST @1 0 1500 100",
        "BPF_FILTER tcp | PKT_COUNTER | BUCKET @2 10ms 1",
    ),
    ("other", "TOP 5 1 9", "HASHSAMP 100 1", "EXPIRED_FLOWS 100 10 1"),
    ("other", *(f"BPF_FILTER 'port {port}' | PKT_COUNTER" for port in range(20, 60))),
)


class Threads(unittest.TestCase):
    def setUp(self):
        self.port = free_port()
        self.daemon = Daemon(TAP + OTHER % 0, "--metrics", f"127.0.0.1:{self.port}")
        self.addCleanup(self.daemon.close)
        self.end = time.monotonic() + SECONDS

    def run_program(self, name, *arguments, codes=(0,)):
        done = subprocess.run(
            [BUILD / "bin" / name, *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=os.environ | {"MAPI_SOCKET": str(self.daemon.socket)},
        )
        self.assertIn(done.returncode, codes, f"{name} {arguments}\n{done.stderr}")

    def count_flows(self, device, *flows):
        """Ends with 1 if packets were lost, as happens when a buffer's reader is slow."""
        self.run_program(
            "mapi-flow", "-i", device, "-d", "0.3", "--interval", "0.1", *flows, codes=(0, 1)
        )

    def ask_for_metrics(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.read()[:6]), (200, b"# HELP"))
        connection.close()

    def record(self):
        self.run_program(
            "mapi-info",
            "--socket",
            self.daemon.socket,
            "record",
            "-d",
            "0.2",
            "-w",
            self.daemon.folder / "trace.nsl",
            codes=(0, 1),
        )

    def reload(self, number):
        # renamed into place: mapid may be reading it for the previous signal
        new = self.daemon.config.with_suffix(".new")
        new.write_text(TAP + OTHER % number)
        new.replace(self.daemon.config)
        self.daemon.process.send_signal(signal.SIGHUP)
        time.sleep(0.05)

    def repeat(self, work):
        number = 0
        while time.monotonic() < self.end:
            number += 1
            work(number)

    def test_concurrent_programs_reloads_metrics_and_recordings_leave_mapid_intact(self):
        works = [lambda _, flows=flows: self.count_flows(*flows) for flows in FLOWS]
        works += [
            lambda _: self.ask_for_metrics(),
            self.reload,
            lambda _: self.run_program("mapi-count", "-r", TRACE, "tcp", "udp"),
            lambda _: [
                self.run_program("mapi-info", "--socket", self.daemon.socket, what)
                for what in ("devices", "flows", "functions")
            ],
        ]
        if (
            "without probes"
            not in subprocess.run(
                [
                    self.daemon.program(),
                    "--socket",
                    "/no/such/folder/s",
                    "--record",
                    "/no/such/folder/t",
                ],
                check=False,
                capture_output=True,
                text=True,
                timeout=60,
            ).stderr
        ):
            works.append(lambda _: self.record())
        with concurrent.futures.ThreadPoolExecutor(len(works)) as pool:
            for done in [pool.submit(self.repeat, work) for work in works]:
                done.result()  # raises its exception
        self.assertNotIn("ThreadSanitizer", self.daemon.log())
        self.assertIsNone(self.daemon.process.poll())


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
