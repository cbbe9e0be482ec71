#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsreport --ktime for real: its report is consistent, the machine is left as it was, and what is
missing or in the way is named."""

import csv
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

import needs
from mapi_interfaces import enter_name_space, in_session, make_pair, wait_until

BIN = pathlib.Path(os.environ["NETSLICE_BIN"])
NSREPORT, RUNNER = BIN / "nsreport", BIN / "ktime-runner"
SETTING = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
PICTURES = ("two_clocks", "without_clock", "clock_trend", "course", "gap_terms")
PROGRAMS = 30


def attached(interface):
    """Id of the XDP program on the interface, or None."""
    shown = subprocess.run(
        ["ip", "-json", "link", "show", interface], capture_output=True, check=True
    ).stdout
    return json.loads(shown)[0].get("xdp", {}).get("prog", {}).get("id")


class Case(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="nsreport-ktime-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.out = self.folder / "report"

    def report(self, *options, prefix=(), **environment):
        return subprocess.run(
            [*prefix, NSREPORT, "--ktime", *options, "-o", self.out],
            capture_output=True,
            text=True,
            env=os.environ | environment,
        )

    def script(self, text):
        path = self.folder / "runner"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)


class Report(Case):
    def rows(self, name):
        with open(self.out / "data" / name, encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_a_short_experiment_makes_a_consistent_report_and_restores_the_machine(self):
        before = SETTING.read_text()
        self.addCleanup(SETTING.write_text, before)
        SETTING.write_text("0")
        subprocess.run([RUNNER, "--check"], check=True)
        self.assertEqual(SETTING.read_text().strip(), "0")
        SETTING.write_text("1")
        done = self.report("--runs", "5", "--rounds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(SETTING.read_text().strip(), "1")
        self.assertIn("The document's guess", done.stderr)
        self.check_files()

    def check_files(self):
        for name in PICTURES:
            for kind in ("png", "svg"):
                self.assertGreater((self.out / f"{name}.{kind}").stat().st_size, 1000)
        document = json.loads((self.out / "data/results.json").read_text())
        self.assertEqual(len(document["programs"]), PROGRAMS)
        runs = self.rows("runs.csv")
        self.assertEqual(len(runs), PROGRAMS * 2 * 5)
        for row in runs:
            place = document["programs"][row["program"]]
            at = int(row["execution"]) - 1, int(row["run"]) - 1
            self.assertEqual(int(row["run_ns"]), place["run_ns"][at[0]][at[1]])
            self.assertEqual(bool(row["clock_ns"]), row["program"].startswith(("full", "first")))
            if row["clock_ns"]:
                self.assertLess(int(row["clock_ns"]), int(row["run_ns"]))
        self.assertEqual(len(self.rows("packets.csv")), PROGRAMS * 2 * 99)
        for name in ("terms", "means", "before", "outliers"):
            stored = json.loads((self.out / f"data/{name}.json").read_text())
            self.assertEqual(len(stored), len(self.rows(f"{name}.csv")))
        terms = {
            (row["checksums"], row["packets"], row["term"]): float(row["ns"])
            for row in self.rows("terms.csv")
        }
        for (number, packets, term), value in terms.items():
            if term == "unexplained":
                gap, summed = (terms[number, packets, name] for name in ("gap", "sum"))
                self.assertAlmostEqual(value, gap - summed, places=3)

    def test_ctrl_c_leaves_neither_a_partial_report_nor_a_process(self):
        process = subprocess.Popen(
            [NSREPORT, "--ktime", "--runs", "100", "-o", self.out],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.assertTrue(wait_until(lambda: len(in_session(process.pid)) == 2))
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn("interrupted; no partial report is left", said)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(in_session(process.pid), [])

    def test_the_runner_ends_with_a_killed_nsreport(self):
        process = subprocess.Popen(
            [NSREPORT, "--ktime", "--runs", "100", "-o", self.out],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.assertTrue(wait_until(lambda: len(in_session(process.pid)) == 2))
        process.kill()
        process.wait()
        self.assertTrue(wait_until(lambda: not in_session(process.pid)))


class Missing(Case):
    def test_missing_capabilities_are_named_before_anything_is_made(self):
        for dropped, name in (
            ("-bpf", "CAP_BPF"),
            ("-net_admin", "CAP_NET_ADMIN"),
            ("-net_raw", "CAP_NET_RAW"),
            ("-sys_admin", "CAP_SYS_ADMIN"),
        ):
            done = self.report(prefix=("setpriv", f"--bounding-set={dropped}"))
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn(f"capabilities are missing: {name} (", done.stderr)
            self.assertFalse(self.out.exists())

    def test_a_build_without_the_runner_is_named_with_what_it_requires(self):
        alone = self.folder / "bin"
        alone.mkdir()
        shutil.copy(NSREPORT, alone)
        share = (BIN / "../share").resolve()
        (self.folder / "share").symlink_to(share)
        done = subprocess.run(
            [alone / "nsreport", "--ktime", "-o", self.out], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("ktime-runner: not found (build the toolkit with libbpf-dev", done.stderr)

    def test_packets_that_never_arrive_are_an_error_with_their_number(self):
        other = (
            f'[ "$1" = --check ] && exec {RUNNER} --check\n'
            "ip link add lone type veth peer name other && ip link set lone up\n"
            "ip link set other up\n"
            f"exec {RUNNER} lone far 50"
        )
        done = self.report(KTIME_RUNNER=self.script(other))
        self.assertEqual(done.returncode, 5)
        self.assertIn("no ICMP packet reached the XDP program: 3 packets", done.stderr)
        self.assertFalse(self.out.exists())

    def test_a_kernel_without_run_statistics_is_named(self):
        refusal = "this kernel has no run statistics of BPF programs"
        done = self.report(KTIME_RUNNER=self.script(f"echo 'ktime-runner: {refusal}' >&2; exit 3"))
        self.assertEqual(done.returncode, 5)
        self.assertIn(f"ktime-runner: {refusal}", done.stderr)


class Runner(unittest.TestCase):
    """In the test's own namespace, with the pairs near and far, lone and other."""

    def runner(self, *arguments):
        process = subprocess.Popen(
            [RUNNER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        process.stdout.readline()
        return process

    def ask(self, process, question):
        process.stdin.write(f"{question}\n")
        process.stdin.flush()

    def test_a_packet_that_does_not_arrive_ends_its_run_after_the_time_limit(self):
        process = self.runner("lone", "far", "50")
        self.ask(process, "run full_1 2 nothing")
        answer = json.loads(process.stdout.readline())
        self.assertEqual((answer["sent"], answer["run_ns"]), (1, []))
        self.assertIsNone(attached("far"))

    def test_another_program_on_the_interface_is_refused_and_stays(self):
        first = self.runner("lone", "far", "3000")
        self.ask(first, "run full_1 1 nothing")
        self.assertTrue(wait_until(lambda: attached("far")))
        there = attached("far")
        second = self.runner("near", "far")
        self.ask(second, "run none_1 1 nothing")
        said = second.communicate()[1]
        self.assertEqual(second.returncode, 3)
        self.assertIn(f"far: XDP program (id {there}) is attached already", said)
        self.assertEqual(attached("far"), there)

    def test_a_killed_runner_leaves_no_program_on_the_interface(self):
        process = self.runner("lone", "far", "60000")
        self.ask(process, "run full_1 1 nothing")
        self.assertTrue(wait_until(lambda: attached("far")))
        process.kill()
        self.assertTrue(wait_until(lambda: not attached("far")))

    def test_every_program_runs_once_per_packet(self):
        process = self.runner("near", "far")
        for variant in ("full", "first", "map", "clock", "none"):
            for number in (0, 1, 2, 4, 8, 16):
                self.ask(process, f"run {variant}_{number} 3 nothing")
                answer = json.loads(process.stdout.readline())
                self.assertEqual((answer["others"], len(answer["run_ns"])), (0, 3), variant)
                has_clock = variant in ("full", "first")
                self.assertEqual(len(answer["clock_ns"]), 3 * has_clock)
                self.assertTrue(all(0 < ns < 1e8 for ns in answer["clock_ns"]))


if __name__ == "__main__":
    if not RUNNER.exists():
        needs.skip("ktime-runner is not built: it requires libbpf, clang and bpftool")
    needs.tools("ip", "ethtool", "gnuplot", "ps", "setpriv")
    enter_name_space(is_own_user=False)
    if subprocess.run([RUNNER, "--check"], capture_output=True).returncode != 0:
        needs.skip("requires root, and a kernel with BPF run statistics")
    make_pair("near", "far")
    make_pair("lone", "other")
    unittest.main(verbosity=2)
