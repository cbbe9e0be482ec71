#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes to a connected flow: functions are reset, removed, and measured; with and without
mapid."""

import csv
import io
import os
import pathlib
import subprocess
import unittest

import needs
from mapid import BUILD, DATA, Client, ClientError, Daemon, wait_until

TRACE = DATA / "mapi/tracefile"
PERF_CAPTURE = pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "mapi-core/apps/demo/demo.pcap"
REPEATED = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
FLOW = "flow = Flow.on_device('tap')\n"
CALLS = 50  # of a function: enough for a mean
MOST_APART = 3.0  # between two means on a busy machine
ROUNDS = 3


def trace_packets():
    return int(
        subprocess.run(
            ["tcpdump", "-n", "-r", TRACE, "--count"], capture_output=True, text=True, check=True
        ).stdout.split()[0]
    )


class Changed(unittest.TestCase):
    def each_client(self):
        """Through mapid, and with an engine in the process."""
        daemon = Daemon(REPEATED)
        self.addCleanup(daemon.close)
        for client in (daemon.client(), daemon.alone()):
            yield daemon, client

    def test_a_count_is_reset_and_another_flow_s_continues(self):
        for _, client in self.each_client():
            client.do(
                (
                    "other = Flow.on_device('tap')\nsame = other.apply('PKT_COUNTER')\n"
                    "other.connect()\n"
                )
                + FLOW
                + "count = flow.apply('PKT_COUNTER')\nflow.connect()"
            )
            self.assertTrue(wait_until(lambda: client.get("flow.word(count)") > 100000))
            before, after, elsewhere = client.get(
                "[flow.word(count), flow.reset(count) or flow.word(count), other.word(same)]"
            )
            # the other one, which is older, continues to count
            self.assertLessEqual(after, elsewhere - before)
            self.assertTrue(wait_until(lambda: client.get("flow.word(count)") > after))
            client.do("flow.close()\nother.close()")

    def test_a_result_of_many_words_and_one_in_place_are_reset(self):
        for _, client in self.each_client():
            client.do(
                FLOW + "count = flow.apply('PKT_COUNTER')\nsize = flow.apply('PKTINFO', 1)\n"
                "stats = flow.apply('STATS', flow.fd, size, '0')\n"
                "dist = flow.apply('DIST', flow.fd, size, '0', '1500', '100')\nflow.connect()"
            )
            self.assertTrue(wait_until(lambda: client.get("flow.words(stats)[0]") > 100000))
            before = client.get("[flow.words(stats)[0], sum(flow.words(dist)[3:-1])]")
            client.do("flow.reset(stats)\nflow.reset(dist)")
            after = client.get("[flow.words(stats)[0], sum(flow.words(dist)[3:-1])]")
            counted = client.get("flow.word(count)")
            for old, new in zip(before, after):
                self.assertLessEqual(new, counted - old)
            client.do("flow.close()")

    def test_a_function_that_cannot_be_reset_is_refused_by_name(self):
        for _, client in self.each_client():
            client.do(FLOW + "buffer = flow.apply('TO_BUFFER', 1)\nflow.connect()")
            with self.assertRaisesRegex(ClientError, "6147: TO_BUFFER cannot be reset"):
                client.do("flow.reset(buffer)")
            client.do("flow.close()")

    def test_a_file_is_whole_once_its_function_is_removed_and_the_flow_continues(self):
        for daemon, client in self.each_client():
            written = daemon.folder / "written.pcap"
            client.do(
                FLOW
                + (
                    "count = flow.apply('PKT_COUNTER')\n"
                    f"file = flow.apply('TO_FILE', 0, {str(written)!r}, 5000)\nflow.connect()"
                )
            )
            self.assertTrue(wait_until(lambda: client.get("flow.word(count)") > 50000))
            client.do("flow.remove(file)")
            counted = subprocess.run(
                ["tcpdump", "-n", "-r", written, "--count"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            self.assertEqual(int(counted.split()[0]), 5000)
            before = client.get("flow.word(count)")
            self.assertTrue(wait_until(lambda: client.get("flow.word(count)") > before))
            with self.assertRaisesRegex(ClientError, "6147: function 2 of the flow was removed"):
                client.do("flow.word(file)")
            client.do("flow.close()")

    def test_a_flow_without_its_first_function_is_listed_measured_and_closed_as_others_are(self):
        daemon = Daemon(REPEATED)
        self.addCleanup(daemon.close)
        other = daemon.client()
        other.do(FLOW + "count = flow.apply('PKT_COUNTER')\nflow.connect()")
        for leave in (lambda client: client.do("flow.close()")), Client.kill:
            client = daemon.client()
            client.do(
                FLOW
                + (
                    "size = flow.apply('PKTINFO', 1)\nhash = flow.apply('HASH', 3)\n"
                    "count = flow.apply('PKT_COUNTER')\nflow.connect()"
                )
            )
            self.assertTrue(wait_until(lambda: client.get("flow.word(count)") > 1000))  # pylint: disable=cell-var-from-loop
            client.do("flow.remove(size)")
            listed = subprocess.run(
                [BUILD / "bin/mapi-info", "--socket", daemon.socket, "functions"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            self.assertEqual(
                [line.split()[5] for line in listed.splitlines()[1:]],
                ["PKT_COUNTER", "HASH", "PKT_COUNTER"],
            )
            leave(client)
        before = other.get("flow.word(count)")
        self.assertTrue(wait_until(lambda: other.get("flow.word(count)") > before))

    def test_a_reader_that_waits_in_a_removed_buffer_continues(self):
        for _, client in self.each_client():
            client.do(
                "import threading\n" + FLOW + "flow.apply('BPF_FILTER', 'ether proto 0x1234')\n"
                "buffer = flow.apply('TO_BUFFER', 0)\nflow.connect()\n"
                "reader = threading.Thread(target=lambda: list(flow.packets(buffer)), "
                "daemon=True)\nreader.start()"
            )
            client.do(
                "import time\ntime.sleep(0.3)\nassert reader.is_alive()\nflow.remove(buffer)\n"
                "reader.join(10)\nassert not reader.is_alive()\nflow.close()"
            )

    def test_removing_or_resetting_what_is_not_there_is_an_error(self):
        for _, client in self.each_client():
            client.do(
                FLOW
                + (
                    "filter = flow.apply('BPF_FILTER', 'tcp')\ncount = flow.apply('PKT_COUNTER')\n"
                    "flow.connect()"
                )
            )
            for call, words in (
                ("flow.remove(7)", "6147"),
                ("flow.reset(0)", "6147"),
                (
                    "flow.remove(filter)",
                    "6163: BPF_FILTER cannot be removed: PKT_COUNTER, function 2",
                ),
                (
                    "flow.remove(count) or flow.remove(count)",
                    "6147: function 2 of the flow was removed",
                ),
            ):
                with self.assertRaisesRegex(ClientError, words):
                    client.do(call)
            client.do("flow.remove(filter)\nflow.close()")


class Measured(unittest.TestCase):
    def test_functions_between_are_measured_for_all_packets_that_reach_them(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        for client in (daemon.client(), daemon.alone()):
            client.do(
                f"flow = Flow.offline({str(TRACE)!r})\nflow.apply('PERF_START')\n"
                "flow.apply('BPF_FILTER', 'tcp')\ncount = flow.apply('PKT_COUNTER')\n"
                "stop = flow.apply('PERF_STOP')\nflow.run()"
            )
            perf = client.get("flow.perf(stop)")
            self.assertEqual(perf["packets"], trace_packets())
            self.assertGreater(perf["calls"], perf["packets"] / 64)
            self.assertGreater(perf["ticks"], 0)
            self.assertGreater(perf["ticks_per_second"], 10**6)
            self.assertEqual(perf["counted_calls"] == 0, perf["source"] == "none")
            client.do("flow.close()")

    def perf_of_search(self, daemon, ask):
        client = daemon.alone()
        client.do(ask.format("flow.apply('PERF_START')\n", "stop = flow.apply('PERF_STOP')\n"))
        perf = client.get("flow.perf(stop)")
        client.do("flow.close()")
        return perf["ticks"] / perf["calls"], perf["calls"]

    def probes_of_search(self, daemon, ask):
        trace = daemon.folder / "trace.nsl"
        recorded = daemon.alone(NETSLICE=f"output={trace}")
        recorded.do(ask.format("", ""))
        recorded.close()
        daemon.clients.remove(recorded)
        rows = subprocess.run(
            [BUILD / "bin/nsdump", "stats", "--format", "csv", trace],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        row = next(row for row in csv.DictReader(io.StringIO(rows)) if row["name"] == "STR_SEARCH")
        # migrated by the scheduler
        return float(row["net_mean"]), int(row["count"]) + int(row["migrated"])

    def test_the_mean_is_near_that_of_the_probes(self):
        # the meter's calls are per batch
        daemon = Daemon(f"[driver]\ndevice=capture\npath={PERF_CAPTURE}\nbatch=64\n")
        self.addCleanup(daemon.close)
        ask = (
            "flow = Flow.on_device('capture')\n"
            "{}flow.apply('STR_SEARCH', 'a string that is not there', 0, 0)\n{}flow.run()"
        )
        perfs = [self.perf_of_search(daemon, ask) for _ in range(ROUNDS)]
        probes = [self.probes_of_search(daemon, ask) for _ in range(ROUNDS)]
        self.assertEqual({calls for _, calls in perfs}, {calls for _, calls in probes})
        self.assertGreater(perfs[0][1], CALLS)
        ratio = min(perfs)[0] / min(probes)[0]  # the least disturbed ones
        self.assertLess(max(ratio, 1 / ratio), MOST_APART)


if __name__ == "__main__":
    needs.tools("tcpdump")
    needs.captures(TRACE)
    unittest.main()
