#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump record --start-on-signal, --stop-on-signal: which records a trace has, and what it says of
the others."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from probed_programs import NSDUMP, ProbedProgramsTest, run
from terminal import Terminal

UNITS = 50
RECORDS = UNITS * 4  # each unit with one slice

# Each line of its input is a phase with a slice of its name, after which it answers; with "fork",
# a child has it.  "open" and "close" are the ends of a slice that spans what is between them; "cpu"
# moves the program to that CPU, and "loop" starts a process that does not end when it is asked to.
PROGRAM = """
#define _GNU_SOURCE
#include <nsprobe/probe.h>
#include <nsprobe/session.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void move_to(int cpu)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void phase(const char *name)
{
    for (unsigned unit = 0; unit < UNITS; ++unit) {
        NET_SLICE_INIT(batch, unit, 1, 64);
        if (strcmp(name, "before\\n") == 0) {
            NET_SLICE_START(before);
            NET_SLICE_STOP(before);
        } else if (strcmp(name, "during\\n") == 0) {
            NET_SLICE_START(during);
            NET_SLICE_STOP(during);
        } else {
            NET_SLICE_START(after);
            NET_SLICE_STOP(after);
        }
        NET_SLICE_EXIT(batch);
    }
}

static void loop(void)
{
    signal(SIGTERM, SIG_IGN);
    alarm(20);
    close(0);
    close(1);
    for (;;)
        phase("after\\n");
}

int main(void)
{
    char line[64];
    int cpu;

    while (!nsp_session_is_on())
        usleep(1000);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        if (strcmp(line, "open\\n") == 0) {
            NET_SLICE_START(spanning);
        } else if (strcmp(line, "close\\n") == 0) {
            NET_SLICE_STOP(spanning);
        } else if (sscanf(line, "cpu %d", &cpu) == 1) {
            move_to(cpu);
        } else if (strcmp(line, "loop\\n") == 0) {
            if (fork() == 0)
                loop();
        } else if (strncmp(line, "fork ", 5) == 0) {
            if (fork() == 0) {
                phase(line + 5);
                _exit(0);
            }
            wait(NULL);
        } else {
            phase(line);
        }
        puts("done");
        fflush(stdout);
    }
    return 0;
}
"""


class Recording:
    """nsdump and the program that it records, with what nsdump has reported."""

    def __init__(self, test, trace, program, *options, blocked=()):
        self.test, self.trace = test, trace
        self.errors = test.folder / f"{trace.name}.stderr"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [NSDUMP, "record", "-w", trace, *options, "--", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, blocked),
            )
        test.addCleanup(self.close)
        test.assertEqual(self.process.stdout.readline(), "ready\n", self.reported())

    def reported(self):
        return self.errors.read_text()

    def do(self, *phases):
        for phase in phases:
            self.process.stdin.write(f"{phase}\n")
            self.process.stdin.flush()
            self.test.assertEqual(self.process.stdout.readline(), "done\n")

    def send(self, number, words):
        """Waits until nsdump reports what the signal did."""
        before = self.reported().count(words)
        self.process.send_signal(number)
        end = time.monotonic() + 30
        while self.reported().count(words) == before:
            self.test.assertLess(time.monotonic(), end, self.reported())
            time.sleep(0.005)

    def end(self):
        """The exit code, after the program's own end."""
        self.process.communicate("")
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class RecordSignal(ProbedProgramsTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.build(cls(), "phases", f"#define UNITS {UNITS}\n{PROGRAM}")

    def start(self, *options, blocked=()):
        trace = self.folder / f"{self.id()}.nsl"
        return Recording(self, trace, self.program, *options, blocked=blocked)

    def record_the_middle(self, *options, how="", expects_all=True):
        """Records the second of three phases; `how` is in front of each."""
        signals = ("--start-on-signal", "USR1", "--stop-on-signal", "SIGUSR2")
        recording = self.start(*signals, *options)
        recording.do(f"{how}before")
        recording.send(signal.SIGUSR1, "s: recording")
        recording.do(f"{how}during")
        recording.send(signal.SIGUSR2, "s: paused")
        recording.do(f"{how}after")
        self.assertEqual(recording.end(), 0, recording.reported())
        if expects_all:
            expected = {"during": 2 * UNITS, "batch": 2 * UNITS}
            self.assertEqual(self.names(recording.trace), expected)
        return recording

    def names(self, trace):
        """{name of a slice: how many events it has}"""
        counts = {}
        for event in self.export(trace, "events"):
            counts[event["name"]] = counts.get(event["name"], 0) + 1
        return counts

    def switches(self, trace):
        """What the trace says of starts and stops, in their order."""
        text = trace.read_bytes()
        found = re.findall(rb"session\.switch\.(\d+)=(\w+) (\d+) ns (\d+) ticks\n", text)
        self.assertEqual([int(number) for number, *_ in found], list(range(1, len(found) + 1)))
        times = [int(ns) for _, _, ns, _ in found]
        self.assertEqual(times, sorted(times))
        return [word.decode() for _, word, *_ in found]

    def check(self, trace):
        checked = run(NSDUMP, "check", trace)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_only_what_happens_between_the_signals_is_recorded(self):
        recording = self.record_the_middle()
        self.assertIn(f"paused; `kill -USR1 {recording.process.pid}` starts", recording.reported())
        self.assertIn(f"{2 * RECORDS} records were left out while paused", recording.reported())
        self.assertIn(f"{RECORDS} records of {RECORDS} issued", recording.reported())
        self.assertEqual(self.switches(recording.trace), ["stop", "start", "stop"])
        self.assertIn(b"session.paused_records=%d\n" % (2 * RECORDS), recording.trace.read_bytes())
        self.check(recording.trace)

    def test_one_signal_switches_several_times(self):
        recording = self.start("--start-on-signal", "10", "--stop-on-signal", "USR1")
        for phase, words in (("before", "recording"), ("during", "paused")) * 3:
            recording.do(phase)
            recording.send(signal.SIGUSR1, f"s: {words}")
        recording.do("after")
        self.assertEqual(recording.end(), 0, recording.reported())
        self.assertEqual(self.names(recording.trace), {"during": 6 * UNITS, "batch": 6 * UNITS})
        self.assertEqual(self.switches(recording.trace), ["stop"] + ["start", "stop"] * 3)
        self.check(recording.trace)

    def test_a_signal_to_stop_alone_ends_what_began_at_once(self):
        recording = self.start("--stop-on-signal", "RTMIN+1")
        recording.do("before")
        recording.send(signal.SIGRTMIN + 1, "s: paused")
        recording.send(signal.SIGRTMIN + 1, "is paused already")
        recording.do("during")
        self.assertEqual(recording.end(), 0, recording.reported())
        self.assertEqual(self.names(recording.trace), {"before": 2 * UNITS, "batch": 2 * UNITS})

    def test_a_slice_that_misses_a_record_of_a_pause_is_not_paired(self):
        cpu = min(os.sched_getaffinity(0))
        recording = self.start("--start-on-signal", "USR1", "--stop-on-signal", "USR1")
        recording.do(f"cpu {cpu}")  # otherwise it may be one that migrated
        recording.send(signal.SIGUSR1, "s: recording")
        recording.do("during", "open")
        recording.send(signal.SIGUSR1, "s: paused")
        recording.do("close", "after", "open")
        recording.send(signal.SIGUSR1, "s: recording")
        recording.do("close", "during")
        self.assertEqual(recording.end(), 0, recording.reported())
        slices = self.export(recording.trace, "slices")
        self.assertEqual([one["name"] for one in slices].count("during"), 2 * UNITS)
        (spanning,) = (one for one in slices if one["name"] == "spanning")
        self.assertEqual(spanning["class"], "spans-loss")
        warnings = "\n".join(self.export(recording.trace, "stats")["warnings"])
        self.assertRegex(
            warnings, r"recording was paused 2 times, for [\d.]+ s: \d+ records were left out"
        )

    def test_a_slice_around_a_pause_in_which_nothing_is_left_out_is_whole(self):
        recording = self.start("--start-on-signal", "USR1", "--stop-on-signal", "USR2")
        recording.send(signal.SIGUSR1, "s: recording")
        recording.do("open")
        recording.send(signal.SIGUSR2, "s: paused")
        recording.send(signal.SIGUSR1, "s: recording")
        recording.do("close")
        self.assertEqual(recording.end(), 0, recording.reported())
        slices = [one["name"] for one in self.export(recording.trace, "slices")]
        self.assertEqual(slices, ["spanning"])

    def test_a_pause_is_no_loss_in_any_format(self):
        recording = self.start("--start-on-signal", "USR1", "--stop-on-signal", "USR1")
        for phase, words in (("before", "recording"), ("during", "paused")) * 2:
            recording.do(phase)
            recording.send(signal.SIGUSR1, f"s: {words}")
        self.assertEqual(recording.end(), 0, recording.reported())
        report = self.export(recording.trace, "stats")
        self.assertEqual(sum(report["losses"]["lost"].values()), 0)
        self.assertEqual(report["info"]["session.paused_records"], str(2 * RECORDS))
        self.assertGreater(int(report["info"]["session.paused_ns"]), 0)
        timeline = json.loads(run(NSDUMP, "export", recording.trace, "--format", "chrome").stdout)
        instants = [one for one in timeline["traceEvents"] if one["ph"] in "iI"]
        self.assertEqual({one["name"] for one in instants}, {"recording was paused"})
        self.assertEqual({one["args"]["left_out_on_all_cpus"] for one in instants}, {RECORDS})
        ctf = self.folder / "paused.ctf"
        done = run(NSDUMP, "export", recording.trace, "--format", "ctf", "-o", ctf)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(
            done.stderr,
            rf"^nsdump: .*: the recording was paused 3 times, for [\d.]+ s: {2 * RECORDS} records "
            r"were left out\n$",
        )
        read = run("babeltrace2", ctf) if shutil.which("babeltrace2") else None
        self.assertNotIn("discarded", read.stderr if read else "")

    def test_what_still_runs_at_the_end_of_a_paused_recording_loses_nothing(self):
        recording = self.start("--start-on-signal", "USR1")
        recording.do("loop")
        recording.process.send_signal(signal.SIGINT)
        recording.end()
        self.assertIn("received SIGTERM and still runs", recording.reported())
        self.assertIn("0 records of 0 issued", recording.reported())
        (reported,) = re.findall(r"(\d+) records were left out", recording.reported())
        (in_trace,) = re.findall(rb"paused_records=(\d+)\n", recording.trace.read_bytes())
        self.assertEqual(int(reported), int(in_trace))
        self.check(recording.trace)

    def test_a_terminal_shows_that_the_recording_is_paused_and_what_it_leaves_out(self):
        trace = self.folder / "shown.nsl"
        terminal = Terminal(
            NSDUMP, "record", "-w", trace, "--start-on-signal", "USR1", "--", self.program
        )
        self.addCleanup(os.close, terminal.master)  # nsdump gets SIGHUP
        self.assertTrue(terminal.wait_for(lambda text: "ready" in text), terminal.text)
        terminal.press("before\n")
        words = rf"paused at \d+\.\d s: 0 records, .*, {RECORDS} left out while paused"
        self.assertTrue(terminal.wait_for(lambda text: re.search(words, text)), terminal.text)
        os.kill(terminal.pid, signal.SIGUSR1)
        words = rf"recording \d+\.\d s: .*, {RECORDS} left out while paused"
        self.assertTrue(terminal.wait_for(lambda text: re.search(words, text)), terminal.text)
        terminal.press("\x04")  # the end of the program's input
        self.assertEqual(terminal.end(), 0, terminal.text)

    def test_a_recorder_that_is_killed_leaves_what_it_knows_of_pauses(self):
        recording = self.start("--start-on-signal", "USR1", "--stop-on-signal", "USR2")
        recording.do("before")
        recording.send(signal.SIGUSR1, "s: recording")
        recording.do("during")
        end = time.monotonic() + 30
        while run(NSDUMP, "export", recording.trace, "--what", "events").stdout.count("during") < 2:
            self.assertLess(time.monotonic(), end)
        recording.process.kill()
        recording.process.wait()
        report = self.export(recording.trace, "stats")
        self.assertEqual(report["losses"]["lost"], {"without_cause": 0})
        words = f"the recording was paused once: at least {RECORDS} records were left out"
        self.assertIn(words, "\n".join(report["warnings"]))

    def test_signals_reach_nsdump_although_it_was_started_with_them_blocked(self):
        recording = self.start("--start-on-signal", "USR1", blocked={signal.SIGUSR1})
        recording.send(signal.SIGUSR1, "s: recording")
        recording.do("during")
        self.assertEqual(recording.end(), 0, recording.reported())
        self.assertEqual(self.names(recording.trace), {"during": 2 * UNITS, "batch": 2 * UNITS})

    def test_the_program_has_signals_ignored_and_blocked_as_nsdump_had(self):
        def ignore_and_block():
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})

        command = ("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
        options = ("--start-on-signal", "USR1", "--stop-on-signal", "USR2", "-q", "-w")
        trace = self.folder / "none.nsl"
        alone = run(*command, preexec_fn=ignore_and_block).stdout
        recorded = run(
            *(NSDUMP, "record", *options, trace, "--", *command), preexec_fn=ignore_and_block
        ).stdout
        self.assertEqual(recorded, alone)
        self.assertIn("SigIgn:\t0000000000000200", alone)
        self.assertIn("SigBlk:\t0000000000000800", alone)

    def test_children_pause_as_well(self):
        self.record_the_middle(how="fork ")

    def test_rings_without_rseq_pause_as_well(self):
        self.record_the_middle("--kind", "atomic")

    def test_a_thinned_recording_pauses_as_well(self):
        recording = self.record_the_middle("--thin", "0.5", expects_all=False)
        self.assertEqual(set(self.names(recording.trace)) - {"during"}, {"batch"})
        self.check(recording.trace)

    def test_a_recording_with_counters_pauses_as_well(self):
        recording = self.record_the_middle("--counters", "page-faults")
        self.check(recording.trace)

    def test_a_running_process_pauses_as_well(self):
        program = subprocess.Popen(
            [self.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "NETSLICE": "attach=yes"},
        )
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        listener = f"@netslice.attach.{program.pid}\n"
        end = time.monotonic() + 30
        while listener not in pathlib.Path("/proc/net/unix").read_text():
            self.assertLess(time.monotonic(), end, "the program does not listen")
            time.sleep(0.01)
        trace = self.folder / "attached.nsl"
        recorder = subprocess.Popen(
            [NSDUMP, "record", "-p", str(program.pid), "-w", trace, "--start-on-signal", "USR1"],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(recorder.kill)
        self.assertEqual(program.stdout.readline(), "ready\n")
        for phase in ("before", "during"):
            program.stdin.write(f"{phase}\n")
            program.stdin.flush()
            self.assertEqual(program.stdout.readline(), "done\n")
            if phase == "before":
                recorder.send_signal(signal.SIGUSR1)
                while "s: recording" not in recorder.stderr.readline():
                    self.assertIsNone(recorder.poll())
        recorder.send_signal(signal.SIGINT)
        recorder.communicate()
        self.assertEqual(recorder.returncode, 130)
        self.assertEqual(self.names(trace), {"during": 2 * UNITS, "batch": 2 * UNITS})

    def test_a_recording_that_never_started_is_a_whole_trace_without_records(self):
        recording = self.start("--start-on-signal", "USR1", "-q")
        recording.do("before")
        self.assertEqual(recording.end(), 1)
        self.assertIn("nothing was recorded: no signal USR1 came", recording.reported())
        self.assertEqual(self.names(recording.trace), {})
        self.assertEqual(self.switches(recording.trace), ["stop"])
        self.check(recording.trace)

    def test_ctrl_c_while_paused_leaves_a_whole_trace(self):
        recording = self.start("--start-on-signal", "USR1", "--stop-on-signal", "USR2")
        recording.send(signal.SIGUSR1, "s: recording")
        recording.do("during")
        recording.send(signal.SIGUSR2, "s: paused")
        recording.process.send_signal(signal.SIGINT)
        recording.process.communicate()
        self.assertEqual(recording.process.returncode, 130)
        self.assertEqual(self.names(recording.trace)["during"], 2 * UNITS)
        self.check(recording.trace)

    def test_signals_that_cannot_be_used_are_refused_with_the_reason(self):
        for name, words in (
            ("KILL", "cannot be caught"),
            ("SIGSTOP", "cannot be caught"),
            ("INT", "ends the recording"),
            ("15", "ends the recording"),
            ("CHLD", "comes when the program ends"),
            ("PIPE", "when the trace cannot be written"),
            ("TSTP", "job control"),
            ("SEGV", "an error of nsdump itself"),
            ("33", "reserved by the C library"),
            ("NONE", "is not a signal"),
            ("99", "is not a signal"),
            ("RTMIN+99", "is not a signal"),
            ("", "is not a signal"),
        ):
            for option in ("--start-on-signal", "--stop-on-signal"):
                done = run(NSDUMP, "record", option, name, "--", "true")
                self.assertEqual(done.returncode, 2, name)
                self.assertIn(words, done.stderr)

    def test_what_does_not_pause_is_refused_with_the_reason(self):
        for options, words in (
            (("-k", "irq"), "the kernel's records do not pause"),
            (("--full", "overwrite"), "requires --full discard"),
            (("--function", "phase", "--function-by", "uprobes"), "uprobes"),
        ):
            done = run(
                *(NSDUMP, "record", "--start-on-signal", "USR1", *options, "--", self.program)
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
