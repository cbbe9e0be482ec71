#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parts of a trace, by time, unit and name, against the whole of it; traces from pipes."""

import csv
import fcntl
import io
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

from probed_programs import NSDUMP, is_sanitized, run

MAKE = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "tests"
HERTZ = 2_596_000_000  # of make_trace
BEGIN_TICKS = 1_000_000_000
INDEX_HEADER_BYTES = 64


class MadeTraceTest(unittest.TestCase):
    """Has a trace of two CPUs in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="netslice-seek-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.trace = cls.make("plain.nsl", "--records", 400_000, "--chunk-bytes", 4096)

    @classmethod
    def make(cls, name, *options):
        subprocess.run([MAKE / "make_trace", cls.folder / name, *map(str, options)], check=True)
        return cls.folder / name


class PartsOfATrace(MadeTraceTest):
    def rows(self, trace, *options, what="slices"):
        done = run(NSDUMP, "export", trace, "--what", what, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def test_a_range_has_the_slices_that_end_in_it(self):
        every = self.rows(self.trace)
        ends = sorted(int(row["stop_ticks"]) for row in every)
        low, high = ends[len(ends) // 3], ends[len(ends) // 2]
        times = [f"{(ticks - BEGIN_TICKS) * 1e9 / HERTZ:.3f}ns" for ticks in (low, high)]
        found = self.rows(self.trace, "--from", times[0], "--to", times[1])
        wanted = [row for row in every if low <= int(row["stop_ticks"]) <= high]
        self.assertEqual(found, wanted)
        self.assertGreater(len(wanted), 1000)

    def test_a_trace_cut_in_two_ranges_has_all_its_slices_once(self):
        def counts(*options):
            done = run(NSDUMP, "stats", self.trace, "--format", "csv", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = csv.DictReader(done.stdout.splitlines())
            return {row["name"]: int(row["count"]) for row in rows}

        whole = counts()
        first, second = counts("--to", "3000000ns"), counts("--from", "3000000.5ns")
        self.assertEqual(whole, {name: first[name] + second[name] for name in whole})
        self.assertTrue(all(first.values()) and all(second.values()))

    def test_a_report_tells_its_range(self):
        done = run(NSDUMP, "stats", self.trace, "--json", "--from", "1ms", "--to", "0.002")
        found = json.loads(done.stdout)["range"]
        self.assertAlmostEqual(found["from_ns"], 1e6, delta=1)
        self.assertAlmostEqual(found["to_ns"], 2e6, delta=1)
        self.assertNotIn("range", json.loads(run(NSDUMP, "stats", self.trace, "--json").stdout))

    def test_a_report_counts_the_records_of_its_range(self):
        for options in (["--from", "1ms", "--to", "1100us"], ["--from", "1h"], ["--to", "1ms"]):
            report = json.loads(run(NSDUMP, "stats", self.trace, "--json", *options).stdout)
            shown = run(NSDUMP, "show", self.trace, *options).stdout.splitlines()[1:]
            self.assertEqual(report["trace"]["records"], len(shown), options)

    def test_events_of_a_range_are_the_same_in_show_and_export(self):
        options = ["--from", "1ms", "--to", "1100us"]
        events = self.rows(self.trace, *options, what="events")
        shown = run(NSDUMP, "show", self.trace, "--raw", *options).stdout.splitlines()[1:]
        self.assertEqual([row["ticks"] for row in events], [line.split()[0] for line in shown])
        self.assertGreater(len(events), 100)
        ticks = [(int(row["ticks"]) - BEGIN_TICKS) / HERTZ for row in events]
        self.assertTrue(all(0.000999 < second < 0.001101 for second in ticks))

    def test_a_unit_has_the_slices_and_events_that_reading_everything_finds(self):
        wanted = [row for row in self.rows(self.trace) if row["unit_number"] == "1234"]
        self.assertEqual(self.rows(self.trace, "--unit", "1234"), wanted)
        self.assertGreater(len(wanted), 20)
        events = self.rows(self.trace, "--unit", "1234", what="events")
        self.assertEqual(sum(row["kind"] == "STOP" for row in events), len(wanted))
        shown = run(NSDUMP, "show", self.trace, "--unit", "1234").stdout.splitlines()[1:]
        self.assertEqual(len(shown), len(events))

    def test_a_unit_that_is_not_there_has_nothing(self):
        self.assertEqual(self.rows(self.trace, "--unit", "99999999"), [])

    def test_a_check_of_a_range_reads_only_its_chunks(self):
        whole = run(NSDUMP, "check", self.trace)
        self.assertEqual(whole.returncode, 0, whole.stdout)
        self.assertNotIn("only chunks", whole.stdout)
        lines = r"(?m)^cpu (\d): (\d+) of (\d+) chunks read, (\d+) records decoded, (\d+) declared"
        for options, parts in (
            (("--from", "1ms", "--to", "1100us"), 10),
            (("--to", "1ms"), 3),
            (("--from", "1h"), 100),
        ):
            with self.subTest(options=options):
                done = run(NSDUMP, "check", self.trace, *options)
                self.assertEqual(done.returncode, 0, done.stdout)
                by_cpu = [[int(number) for number in row] for row in re.findall(lines, done.stdout)]
                self.assertEqual([row[0] for row in by_cpu], [0, 1])
                for _, read, chunks, decoded, declared in by_cpu:
                    self.assertTrue(1 <= read <= chunks // parts, done.stdout)
                    self.assertEqual(decoded, declared)
                self.assertIn(f"{self.trace}: nothing found; ", done.stdout)
                self.assertIn("headers, metadata and losses are of the whole", done.stdout)
                equations = [line for line in whole.stdout.splitlines() if " issued " in line]
                self.assertEqual(
                    [line for line in done.stdout.splitlines() if " issued " in line], equations
                )
                shown = run(NSDUMP, "show", self.trace, *options).stdout.splitlines()[1:]
                self.assertGreaterEqual(sum(row[3] for row in by_cpu), len(shown))

    def test_a_check_of_a_range_finds_damage_in_it_and_not_elsewhere(self):
        bytes_of = bytearray(self.trace.read_bytes())
        bytes_of[len(bytes_of) // 2] ^= 1  # in the records of a chunk, about in the middle
        damaged = self.folder / "damaged.nsl"
        damaged.write_bytes(bytes_of)
        last_ns = float(run(NSDUMP, "show", self.trace).stdout.splitlines()[-1].split()[0])
        for options, code in (
            ((), 1),
            (("--from", f"{last_ns * 0.4:.0f}ns", "--to", f"{last_ns * 0.6:.0f}ns"), 1),
            (("--to", f"{last_ns * 0.4:.0f}ns"), 0),
            (("--from", f"{last_ns * 0.6:.0f}ns"), 0),
        ):
            with self.subTest(options=options):
                done = run(NSDUMP, "check", damaged, *options)
                self.assertEqual(done.returncode, code, done.stdout)
                self.assertEqual("wrong payload checksum" in done.stdout, code == 1)
                quiet = run(NSDUMP, "check", "-q", damaged, *options)
                self.assertEqual((quiet.returncode, quiet.stdout), (code, ""))

    def test_a_check_of_a_range_finds_what_is_wrong_with_the_whole_file(self):
        cut = self.folder / "cut.nsl"
        cut.write_bytes(self.trace.read_bytes()[:-200])  # the footer
        done = run(NSDUMP, "check", cut, "--from", "1ms", "--to", "2ms")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FINDING  no footer", done.stdout)

    def test_a_range_that_cannot_be_is_refused(self):
        for options, words in (
            (["--from", "soon"], "is not a time"),
            (["--from", "2s", "--to", "1s"], "is after"),
            (["--to", "2001-01-01T00:00:00Z"], "before its start"),
        ):
            for command in ("stats", "show", "export", "check"):
                done = run(NSDUMP, command, self.trace, *options)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(words, done.stderr)

    @unittest.skipIf(is_sanitized(), "reads a trace that is large enough for an index 14 times")
    def test_an_index_is_written_once_and_not_believed_if_it_is_of_another_trace(self):
        trace = self.make("large.nsl", "--records", 4_500_000)
        index = trace.with_name("large.nsl.idx")
        unit = self.rows(trace, "--unit", "5000")
        self.assertGreater(len(unit), 20)
        good = index.read_bytes()
        written = index.stat().st_mtime_ns
        self.assertEqual(self.rows(trace, "--unit", "5000"), unit)
        self.assertEqual(index.stat().st_mtime_ns, written)
        for bad in (
            b"",
            good[:-1],
            good + b"x",
            good[:100] + b"\xff" + good[101:],
            good[:INDEX_HEADER_BYTES] + bytes(len(good) - INDEX_HEADER_BYTES),
        ):
            index.write_bytes(bad)
            self.assertEqual(self.rows(trace, "--unit", "5000"), unit)
        index.write_bytes(b"notes of mine")
        self.assertEqual(self.rows(trace, "--unit", "5000"), unit)
        self.assertEqual(index.read_bytes(), b"notes of mine")
        index.unlink()
        os.mkfifo(index)
        self.assertEqual(self.rows(trace, "--unit", "5000"), unit)
        index.unlink()
        elsewhere = self.folder / "elsewhere"
        index.symlink_to(elsewhere)  # of a user who may write here
        self.assertEqual(self.rows(trace, "--unit", "5000"), unit)
        self.assertFalse(elsewhere.exists())
        self.assertTrue(index.is_symlink())
        index.unlink()
        index.touch()  # as after a crash
        trace.chmod(0o600)
        self.assertEqual(self.rows(trace, "--unit", "5000"), unit)
        self.assertEqual(index.stat().st_mode & 0o777, 0o600)
        self.assertEqual(len(index.read_bytes()), len(good))
        index.write_bytes(good)
        os.utime(trace)  # as if it had been written again
        self.assertEqual(self.rows(trace, "--unit", "5000"), unit)
        self.assertNotEqual(index.read_bytes(), good)

    def test_damaged_and_hostile_traces_are_read_in_parts_without_harm(self):
        for kind in run(MAKE / "make_hostile").stdout.split():
            trace = self.folder / "hostile.nsl"
            subprocess.run([MAKE / "make_hostile", kind, trace], check=True)
            for command in (
                ["stats", "--from", "1us", "--to", "1s"],
                ["show", "--unit", "3", "-c", "5"],
                ["check", "--from", "1us", "--to", "1s"],
                ["export", "--what", "slices", "--slice", "s1", "-c", "5"],
            ):
                with self.subTest(kind=kind, command=command):
                    done = run("timeout", "60", NSDUMP, *command, trace)
                    self.assertIn(done.returncode, (0, 1, 2), done.stderr[-500:])


class PartsWithGapsBetween(unittest.TestCase):
    """Slices and units further apart than 100 ms: only what is around them is read."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="netslice-gaps-")
        cls.addClassCleanup(temporary.cleanup)
        cls.trace = pathlib.Path(temporary.name) / "parts.nsl"
        subprocess.run([MAKE / "make_parts_trace", cls.trace], check=True)

    def text(self, *words):
        done = run(NSDUMP, words[0], self.trace, *words[1:])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def stacks(self, *options):
        """In nanoseconds, which are ticks."""
        return self.text("export", "--format", "folded", "--weight", "raw-ns", *options)

    def rows(self, *options, what="slices"):
        text, _ = self.text("export", "--what", what, *options)
        return list(csv.DictReader(io.StringIO(text)))

    def test_a_name_has_the_slices_and_events_that_reading_everything_finds(self):
        for what in ("slices", "events"):
            wanted = [row for row in self.rows(what=what) if row["name"] == "rare"]
            self.assertEqual(len(wanted), 7 if what == "slices" else 14)
            self.assertEqual(self.rows("--slice", "rare", what=what), wanted)
        whole = [line for line in self.text("show")[0].splitlines() if " rare" in line]
        self.assertEqual(self.text("show", "--slice", "rare")[0].splitlines()[1:], whole)

    def test_a_unit_has_the_slices_and_stacks_that_reading_everything_finds(self):
        every = self.rows()
        for unit, stacks in (
            ("7", "batch;outer 59300030\nbatch;outer;early;rare 699960\n"),
            ("8", "batch;rare 10\n"),
        ):
            wanted = [row for row in every if row["unit_number"] == unit]
            self.assertEqual(self.rows("--unit", unit), wanted)
            found, _ = self.stacks("--unit", unit)
            self.assertEqual(found, stacks)

    def test_stacks_below_a_name_are_those_of_its_slices(self):
        found, _ = self.stacks("--slice", "rare")
        weights = [int(line.split()[-1]) for line in found.splitlines()]
        wanted = sum(int(row["raw_ticks"]) for row in self.rows("--slice", "rare"))
        self.assertEqual(sum(weights), wanted)

    def test_slices_that_began_before_what_is_read_are_counted(self):
        self.assertEqual(len([row for row in self.rows() if row["unit_number"] == "9"]), 1)
        for options in (["--unit", "9"], ["--from", "840ms", "--to", "854ms"]):
            for _, messages in (
                self.text("export", "--what", "slices", *options),
                self.stacks(*options),
            ):
                self.assertIn("1 STOP has no START in the parts that were read", messages)
        for options in ([], ["--unit", "8"], ["--slice", "rare"], ["--to", "500ms"]):
            _, messages = self.text("export", "--what", "slices", *options)
            self.assertNotIn("no START", messages)


class Pipes(MadeTraceTest):
    """Standard input."""

    def text_of(self, command, expected=0, **options):
        done = subprocess.run(
            [NSDUMP, *command], capture_output=True, text=True, check=False, **options
        )
        self.assertEqual(done.returncode, expected, done.stderr)
        return done.stdout.replace("standard input", str(self.trace))

    def test_a_trace_is_the_same_as_a_file_from_a_file_and_from_a_pipe(self):
        for words in (
            ["stats", "--all"],
            ["show", "-c", "9"],
            ["check"],
            ["export", "--unit=7", "--what=slices"],
        ):
            named = self.text_of([words[0], self.trace, *words[1:]])
            with self.trace.open("rb") as file:
                self.assertEqual(self.text_of([words[0], "-", *words[1:]], stdin=file), named)
            with subprocess.Popen(["cat", self.trace], stdout=subprocess.PIPE) as cat:
                self.assertEqual(self.text_of([words[0], "-", *words[1:]], stdin=cat.stdout), named)

    def test_the_rest_of_a_file_is_read_like_a_pipe(self):
        padded = self.folder / "padded"
        padded.write_bytes(b"header\n" + self.trace.read_bytes())
        done = run("sh", "-c", f'{{ read line; exec "{NSDUMP}" check -q -; }} <"{padded}"')
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_is_no_trace_is_named_and_not_copied_without_end(self):
        for words, code, message in (
            ("printf ''", 3, "standard input: the file is empty"),
            ("echo hello", 3, "standard input: at byte 0: not a NetSlice trace"),
            ("cat /dev/zero", 3, "standard input: at byte 0: not a NetSlice trace"),
            (f"head -c 40 '{self.trace}'", 3, "truncated inside its header"),
            (f"head -c 100000 '{self.trace}'", 1, "no footer"),
        ):
            with self.subTest(words=words):
                done = run("sh", "-c", f"{words} | timeout 60 '{NSDUMP}' show - -c 1")
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(message, done.stderr)

    def test_a_full_temporary_folder_is_reported(self):
        if os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("requires root, to mount a small file system")
        inside = (
            "mount -t tmpfs -o size=1m none /mnt &&"
            f" cat '{self.trace}' | TMPDIR=/mnt '{NSDUMP}' stats -; echo $?; ls -A /mnt"
        )
        done = run("unshare", "-m", "sh", "-c", inside)
        self.assertEqual(done.stdout, "4\n", done.stderr)
        self.assertIn("TMPDIR", done.stderr)
        self.assertIn("No space left", done.stderr)

    def test_the_input_is_not_replaced_by_the_output(self):
        copy = self.folder / "own.nsl"
        shutil.copy(self.trace, copy)
        for output in (copy, "/dev/stdin"):
            with copy.open("rb") as file:
                done = run(NSDUMP, "export", "-", "-o", output, stdin=file)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("the same file as the input", done.stderr)
        self.assertEqual(copy.read_bytes(), self.trace.read_bytes())


class Screens(MadeTraceTest):
    """nsdump stats on a terminal and elsewhere."""

    def on_terminal(self, *options, columns=70, lines=16, **environment):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        with subprocess.Popen(
            [NSDUMP, "stats", self.trace, *options],
            stdout=slave,
            env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment},
        ) as process:
            os.close(slave)
            text = b""
            try:
                while part := os.read(master, 65536):
                    text += part
            except OSError:  # the other side is closed
                pass
        os.close(master)
        self.assertEqual(process.returncode, 0)
        return text.decode().replace("\r\n", "\n")

    def test_a_terminal_gets_colours_and_no_more_than_it_can_show(self):
        text = self.on_terminal()
        self.assertIn("\033[", text)
        plain = self.on_terminal("--colour=never")
        self.assertNotIn("\033", plain)
        self.assertEqual(self.on_terminal(NO_COLOR="1"), plain)
        self.assertNotIn("\033", self.on_terminal(TERM="dumb"))
        self.assertLess(len(plain.splitlines()), 16)
        self.assertLessEqual(max(map(len, plain.splitlines())), 70)

    def test_elsewhere_it_is_plain_and_colours_are_by_request(self):
        self.assertNotIn("\033", run(NSDUMP, "stats", self.trace).stdout)
        self.assertIn("\033", run(NSDUMP, "stats", self.trace, "--colour=always").stdout)

    def test_all_has_what_the_screen_leaves_out(self):
        screen, whole = (run(NSDUMP, "stats", self.trace, *o).stdout for o in ([], ["--all"]))
        self.assertIn("nsdump stats --all", screen)
        for words in ("classes ", "machine ", "clock ", "mark ", "unit "):
            self.assertNotIn(f"\n{words}", screen)
            self.assertIn(f"\n{words}", whole)


if __name__ == "__main__":
    sys.exit(unittest.main())
