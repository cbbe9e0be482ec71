# SPDX-License-Identifier: MIT
# The output folder of nsreport: what it refuses, and what remains after a full disk or a signal.
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

import support
from support import ReportCase, cost


class BadOutput(ReportCase):
    def setUp(self):
        super().setUp()
        self.input = self.write("input.json", json.dumps(cost()))

    def test_a_folder_with_other_files_is_refused_and_untouched(self):
        os.mkdir(self.out)
        with open(os.path.join(self.out, "thesis.tex"), "w", encoding="utf-8") as file:
            file.write("years of work")
        done = self.run_report(self.input, "-o", self.out)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual(os.listdir(self.out), ["thesis.tex"])

    def test_a_missing_parent_and_a_file_in_the_way_end_with_6(self):
        for place in (self.path("no/such/place"), self.input):
            done = self.run_report(self.input, "-o", place)
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn("-o", done.stderr)
        self.assertEqual(self.leftovers(), [])

    def test_a_full_disk_ends_with_6_and_leaves_nothing(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))  # noqa: E731
        done = self.run_report(self.input, "-o", self.out, preexec_fn=limit)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual(self.leftovers(), [])

    def test_a_failed_run_keeps_the_older_report(self):
        self.assertEqual(self.run_report(self.input, "-o", self.out).returncode, 0)
        before = self.page()
        self.assertNotEqual(
            self.run_report(self.write("bad.json", "{"), "-o", self.out).returncode, 0
        )
        self.assertEqual(self.page(), before)

    def check_refused(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_an_empty_name_is_a_wrong_command_line(self):
        os.mkdir(self.path("empty"))
        self.check_refused(self.run_report(self.input, "-o", "", cwd=self.path("empty")), 2, "-o")
        self.assertEqual(os.listdir(self.path("empty")), [])
        self.assertEqual(sorted(os.listdir(self.folder)), ["empty", "input.json"])

    def test_the_current_folder_and_its_parents_are_refused(self):
        os.makedirs(self.path("a/b"))
        for place in (".", ".."):
            self.check_refused(
                self.run_report(self.input, "-o", place, cwd=self.path("a/b")),
                6,
                "current folder",
                "-o",
            )
        self.assertTrue(os.path.isdir(self.path("a/b")))

    def test_a_report_with_a_file_of_another_program_is_refused_and_untouched(self):
        for name in ("thesis.tex", "data/notes.tsv", "mine.png"):
            self.assertEqual(self.run_report(self.input, "-o", self.out).returncode, 0)
            with open(os.path.join(self.out, name), "w", encoding="utf-8") as file:
                file.write("years of work")
            self.check_refused(self.run_report(self.input, "-o", self.out), 6, name)
            self.assertTrue(os.path.exists(os.path.join(self.out, name)))
            shutil.rmtree(self.out)

    def test_an_input_inside_the_output_folder_is_refused_and_kept(self):
        self.assertEqual(self.run_report(self.input, "-o", self.out).returncode, 0)
        for name in ("index.html", "data/paper.tsv"):
            place = os.path.join(self.out, name)
            shutil.copy(self.input, place)
            self.check_refused(self.run_report(place, "-o", self.out), 6, name, "-o")
            self.check_refused(
                self.run_report("report/" + name, "-o", "./report/", cwd=self.folder), 6, name
            )
            with open(place, "rb") as file:
                self.check_refused(self.run_report("-", "-o", self.out, stdin=file), 6, "-o")
            with open(place, encoding="utf-8") as file:
                self.assertEqual(json.load(file), cost())

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_without_write_permission_ends_with_6(self):
        os.mkdir(self.path("closed"), 0o555)
        self.check_refused(
            self.run_report(self.input, "-o", self.path("closed/report")),
            6,
            "Permission denied",
            "-o",
        )

    def test_a_file_system_that_is_full_or_read_only_ends_with_6_and_leaves_nothing(self):
        place = self.path("mounted")
        os.makedirs(place)
        script = (
            'mount -t tmpfs -o "$0" none "$PLACE" || exit 77; "$@"; code=$?; ls -A "$PLACE"; exit '
            "$code"
        )
        for options, word in (
            ("size=40k", "space"),
            ("size=200k", "space"),
            ("size=200k,nr_inodes=4", "space"),
            ("ro", "Read-only file system"),
        ):
            done = subprocess.run(
                [
                    "unshare",
                    "-rm",
                    "sh",
                    "-c",
                    script,
                    options,
                    sys.executable,
                    support.NSREPORT,
                    self.input,
                    "-o",
                    place + "/report",
                ],
                env={**os.environ, "PLACE": place},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode in (1, 77):
                self.skipTest(f"no private mounts: {done.stderr}")
            self.check_refused(done, 6, word, "-o")
            self.assertEqual(done.stdout, "")


class Signals(ReportCase):
    GNUPLOT = """#!/bin/sh
echo $$ >"$PIDS"
exec sleep 60
"""

    def setUp(self):
        super().setUp()
        self.input = self.write("input.json", json.dumps(cost()))

    def start(self, **env):
        return subprocess.Popen(
            [sys.executable, "-IS", support.NSREPORT, self.input, "-o", self.out],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **env},
        )

    def wait_for(self, condition):
        deadline = time.monotonic() + 20
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.005)
        self.assertTrue(condition())

    def test_a_signal_leaves_nothing_behind_and_ends_gnuplot(self):
        gnuplot = self.write("gnuplot.sh", self.GNUPLOT)
        os.chmod(gnuplot, 0o755)
        pids = self.path("pids")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start(GNUPLOT=gnuplot, PIDS=pids)
            self.wait_for(lambda: os.path.exists(pids) and os.path.getsize(pids))
            process.send_signal(number)
            _, said = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 128 + number, said)
            self.assertIn("interrupted", said)
            self.assertNotIn("Traceback", said)
            self.assertEqual(self.leftovers(), [])
            with open(pids, encoding="utf-8") as file:
                self.assertRaises(ProcessLookupError, os.kill, int(file.read()), 0)
            os.remove(pids)

    def test_a_signal_at_any_moment_leaves_the_old_report_or_a_complete_new_one(self):
        started = time.monotonic()
        self.assertEqual(self.run_report(self.input, "-o", self.out).returncode, 0)
        whole, names = time.monotonic() - started, sorted(os.listdir(self.out))
        started = time.monotonic()
        self.run_report("--version")
        python = time.monotonic() - started  # until then a signal may meet Python's own start
        for i, number in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 4):
            process = self.start()
            time.sleep(2 * python + whole * i / 12)
            process.send_signal(number)
            _, said = process.communicate(timeout=30)
            self.assertIn(process.returncode, (0, 128 + number, -number), said)
            self.assertNotIn("Traceback", said)
            self.assertEqual(self.leftovers(), ["report"])
            self.assertEqual(sorted(os.listdir(self.out)), names)


if __name__ == "__main__":
    support.main()
