#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-cost measures requested flows: of every function, and of several that refer to each
other."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import needs
from mapid import Client, Daemon

BIN = pathlib.Path(
    os.environ.get("NETSLICE_BIN") or pathlib.Path(os.environ["NETSLICE_BUILD"]) / "bin"
)
DEMO = pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "mapi-core/apps/demo/demo.pcap"
FLOWS = {
    "BPF_FILTER": "BPF_FILTER 'tcp port 80'",
    "STR_SEARCH": "STR_SEARCH GET 0 0",
    "REGEXP": "REGEXP 'HTTP.*OK'",
    "MATCH": "MATCH 'dsize:>0;'",
    "INTERFACE": "INTERFACE 0",
    "STARTSTOP": "STARTSTOP 0 +1h",
    "SYNC": "SYNC 1",
    "SAMPLE": "SAMPLE 2 2",
    "SAMPLE_PACKETS": "SAMPLE_PACKETS 2 PERIODIC",
    "HASHSAMP": "HASHSAMP 1024 1",
    "PKTSELECT": "PKTSELECT 4294967296 0 64 1",
    "CONNECTION": "CONNECTION established,midstream",
    "CONNECTION_BITS": "STR_SEARCH GET 0 0 | CONNECTION_BITS set:get",
    "RATE_FILTER": "RATE_FILTER 'threshold; type limit; track by_src; count 1; seconds 60'",
    "TRACK": "TRACK DNS",
    "PKT_COUNTER": "PKT_COUNTER",
    "BYTE_COUNTER": "BYTE_COUNTER",
    "PKTINFO": "PKTINFO 2",
    "GAP": "GAP",
    "HASH": "HASH 3",
    "BURST": "BURST 100 100000 100 96 1000 1000 1000",
    "TOP": "TOP 5 1 8",
    "BINOP": "PKT_COUNTER | BPF_FILTER tcp | PKT_COUNTER | BINOP 1 @1 @3",
    "STATS": "PKTINFO 1 | STATS @1 0",
    "DIST": "PKTINFO 1 | DIST @1 0 2000 100",
    "BUCKET": "PKT_COUNTER | BUCKET @1 1s 0",
    "THRESHOLD": "PKT_COUNTER | THRESHOLD 2 @1 100 1 0 1 5",
    "RES2FILE": "PKT_COUNTER | BYTE_COUNTER | RES2FILE 1,1 @1,@2 '' {folder}/rows 1s",
    "EXPIRED_FLOWS": "EXPIRED_FLOWS 5 5 2",
    "FLOW_REPORT": "FLOW_REPORT NETFLOW_V9 {folder}/flows '' ''",
    "ANONYMIZE": "ANONYMIZE IP,SRC_IP,MAP | PKT_COUNTER",
    "ANONYMIZEIP": "ANONYMIZEIP 0123456789abcdef0123456789abcdef",
    "COOKING": "COOKING 0 0 0 3 | STR_SEARCH GET 0 0",
    "UNCOOK": "COOKING 0 0 0 3 | UNCOOK 536",
    "TO_BUFFER": "TO_BUFFER | PKT_COUNTER",
    "TO_FILE": "TO_FILE 0 {folder}/packets 0",
    "PERF_START": "PERF_START | BPF_FILTER tcp | PERF_STOP",
}
NOT_HERE = {"INJECT", "PERF_STOP"}  # INJECT sends; PERF_STOP is in the flow of PERF_START
# Functions that use nDPI or ports, without an argument.
FLOWS |= {
    name: name
    for name in (
        "TRACK_FTP",
        "TRACK_DC",
        "TRACK_GNUTELLA",
        "TRACK_EDONKEY",
        "TRACK_TORRENT",
        "TRACK_IRC",
        "TRACK_SKYPE",
        "TRACK_WEB",
        "TRACK_MAPI",
        "TRACK_GRID_FTP",
        "TRACK_IPOVERIP",
    )
}


class OwnFlows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def measure(self, *flows, status=0, **environment):
        options = [word for flow in flows for word in ("--flow", flow)]
        done = subprocess.run(
            [
                BIN / "mapi-cost",
                "--no-instructions",
                "--no-thinning",
                "-c",
                "5000",
                "--json",
                *options,
                "-r",
                DEMO,
            ],
            capture_output=True,
            text=True,
            env=os.environ | environment,
            timeout=240,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stderr + done.stdout[-4000:])
        return json.loads(done.stdout)["rows"] if status == 0 else done.stderr

    def test_a_flow_of_every_function_can_be_asked_for(self):
        library = Client("none")
        self.addCleanup(library.close)
        self.assertEqual(set(library.get("function_names()")), set(FLOWS) | NOT_HERE)
        rows = self.measure(*(flow.format(folder=self.folder) for flow in FLOWS.values()))
        for name, flow, row in zip(FLOWS, FLOWS.values(), rows, strict=True):
            with self.subTest(function=name):
                self.assertEqual(
                    [function["name"] for function in row["functions"]],
                    [words.split()[0] for words in flow.split("|")],
                )
                self.assertEqual(row["functions"][0]["packets"] % 4827, 0)  # capinfos -c
                self.assertGreater(row["cycles"]["net"], 0)
                self.assertIn("dispatch", [part["name"] for part in row["parts"]])

    def test_functions_get_the_given_arguments(self):
        rows = self.measure(
            "BPF_FILTER 'tcp and not port 80' | STR_SEARCH 'GET ' 0 0x5dc | PKT_COUNTER"
        )
        passed = [function["passed"] / function["packets"] for function in rows[0]["functions"]]
        listed = subprocess.run(
            ["tcpdump", "-r", DEMO, "--count", "tcp and not port 80"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertAlmostEqual(passed[0], int(listed.split()[0]) / 4827)

    def test_it_measures_in_its_own_process_if_a_mapid_runs(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        (row,) = self.measure("PKT_COUNTER", MAPI_SOCKET=str(daemon.socket))
        self.assertGreater(row["cycles"]["net"], 0)

    def test_an_error_in_a_flow_is_a_usage_error_or_refused_and_named(self):
        self.assertIn('unknown function "NO_SUCH"', self.measure("NO_SUCH", status=2))
        self.assertIn("does not refer to an earlier function", self.measure("STATS @1 0", status=2))
        self.assertIn("no such filter", self.measure("BPF_FILTER 'no such filter'", status=3))


if __name__ == "__main__":
    needs.tools("tcpdump")
    unittest.main()
