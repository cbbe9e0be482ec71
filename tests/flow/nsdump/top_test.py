#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump top: a running program with known slices -> what is shown of it, and how it ends."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from probed_programs import NSDUMP, ProbedProgramsTest, run
from terminal import ENTER, LEAVE, Terminal

# Waits for a session, then has as many units as its argument says (0: without end), each with 4
# packets, 2 slices "outer" and 2 "inner" inside.
PROGRAM = """
#include <nsprobe/probe.h>
#include <nsprobe/session.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned sink;

static void work(int steps)
{
    for (int i = 0; i < steps; ++i)
        sink += (unsigned)i;
}

int main(int argc, char **argv)
{
    const long units = argc > 1 ? atol(argv[1]) : 0;

    while (!nsp_session_is_on())
        usleep(1000);
    for (long unit = 0; unit < units || units == 0; ++unit) {
        NET_SLICE_INIT(batch, (unsigned)unit, 4, 256);
        for (int i = 0; i < 2; ++i) {
            NET_SLICE_START(outer);
            work(200);
            NET_SLICE_START(inner);
            work(50);
            NET_SLICE_STOP(inner);
            NET_SLICE_STOP(outer);
        }
        NET_SLICE_EXIT(batch);
        usleep(500);
    }
    return 0;
}
"""


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def by_name(interval):
    return {one["name"]: one for one in interval["slices"]}


class Top(ProbedProgramsTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.build(cls(), "topped", PROGRAM)

    def start(self, units=0):
        process = subprocess.Popen(
            [self.program, str(units)], env={**os.environ, "NETSLICE": "attach=yes"}
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        listener = f"@netslice.attach.{process.pid}\n"
        end = time.monotonic() + 30
        while listener not in pathlib.Path("/proc/net/unix").read_text():
            self.assertLess(time.monotonic(), end, "the program does not listen")
            time.sleep(0.01)
        return process

    def screen_of(self, process, *options, **size):
        terminal = Terminal(NSDUMP, "top", "--interval", "0.2", "-p", process.pid, *options, **size)
        self.assertTrue(terminal.wait_for(lambda text: "outer" in text), terminal.text)
        return terminal

    def test_every_slice_is_counted_once_over_all_intervals(self):
        process = self.start(3000)
        done = run(NSDUMP, "top", "-p", process.pid, "--interval", "0.25", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        intervals = lines_of(done.stdout)
        self.assertGreater(len(intervals), 2)
        for name in ("outer", "inner"):
            found = [by_name(one)[name] for one in intervals if name in by_name(one)]
            counted = sum(one["count"] + one["left_out"] for one in found)
            self.assertEqual(counted, 6000)
        self.assertEqual(sum(one["records"] for one in intervals), 3000 * 10)
        self.assertEqual([one["program_ended"] for one in intervals[-2:]], [False, True])
        self.assertIn("program ended", done.stderr)

    def test_values_are_net_per_packet_and_nested(self):
        process = self.start()
        done = run(NSDUMP, "top", "topped", "--once", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        (interval,) = lines_of(done.stdout)
        self.assertEqual(interval["schema"], "netslice-top-1")
        self.assertEqual((interval["pid"], interval["program"]), (process.pid, "topped"))
        self.assertGreater(interval["probe_pair_ns"], 0)
        outer, inner = (by_name(interval)[name] for name in ("outer", "inner"))
        for one in (outer, inner):
            self.assertTrue(one["ns"]["corrected"])
            self.assertGreater(one["ns"]["mean"], 0)
            self.assertGreater(one["ns"]["ci95"], 0)
        self.assertGreater(outer["ns"]["total"], inner["ns"]["total"])
        # two slices in a unit of four packets
        self.assertAlmostEqual(
            outer["ns_per_packet"], outer["ns"]["mean"] / 2, delta=outer["ns"]["mean"] / 4
        )
        self.assertEqual(sum(interval["lost"].values()), 0)

    def test_counts_of_instructions_are_exact_with_source_step(self):
        process = self.start()
        done = run(
            *(NSDUMP, "top", "-p", process.pid, "--once", "--json"),
            *("--counters", "instructions", "--source", "step"),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        inner = by_name(lines_of(done.stdout)[0])["inner"]
        self.assertIsNone(inner["ns"])
        self.assertGreater(inner["counters"]["instructions"]["mean"], 100)

    def test_count_and_filter_limit_the_tables(self):
        process = self.start()
        done = run(
            *(NSDUMP, "top", "-p", process.pid, "--interval", "0.2", "-c", "3"),
            *("--filter", "inn", "--sort", "rate"),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        tables = done.stdout.split("\n\n")
        self.assertEqual(len(tables), 3)
        for table in tables:
            self.assertIn("inner", table)
            self.assertNotIn("outer", table)
            self.assertIn("by rate", table)

    def test_a_killed_program_is_one_that_ended(self):
        process = self.start()
        watcher = subprocess.Popen(
            [NSDUMP, "top", "-p", str(process.pid), "--interval", "0.1", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        watcher.stdout.readline()
        process.kill()
        rest = lines_of(watcher.communicate()[0])
        self.assertEqual(watcher.returncode, 0)
        self.assertTrue(rest[-1]["program_ended"])

    def test_only_one_recorder_is_attached_and_the_others_are_told(self):
        process = self.start()
        watcher = subprocess.Popen(
            [NSDUMP, "top", "-p", str(process.pid), "--interval", "0.1", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        watcher.stdout.readline()
        trace = self.folder / "second.nsl"
        second = run(NSDUMP, "top", "-p", process.pid, "--once")
        recorder = run(NSDUMP, "record", "-p", process.pid, "-w", trace)
        for done in (second, recorder):
            self.assertEqual(done.returncode, 3)
            self.assertIn("already being recorded", done.stderr)
        self.assertFalse(trace.exists())
        watcher.send_signal(signal.SIGINT)
        watcher.communicate()
        self.assertEqual(watcher.returncode, 130)
        again = run(NSDUMP, "top", "-p", process.pid, "--once")
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_wrong_use_and_processes_that_cannot_be_attached_are_refused(self):
        for options, code, words in (
            ([], 2, "a name or --pid is required"),
            (["-p", "1", "app"], 2, "cannot be combined"),
            (["no-such-program"], 2, "no process named"),
            (["-p", os.getpid()], 3, "does not accept recorders"),
            (["app", "--interval", "0"], 2, "is not a duration"),
            (["app", "--sort", "name"], 2, "available: time, instructions, packet, rate"),
        ):
            done = run(NSDUMP, "top", *options)
            self.assertEqual(done.returncode, code, options)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_an_output_that_cannot_be_written_ends_it(self):
        process = self.start()
        for output in ("/dev/full", self.folder):
            done = run(NSDUMP, "top", "-p", process.pid, "--once", "-o", output)
            self.assertEqual(done.returncode, 4, done.stderr)
        closed = subprocess.run(
            f"{NSDUMP} top -p {process.pid} --interval 0.1 --json | head -n 1",
            shell=True,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual((closed.returncode, closed.stderr), (0, ""))
        self.assertEqual(len(closed.stdout.splitlines()), 1)

    def test_the_screen_follows_keys_and_quits_with_the_terminal_as_before(self):
        process = self.start()
        terminal = self.screen_of(process)
        self.assertIn(ENTER, terminal.text)
        self.assertFalse(terminal.echoes())
        terminal.press("c")
        self.assertTrue(terminal.wait_for(lambda text: "by rate" in text))
        terminal.press("r")
        self.assertTrue(terminal.wait_for(lambda text: "smallest first" in text))
        terminal.press("/inn\n")
        self.assertTrue(terminal.wait_for(lambda text: "outer" not in text and "inner" in text))
        terminal.press("h")
        self.assertTrue(terminal.wait_for(lambda text: "Keys of nsdump top" in text))
        terminal.press("h ")
        self.assertTrue(terminal.wait_for(lambda text: "paused" in text))
        terminal.press("\033[A")  # an arrow is no key of it
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)
        self.assertIn(LEAVE, terminal.text)
        self.assertTrue(terminal.echoes())
        self.assertIsNone(process.poll())

    def test_the_screen_has_the_size_of_the_terminal(self):
        terminal = self.screen_of(self.start(), rows=10, columns=60)
        for rows, columns in ((10, 60), (30, 120), (5, 20)):
            terminal.resize(rows, columns)
            self.assertTrue(
                terminal.wait_for(
                    lambda text, rows=rows, columns=columns: (
                        len(text.split("\n")) == rows
                        and max(map(len, text.split("\n"))) in range(columns - 60, columns + 1)
                    )
                ),
                terminal.screen(),
            )
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)

    def test_ctrl_c_restores_the_terminal_and_ends_the_session(self):
        process = self.start()
        terminal = self.screen_of(process)
        terminal.press("\003")
        self.assertEqual(terminal.end(), 130)
        self.assertTrue(terminal.text.endswith(LEAVE), terminal.text[-100:])
        self.assertTrue(terminal.echoes())
        again = run(NSDUMP, "top", "-p", process.pid, "--once")
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_after_the_end_of_the_program_its_last_values_stay_on_the_terminal(self):
        process = self.start()
        terminal = self.screen_of(process)
        process.kill()
        self.assertEqual(terminal.end(), 0)
        rest = terminal.text.rpartition(LEAVE)[2]
        self.assertIn("outer", rest)
        self.assertIn("program ended", rest)


if __name__ == "__main__":
    unittest.main()
