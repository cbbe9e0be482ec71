#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-flow on a veth pair: live packets are counted, searched, dumped and anonymised, exact to the
packet."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time

from mapi_library import BUILD
from mapi_live_library import ARP, TCP, UDP, LiveTest, main, send, wait_until

FLOW = BUILD / "bin/mapi-flow"
DEMO = pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "mapi-core/apps/demo/demo.pcap"
SENT = 500  # of each kind


class FlowLive(LiveTest):
    def test_live_packets_go_through_all_functions_of_a_flow_to_the_packet(self):
        with tempfile.TemporaryDirectory() as folder:
            dump, lines = pathlib.Path(folder) / "dump.pcap", pathlib.Path(folder) / "lines"
            flows = [
                "BPF_FILTER udp | PKT_COUNTER",
                f"BPF_FILTER ip | ANONYMIZE 'IP,SRC_IP,ZERO' | TO_FILE 0 {dump} 0",
                "BPF_FILTER arp | TO_BUFFER",
                "PERF_START | STR_SEARCH '|0806|' 12 2 | PERF_STOP",
            ]
            with open(lines, "w") as out:
                program = subprocess.Popen(
                    [FLOW, "-i", "far", "--interval", "0.2", *flows],
                    stdout=out,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                self.addCleanup(program.kill)
                self.assertTrue(wait_until(lambda: "PERF_STOP" in lines.read_text()))
                send("near", UDP, ARP, TCP, count=SENT)
                self.assertTrue(
                    wait_until(
                        lambda: (
                            f"2.3\tTO_FILE\t{2 * SENT}\t" in lines.read_text()
                            and f"4.1\tPERF_START\t{3 * SENT}\t" in lines.read_text()
                        )
                    )
                )
                time.sleep(0.3)  # a line after the last packet
                program.send_signal(signal.SIGINT)
                self.assertEqual((program.communicate(timeout=20)[1], program.returncode), ("", 0))
            rows = {
                words[0]: words
                for words in (line.split("\t") for line in lines.read_text().splitlines())
                if len(words) == 6
            }
            self.assertEqual(rows["1.2"][5], str(SENT))
            self.assertEqual(rows["4.2"][3], str(SENT))
            self.assertIn(f"packets={3 * SENT} ", rows["4.3"][5])
            self.assertEqual(
                lines.read_text().count("3.2\tTO_BUFFER\t")
                - sum(
                    line.startswith("3.2\t") and line.count("\t") == 5
                    for line in lines.read_text().splitlines()
                ),
                SENT,
            )
            judge = subprocess.run(
                ["tshark", "-n", "-r", dump, "-T", "fields", "-e", "ip.src"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.splitlines()
            self.assertEqual(judge, ["0.0.0.0"] * 2 * SENT)

    def test_results_of_injected_packets_have_names(self):
        program = subprocess.run(
            [FLOW, "-r", DEMO, "BPF_FILTER 'greater 60 and less 1000' | INJECT near"],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"MAPI_SOCKET": "none"},
        )
        _, _, _, passed, dropped, result = next(
            line.split("\t") for line in program.stdout.splitlines() if line.startswith("1.2\t")
        )
        counts = dict(word.split("=") for word in result.split())
        self.assertEqual(
            list(counts), ["sent", "no_room", "cut", "other_links", "refused", "refused_errno"]
        )
        self.assertGreater(int(counts["sent"]), 0)
        self.assertEqual(int(counts["sent"]) + int(dropped), int(passed))


if __name__ == "__main__":
    main()
