#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sids and signals: reloads, tables on request and the end, on a capture that comes through a
pipe."""

import os
import resource
import signal
import struct
import subprocess
import unittest

from mapi_flow_library import tcpdump
from mapid import Daemon
from sids_library import SIDS, SidsTest, alerts_of, ask, environment, packets, tables

HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
UDP = bytes.fromhex(
    "020202020202 040404040404 0800"
    "45000020 00000000 40110000 0a000001 0a000002 07d00035 000c0000 61626364"
)
TCP = UDP[:23] + b"\x06" + UDP[24:]


def record(frame, second=1):
    return struct.pack("<IIII", second, 0, len(frame), len(frame)) + frame


class Reload(SidsTest):
    def begin_on_pipe(self, rules, *arguments):
        """After the first packets were read: two of UDP, one of TCP."""
        self.program = self.begin(rules, "-r", "-", "--all", *arguments, stdin=subprocess.PIPE)
        self.pipe = self.program.stdin
        self.send(UDP, UDP, TCP, head=HEAD)

    def send(self, *frames, head=b""):
        self.pipe.write(head + b"".join(record(frame) for frame in frames))
        self.pipe.flush()

    def show(self, expected):
        """Asks for tables until one is as expected."""

        def is_shown():
            ask(self.program, signal.SIGUSR1)
            return self.last_table() == expected

        self.until(is_shown)

    def reload(self, rules, message):
        self.rules.write_text(rules)
        self.program.send_signal(signal.SIGHUP)
        self.until(lambda: message in self.err.read_text())

    def finish(self):
        self.pipe.close()
        return self.program.wait(30)

    def test_rules_that_stay_keep_their_counts_and_others_come_and_go(self):
        self.begin_on_pipe('count udp; msg:"a"; id:1;\ncount tcp; id:2;\ncount ip; id:3;\n')
        self.show({1: 2, 2: 1, 3: 3})
        self.reload(
            'count ip; id:4;\ncount udp; msg:"b"; rev:2; id:1;\ncount tcp port 1; id:3;\n',
            "the rules were read again: 1 kept, 2 added, 2 removed",
        )
        self.send(UDP, TCP, TCP)
        self.pipe.flush()
        self.assertEqual(self.finish(), 0)
        last = self.out.read_text().split("#id")[-1]
        rows = [line.split("\t") for line in last.splitlines()[1:]]
        self.assertEqual(
            [(row[0], row[1], row[4]) for row in rows],
            [
                ("4", "3", ""),
                ("1", "3", "b"),
                ("3", "0", ""),
                ("2", "1", " (removed)"),
                ("3", "3", " (removed)"),
            ],
        )

    def test_a_reload_with_errors_leaves_the_old_rules_and_prints_the_errors(self):
        self.begin_on_pipe("count udp; id:1;\n")
        self.show({1: 2})
        self.reload("count udp; id:1;\ncount tcp; id:x;\n", "(the old ones remain)")
        self.assertIn(f"{self.rules}:2:15: ", self.err.read_text())
        self.reload("copy udp; id:5;\ncount port port; id:6;\n", f"{self.rules}:2:7: ")
        self.assertEqual(list(self.folder.glob("*.pcapng")), [])
        self.rules.unlink()
        self.program.send_signal(signal.SIGHUP)
        self.until(lambda: "a.rules: No such file" in self.err.read_text())
        self.send(UDP)
        self.assertEqual(self.finish(), 0)
        self.assertEqual(self.last_table(), {1: 3})

    def test_a_reload_does_not_wait_for_a_rule_file_that_has_become_a_pipe(self):
        self.begin_on_pipe("count udp; id:1;\n")
        self.show({1: 2})
        self.rules.unlink()
        os.mkfifo(self.rules)
        self.program.send_signal(signal.SIGHUP)
        self.until(lambda: "is a pipe or a device" in self.err.read_text())
        self.send(UDP)
        self.show({1: 3})
        self.assertEqual(self.finish(), 0)

    def test_a_changed_rule_of_the_same_id_copies_into_a_new_file(self):
        self.begin_on_pipe("copy udp; id:1;\n")
        self.show({1: 2})
        self.reload("copy ip; id:1;\n", "0 kept, 1 added, 1 removed")
        self.send(TCP)
        self.assertEqual(self.finish(), 0)
        counts = [
            len(tcpdump(self.folder / name).splitlines()) for name in ("1.pcapng", "1-2.pcapng")
        ]
        self.assertEqual(counts, [2, 1])

    def test_a_reload_may_bring_more_copies_than_files_are_open_by_default(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        try:
            self.begin_on_pipe("count udp; id:1;\n", "--copy-folder", self.folder)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.show({1: 2})
        copies = "".join(f"copy udp; id:{number};\n" for number in range(2, 102))
        self.reload("count udp; id:1;\n" + copies, "1 kept, 100 added, 0 removed")
        self.assertEqual(self.finish(), 0)

    def test_names_of_flow_bits_of_removed_rules_make_room_for_others(self):
        def rules_of(generation):
            return "".join(
                f"count udp; flowbits:set,g{generation}n{i}; id:{generation * 1000 + i};\n"
                for i in range(300)
            )

        self.begin_on_pipe("count ip; id:1;\n" + rules_of(1))
        self.until(lambda: ask(self.program, signal.SIGUSR1) and self.last_table().get(1) == 3)
        for generation in range(2, 7):
            self.reload("count ip; id:1;\n" + rules_of(generation), "300 removed\n")
            self.until(
                lambda end=generation - 1: self.err.read_text().count("1 kept, 300 added") == end
            )
        self.assertNotIn("already", self.err.read_text())
        self.assertEqual(self.finish(), 0)

    def test_a_new_name_of_a_flow_bit_is_not_set_where_a_removed_one_was(self):
        self.begin_on_pipe("count udp; flowbits:set,old,all_old; id:1;\ncount tcp; id:2;\n")
        self.show({1: 2, 2: 1})
        self.reload("count tcp; id:2;\n", "1 kept, 0 added, 1 removed")
        self.reload(
            "count tcp; id:2;\ncount udp; flowbits:isset,new; id:3;\n"
            "count udp; flowbits:isnotset,new; id:4;\n",
            "1 kept, 2 added, 0 removed",
        )
        self.send(UDP, UDP)
        self.assertEqual(self.finish(), 0)
        last = packets(tables(self.out.read_text())[-1].partition("\n")[2])
        self.assertEqual((last[3], last[4]), (0, 2))

    def test_alerts_of_a_removed_rule_are_complete(self):
        self.begin_on_pipe("count udp; id:1;\ncount tcp; id:2;\n", "--alerts", "alerts")
        self.show({1: 2, 2: 1})
        self.reload("count tcp; id:2;\n", "1 kept, 0 added, 1 removed")
        self.send(UDP)
        self.assertEqual(self.finish(), 0)
        alerts, stats = alerts_of((self.folder / "alerts").read_text())
        self.assertEqual([a["alert"]["signature_id"] for a in alerts].count(1), 2)
        self.assertEqual((stats["rules"], stats["alerts"]), (1, 3))

    def test_a_reload_that_is_asked_for_during_the_start_is_remembered(self):
        os.mkfifo(self.folder / "pipe")
        program = self.begin("count udp; id:1;\n", "-r", self.folder / "pipe", "--all")
        # it waits for the writer of the pipe
        self.until(lambda: ask(program, signal.SIGHUP))
        with open(self.folder / "pipe", "wb") as pipe:
            pipe.write(HEAD + record(UDP))
            pipe.flush()
            self.until(lambda: "were read again: 1 kept" in self.err.read_text())
        self.assertEqual(program.wait(30), 0)
        self.assertEqual(self.last_table(), {1: 1})

    def test_an_interrupt_ends_with_the_table_and_whole_copies(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(signal=number):
                self.begin_on_pipe("copy udp; id:1;\n", "--copy-folder", self.folder)
                self.show({1: 2})
                self.program.send_signal(number)
                self.assertEqual(self.program.wait(30), 130)
                self.pipe.close()
                self.assertEqual(self.last_table(), {1: 2})
        for name in "1.pcapng", "1-2.pcapng":
            self.assertEqual(len(tcpdump(self.folder / name).splitlines()), 2)

    def test_intervals_print_tables(self):
        self.begin_on_pipe("count udp; id:1;\n", "--interval", "0.05")
        self.until(lambda: self.out.read_text().count("#id") >= 3)
        self.send(UDP)
        self.assertEqual(self.finish(), 0)
        self.assertEqual(self.last_table(), {1: 3})


class Mapid(SidsTest):
    def test_when_mapid_ends_the_table_of_the_last_look_is_printed(self):
        capture = self.folder / "c.pcap"
        capture.write_bytes(HEAD + record(UDP) * 10)
        daemon = Daemon(f"[driver]\ndevice=/dev/x\npath={capture}\nrepeat=forever\n")
        self.addCleanup(daemon.temporary.cleanup)
        program = self.begin(
            "count udp; id:1;\n", "-i", "/dev/x", "--interval", "0.1", socket=daemon.socket
        )
        self.until(lambda: self.last_table().get(1, 0) > 0)
        seen = self.last_table()[1]
        daemon.process.kill()
        daemon.process.wait()
        self.assertEqual(program.wait(60), 3)
        self.assertGreaterEqual(self.last_table()[1], seen)
        self.assertIn("sids: ", self.err.read_text())

    def test_a_device_can_be_read_for_a_time(self):
        capture = self.folder / "c.pcap"
        capture.write_bytes(HEAD + record(UDP) * 10)
        (self.folder / "mapi.conf").write_text(
            f"[driver]\ndevice=/dev/x\npath={capture}\nrepeat=forever\n"
        )
        self.rules.write_text("count udp; id:1;\n")
        program = subprocess.run(
            [SIDS, "-R", self.rules, "-i", "/dev/x", "-d", "1"],
            capture_output=True,
            text=True,
            check=False,
            env=environment() | {"MAPI_CONF": str(self.folder / "mapi.conf")},
        )
        self.assertEqual((program.stderr, program.returncode), ("", 0))
        self.assertGreater(packets(program.stdout)[1], 0)


if __name__ == "__main__":
    unittest.main()
