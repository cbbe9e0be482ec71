#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump export --format parquet where it cannot write, and the Python package without nsdump."""

import contextlib
import io
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

from parquet_library import BUILD, PACKAGES, SOURCE, ArrowTest, imported, library, netslice, parquet
from probed_programs import NSDUMP, run

pyarrow = imported("pyarrow")


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))


class Output(ArrowTest):
    def refused(self, name, *options, code, says, **others):
        done, folder = self.write(self.trace, name, *options, **others)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(says, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return folder

    def test_a_folder_must_be_named(self):
        done = run(NSDUMP, "export", self.trace, "--format", "parquet")
        self.assertEqual(done.returncode, 2)
        self.assertIn("-o FOLDER", done.stderr)

    def test_a_file_is_not_replaced_by_a_folder(self):
        (self.folder / "file").write_text("mine")
        self.refused("file", code=4, says="is not a folder")
        self.assertEqual((self.folder / "file").read_text(), "mine")
        self.refused("/dev/full", code=4, says="is not a folder")

    def test_files_of_others_in_the_folder_are_kept(self):
        (self.folder / "theirs").mkdir()
        (self.folder / "theirs/notes").write_text("mine")
        self.refused("theirs", code=4, says="not empty")
        self.assertEqual(os.listdir(self.folder / "theirs"), ["notes"])

    def test_a_folder_without_parent_is_reported(self):
        self.refused("absent/tables", code=4, says="create its folder first")

    def test_a_full_disk_leaves_nothing(self):
        # The limit is on each file, and the error is as that of a full disk.
        self.refused("full", code=4, says="ulimit -f", preexec_fn=limit_file_size)
        self.assert_nothing_left("full")

    def test_options_that_other_formats_do_not_have_are_refused(self):
        done = run(NSDUMP, "export", self.trace, "--partition", "cpu")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--format parquet", done.stderr)
        self.refused("wrong", "--partition", "colour", code=2, says="neither cpu nor time")
        self.refused("wrong", "--partition", "time=fast", code=2, says="not a duration")
        self.refused("wrong", "--partition", "cpu,", code=2, says="neither cpu nor time")
        done, _ = self.write(self.trace, "wrong", "--partition", "time=1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nsdump: --partition: ", done.stderr)
        self.assertNotIn("usage:", done.stderr)
        self.refused("wrong", "--from", "2s", "--to", "1s", code=2, says="is after --to 1s")
        early = ("--to", "2001-01-01T00:00:00Z")
        self.refused("wrong", *early, code=2, says="before its start")
        events = ("--what", "events", "--partition", "cpu")
        self.refused("wrong", *events, code=2, says="--what events")
        self.assert_nothing_left("wrong")

    def test_wrong_options_are_refused_before_a_pipe_is_read(self):
        for words in (
            ("--format", "parquet"),
            ("--format", "parquet", "-o", "x", "--from", "soon"),
            ("--format", "ctf"),
            ("--format", "ctf", "-o", "x", "--unit", "3"),
        ):
            with self.subTest(words=words):
                reads, writes = os.pipe()  # a pipe without an end
                try:
                    done = run(NSDUMP, "export", "-", *words, stdin=reads, timeout=60)
                finally:
                    os.close(reads)
                    os.close(writes)
                self.assertEqual(done.returncode, 2, done.stderr)

    def test_what_pyarrow_and_python_raise_becomes_a_message(self):
        from netslice import parquet as program

        for error, says in (
            (MemoryError(), "out of memory"),
            (pyarrow.ArrowNotImplementedError("no such codec"), "no such codec"),
        ):
            said = io.StringIO()
            with (
                self.subTest(says=says),
                mock.patch.object(program.TableFiles, "write", side_effect=error),
                mock.patch.object(program.Progress, "end") as end,
                contextlib.redirect_stderr(said),
            ):
                code = program.main(["--quiet", str(self.trace), str(self.folder / "raised")])
                self.assertEqual(code, 4)
                self.assertIn(says, said.getvalue())
                end.assert_called_once()
                self.assert_nothing_left("raised")

    def test_without_pyarrow_it_says_what_to_install(self):
        bare = self.folder / "bare-python"
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
        bare.chmod(0o755)
        environment = {**os.environ, "NETSLICE_PYTHON": str(bare)}
        self.refused("bare", code=4, says="pip install pyarrow", env=environment)
        environment["NETSLICE_PYTHON"] = str(self.folder / "no-python")
        self.refused("bare", code=4, says="NETSLICE_PYTHON", env=environment)

    def test_an_interrupt_leaves_nothing(self):
        trace = self.make_trace("interrupted", "--records", 8000000, "--cpus", 2)
        words = ("export", trace, "--format", "parquet", "-o", self.folder / "stopped")
        with subprocess.Popen(
            [str(word) for word in (NSDUMP, *words)], stderr=subprocess.PIPE, text=True
        ) as process:
            until_s = time.monotonic() + 60
            while not list(self.folder.glob(".stopped.part-*/slices.parquet")):
                self.assertLess(time.monotonic(), until_s)
                self.assertIsNone(process.poll(), "it ended before it began to write")
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            said = process.communicate()[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted", said)
        self.assert_nothing_left("stopped")


class Package(ArrowTest):
    def test_readers_have_the_rows_of_the_files(self):
        folder = self.parquet(self.trace, "files")
        trace = netslice.open(self.trace)
        for table in ("slices", "units", "losses"):
            expected = parquet.read_table(folder / f"{table}.parquet")
            self.assertEqual(
                getattr(trace, table)().read_all().to_pylist(), expected.to_pylist(), table
            )
        self.assertEqual(trace.events(limit=10).read_all().num_rows, 10)
        self.assertEqual(
            trace.units(unit=7).read_all().column("unit_number").unique()[0].as_py(), 7
        )
        self.assertEqual(trace.slices(name="not UTF-8: \udcff").read_all().num_rows, 0)
        self.assertEqual(trace.findings(), [])

    def test_a_range_is_that_of_the_files(self):
        folder = self.parquet(self.trace, "range", "--from", "30us", "--to", "60us")
        trace = netslice.open(self.trace)
        for table in ("slices", "units"):
            with self.subTest(table=table):
                expected = parquet.read_table(folder / f"{table}.parquet")
                self.assertGreater(expected.num_rows, 0)
                found = getattr(trace, table)(from_ns=30_000, to_ns=60_000).read_all()
                self.assertEqual(found.to_pylist(), expected.to_pylist())
        events = trace.events(from_ns=30_000, to_ns=60_000).read_all().to_pylist()
        self.assertTrue(events and all(30_000 <= event["ns"] <= 60_000 for event in events))
        self.assertEqual(trace.slices(to_ns=60_000, limit=10).read_all().num_rows, 10)
        for wrong in ({"from_ns": 2, "to_ns": 1}, {"to_ns": 2**63}):
            with self.assertRaisesRegex(ValueError, "to_ns"):
                trace.slices(**wrong)
        with self.assertRaisesRegex(netslice.TraceError, "to_ns is before"):
            trace.units(to_ns=-1)

    def test_a_table_becomes_a_data_frame(self):
        try:
            import pandas  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        frame = netslice.open(self.trace).to_pandas("slices", limit=100)
        self.assertEqual(len(frame), 100)
        self.assertIn("net_ticks", frame.columns)

    def test_what_is_not_a_trace_is_refused_when_it_is_opened(self):
        other = self.folder / "other.nsl"
        other.write_text("not a trace at all, but long enough for a header of one" * 4)
        with self.assertRaisesRegex(netslice.TraceError, "other.nsl"):
            netslice.open(other)
        with self.assertRaisesRegex(ValueError, "unit"):
            netslice.open(self.trace).slices(unit=-1)
        with self.assertRaisesRegex(ValueError, "slices"):
            netslice.open(self.trace).to_pandas("colours")

    def test_a_missing_library_is_reported_with_where_it_was_searched(self):
        with (
            mock.patch.dict(os.environ, {library.VARIABLE: "/nonexistent/library.so"}),
            mock.patch.object(library, "_library", None),
            self.assertRaisesRegex(netslice.LibraryMissing, "/nonexistent/library.so.*ldconfig"),
        ):
            netslice.open(self.trace)

    def test_pip_installs_it_from_the_tree(self):
        source, target = self.folder / "source", self.folder / "site"
        shutil.copytree(SOURCE / "nsdump/python", source)
        pip = os.environ["NETSLICE_PYTHON"]
        done = run(
            *(pip, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"),
            *("--no-index", "--target", target, source),
        )
        if done.returncode != 0:
            self.skipTest(f"pip cannot build here: {done.stderr.strip().splitlines()[-1]}")
        environment = {
            **os.environ,
            "PYTHONPATH": str(target),
            library.VARIABLE: str(BUILD / "lib" / library.NAME),
        }
        text = (
            "import sys, netslice; print(netslice.open(sys.argv[1]).losses().read_all().num_rows)"
        )
        done = run(pip, "-c", text, self.trace, env=environment, cwd=target)
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)
        installed = sorted(path.name for path in (target / "netslice").glob("*.py"))
        self.assertEqual(
            installed, sorted(path.name for path in (PACKAGES / "netslice").glob("*.py"))
        )


if __name__ == "__main__":
    unittest.main()
