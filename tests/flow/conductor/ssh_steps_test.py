#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsconduct's steps on a real ssh server: results come back whole, and no process stays behind."""

import os
import pathlib
import signal
import threading
import time
import unittest

import ssh_hosts
from ssh_hosts import LEASE_S, wait_until
from ssh_players import WorldCase


class Steps(WorldCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.player = cls.enterClassContext(cls.player(cls))

    def run_step(self, command, timeout_s=20):
        return self.player.run(command, timeout_s, self.out, self.err)

    def running(self, words):
        return [line for line in self.host.processes().values() if line.startswith(words)]

    def test_output_exit_code_and_time_of_a_step_come_back(self):
        before = time.time_ns()
        result = self.run_step("echo hello; printf '\\377\\000' >&2; sleep 0.2; exit 3")
        self.assertEqual((result.exit_code, result.timed_out, result.failure), (3, False, None))
        self.assertEqual(self.out.read_bytes(), b"hello\n")
        self.assertEqual(self.err.read_bytes(), b"\xff\x00")
        self.assertGreaterEqual(result.duration_ns, 200_000_000)
        self.assertTrue(before < result.start_unix_ns < time.time_ns() - 200_000_000)

    def test_output_longer_than_a_request_is_whole(self):
        result = self.run_step("seq 1000000; seq 300000 >&2")
        self.assertIsNone(result.failure)
        lines = "".join(f"{number}\n" for number in range(1, 1_000_001))
        self.assertEqual(self.out.read_text(), lines)
        self.assertEqual(self.err.read_text(), lines[: self.err.stat().st_size])
        self.assertTrue(self.err.read_text().endswith("\n300000\n"))

    def test_a_step_that_takes_too_long_is_ended_with_all_its_processes(self):
        result = self.run_step("trap '' TERM; setsid sleep 701 & sleep 702; sleep 703", 0.3)
        self.assertTrue(result.timed_out)
        self.assertIsNone(result.failure)
        self.assertEqual(self.running("sleep 70"), [])

    def test_a_command_that_a_signal_ends_has_its_number(self):
        self.assertEqual(self.run_step("kill -9 $$").exit_code, -9)

    def test_missing_programs_are_named(self):
        self.assertEqual(self.player.check(["sh", "no-such-program", "sleep"]), ["no-such-program"])

    def test_a_step_and_a_spawned_process_outlive_the_lease_that_is_renewed(self):
        paths = [self.world.folder / name for name in ("one.out", "one.err", "two.out", "two.err")]
        result = self.player.spawn("echo begin; exec sleep 704", *paths[:2])
        self.assertEqual((result.exit_code, result.failure), (None, None))
        self.player.spawn("echo short; exit 4", *paths[2:])
        result = self.run_step(f"sleep {1.2 * LEASE_S}; echo end")  # longer than a request
        self.assertEqual((result.exit_code, result.failure), (0, None))
        self.assertEqual(self.out.read_text(), "end\n")
        self.assertEqual(self.running("sleep 704"), ["sleep 704"])
        first, second = self.player.end_spawned()
        self.assertEqual((first.exit_code, first.ended_by_us, first.failure), (-15, True, None))
        self.assertEqual((second.exit_code, second.ended_by_us, second.failure), (4, False, None))
        self.assertEqual((paths[0].read_text(), paths[2].read_text()), ("begin\n", "short\n"))
        self.assertEqual(self.running("sleep"), [])
        self.assertEqual(self.player.end_spawned(), [])

    def test_a_server_that_a_step_leaves_in_the_background_ends_with_the_trial(self):
        result = self.run_step("setsid sleep 705 >/dev/null 2>&1 & echo started")
        self.assertEqual((result.exit_code, result.failure), (0, None))
        self.assertEqual(self.running("sleep"), ["sleep 705"])
        self.player.end_spawned()
        self.assertEqual(self.running("sleep"), [])

    def test_an_interrupt_ends_the_step_and_the_next_ones_until_resume(self):
        results = []
        runner = threading.Thread(target=lambda: results.append(self.run_step("sleep 706")))
        runner.start()
        self.assertTrue(wait_until(lambda: self.running("sleep 706")))
        self.player.interrupt()
        runner.join(10)
        self.assertEqual(results[0].failure, "interrupted")
        self.assertEqual(self.run_step("echo no").failure, "interrupted")
        self.player.resume()
        self.assertEqual(self.running("sleep"), [])
        self.assertEqual(self.run_step("echo yes").exit_code, 0)

    def test_a_file_that_cannot_be_written_is_named(self):
        result = self.player.run("echo", 5, self.world.folder / "no" / "file", self.err)
        self.assertIn("no/file: cannot write: No such file", result.failure)

    def test_a_step_continues_when_the_connection_is_made_again(self):
        results = []
        runner = threading.Thread(
            target=lambda: results.append(self.run_step(f"sleep {LEASE_S / 2}; echo end"))
        )
        runner.start()
        self.assertTrue(wait_until(lambda: self.running("sleep")))
        for pid in self.host.all_processes():
            if "sshd: root" in pathlib.Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, signal.SIGKILL)
        runner.join(20)
        self.assertEqual((results[0].exit_code, results[0].failure), (0, None))
        self.assertEqual(self.out.read_text(), "end\n")


if __name__ == "__main__":
    ssh_hosts.enter()
    unittest.main()
