#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sids on a veth pair: live packets are counted, copied and reported, exact to the packet, and a
reload loses none of rules that stay."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from mapi_live_library import ARP, TCP, UDP, LiveTest, main, send, wait_until
from mapid import Daemon
from sids_library import SIDS, ask, environment, packets, tables

SENT = 300  # of each kind


class SidsLive(LiveTest):
    def setUp(self):
        super().setUp()
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.rules, self.out = self.folder / "a.rules", self.folder / "out"

    def begin(self, rules, *arguments, socket="none"):
        self.rules.write_text(rules)
        with open(self.out, "w") as out:
            self.program = subprocess.Popen(
                [SIDS, "-R", self.rules, "-i", "far", "--all", *arguments],
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
                cwd=self.folder,
                env=environment(socket),
            )
        self.addCleanup(self.program.kill)
        # a table is printed once the rules are connected
        self.show(lambda table: table)

    def last_table(self):
        shown = tables(self.out.read_text())
        return packets("#" + shown[-1]) if shown else {}

    def show(self, condition):
        def is_shown():
            ask(self.program, signal.SIGUSR1)
            return condition(self.last_table())

        self.assertTrue(wait_until(is_shown), self.out.read_text())

    def end(self):
        self.program.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self):
        errors = self.program.communicate(timeout=30)[1]
        self.assertEqual(self.program.returncode, 0, errors)
        return errors

    def test_live_packets_are_counted_copied_and_reported_to_the_packet(self):
        self.begin("copy udp; id:1;\ncount arp; id:2;\ncount tcp; id:3;\n", "--alerts", "alerts")
        send("near", UDP, ARP, TCP, count=SENT)
        expected = {1: SENT, 2: SENT, 3: SENT}
        self.show(lambda table: table == expected)
        self.assertEqual(self.end(), "")
        self.assertEqual(self.last_table(), expected)
        copied = subprocess.run(
            ["tshark", "-n", "-r", self.folder / "1.pcapng", "-Y", "udp"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertEqual(len(copied.splitlines()), SENT)
        lines = [json.loads(line) for line in (self.folder / "alerts").read_text().splitlines()]
        self.assertEqual(len(lines), 3 * SENT + 1)
        self.assertEqual(lines[-1]["stats"]["kernel_drops"], 0)
        self.assertTrue(lines[-1]["stats"]["is_complete"])

    def stop_with_waiting_packets(self, rules, count, *arguments):
        """sids stands still while mapid takes packets for it."""
        daemon = Daemon()
        self.addCleanup(daemon.close)
        watcher = daemon.client()
        watcher.do("flow = Flow.on_device('far')\nflow.apply('PKT_COUNTER')\nflow.connect()")
        self.begin(rules, *arguments, socket=daemon.socket)
        self.program.send_signal(signal.SIGSTOP)
        send("near", UDP, count=count)
        self.assertTrue(wait_until(lambda: watcher.get("flow.word(1)") >= count))

    def test_all_alerts_that_wait_at_the_end_are_written(self):
        self.stop_with_waiting_packets("count udp; id:1;\n", 3000, "--alerts", "alerts")
        self.program.send_signal(signal.SIGINT)
        self.program.send_signal(signal.SIGCONT)
        self.assertEqual(self.ended(), "")
        lines = [json.loads(line) for line in (self.folder / "alerts").read_text().splitlines()]
        self.assertEqual(self.last_table(), {1: 3000})
        self.assertEqual(len(lines), 3000 + 1)
        self.assertTrue(lines[-1]["stats"]["is_complete"])

    def test_a_reload_that_cannot_write_the_last_alerts_ends_the_program(self):
        self.stop_with_waiting_packets("count udp; id:1;\n", 10, "--alerts", "/dev/full")
        self.rules.write_text("count tcp; id:2;\n")
        self.program.send_signal(signal.SIGHUP)
        self.program.send_signal(signal.SIGCONT)
        errors = self.program.communicate(timeout=30)[1]
        self.assertEqual(self.program.returncode, 3, errors)
        self.assertIn("/dev/full: cannot write: No space left", errors)

    def test_a_reload_loses_no_packet_of_a_rule_that_stays(self):
        self.begin("count udp; id:1;\ncount tcp; id:2;\n")
        for i in range(10):
            send("near", UDP, count=SENT // 10)
            self.rules.write_text(f"count udp; id:1;\ncount tcp port {i + 1}; id:{i + 3};\n")
            self.program.send_signal(signal.SIGHUP)
            self.show(lambda table, i=i: i + 3 in table)
        self.show(lambda table: table[1] == SENT)
        self.assertEqual(self.end().count("were read again: 1 kept, 1 added, 1 removed"), 10)

    def test_on_a_terminal_the_table_is_shown_anew_and_in_full_at_the_end(self):
        self.rules.write_text('count udp; id:1; msg:"name";\ncount arp; id:2;\n')
        leader, follower = os.openpty()
        program = subprocess.Popen(
            [SIDS, "-R", self.rules, "-i", "far", "--interval", "0.1"],
            stdout=follower,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        self.addCleanup(program.kill)
        os.close(follower)
        shown = b""
        while b"sids: far" not in shown:
            shown += os.read(leader, 4096)
        send("near", UDP, count=5)
        # earlier screens may have fewer of the packets
        while not re.search(rb"(?s)\x1b\[H\x1b\[2J.* 1 +5 +\d+  .*name", shown):
            shown += os.read(leader, 4096)
        program.send_signal(signal.SIGINT)
        self.assertEqual(program.wait(30), 0)
        end = b""
        while b"\tname" not in end:
            end += os.read(leader, 4096)
        os.close(leader)


if __name__ == "__main__":
    main()
