# SPDX-License-Identifier: MIT
# nscalibrate -> calibration.json with plausible figures, which nsdump applies to a trace.
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["NETSLICE_BIN"])
PROBES = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "tests/nscalibrate_probes"
NUMBER = (int, float)


def run(*words, **more):
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=200, **more
    )


class Nscalibrate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.file = cls.path / "calibration.json"
        cls.done = run(BIN / "nscalibrate", "-w", cls.file, "--batches", "200", "-q")
        cls.data = json.loads(cls.file.read_text()) if cls.file.exists() else {}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def rows(self, **wanted):
        return [
            row
            for row in self.data["probes"]
            if all(row[key] == value for key, value in wanted.items())
        ]

    def test_its_exit_code_agrees_with_its_warnings(self):
        self.assertEqual(self.done.stderr, "")
        self.assertEqual(self.done.returncode, 0 if self.data["trusted"] else 1, self.done.stdout)

    def test_the_file_keeps_to_the_schema(self):
        self.assertEqual(self.data["schema"], "netslice-calibration-1")
        for key in ("cpu", "arch", "kernel", "governor", "virtualised", "compiler", "date", "cpus"):
            self.assertIn(key, self.data["context"])
        clock = self.data["clock"]
        self.assertIsInstance(clock["source"], str)
        self.assertIsInstance(clock["invariant"], bool)
        self.assertGreater(clock["hz"], 1e6)
        self.assertGreaterEqual(clock["step_ticks"], 1)
        for row in self.data["clock_reads"]:
            self.assertEqual(sorted(row), ["ci95_ns", "name", "ns", "ticks"])
        for row in self.data["probes"]:
            for key in (
                "inner_ticks",
                "inner_ci95",
                "outer_ticks",
                "outer_ci95",
                "outer_hidden_ticks",
            ):
                self.assertIsInstance(row[key], NUMBER)
            # the others have nothing inside
            for key in ("inner_hidden_ticks", "inner_overtaking_ticks", "outer_overtaking_ticks"):
                self.assertEqual(row[key] is not None, row["macro"] == "START+STOP", row)
            for key in ("macro", "mode", "ring", "counters"):
                self.assertIsInstance(row[key], str)
            self.assertIn("inner_instructions", row)
            self.assertGreater(row["batches"], row["trimmed"])
        self.assertTrue(all(isinstance(warning, str) for warning in self.data["warnings"]))

    def test_every_macro_is_there_in_both_modes(self):
        rings = {row["ring"] for row in self.data["probes"]}
        self.assertTrue(rings)
        for ring in rings:
            for mode in ("fast", "ordered"):
                macros = [row["macro"] for row in self.rows(mode=mode, ring=ring, counters="none")]
                self.assertEqual(sorted(macros), ["EXIT", "INIT", "MARK", "START+STOP"])

    def test_the_figures_are_plausible(self):
        reads = {row["name"]: row["ticks"] for row in self.data["clock_reads"]}
        first = next(iter(reads.values()))
        self.assertGreater(first, 1)
        self.assertGreater(reads["clock_gettime"], first)
        for row in self.rows(macro="START+STOP", counters="none"):
            inner, outer = (
                row[f"{key}_ticks"] + row[f"{key}_hidden_ticks"] for key in ("inner", "outer")
            )
            self.assertGreaterEqual(inner, 0.9 * first, row)
            self.assertLessEqual(inner, outer, row)
            ordered = self.rows(
                macro="START+STOP", counters="none", ring=row["ring"], mode="ordered"
            )[0]
            self.assertLessEqual(row["outer_ticks"], ordered["outer_ticks"] * 1.05, row)

    def test_the_rings_account_for_every_record(self):
        for row in self.data["rings"]:
            if row["name"] == "off":
                self.assertLess(row["ns"], 5)
                continue
            self.assertEqual(row["issued"], row["drained"] + row["lost"], row)
            if row["name"] == "full":
                self.assertGreater(row["lost"], 0.8 * row["issued"], row)
            self.assertGreater(row["ticks"], 1)

    def test_what_is_missing_has_a_reason(self):
        here = {row["counters"] for row in self.data["probes"]}
        for source in ("rdpmc", "perf-read", "papi", "step"):
            lacks = [row["reason"] for row in self.data["unavailable"] if source in row["what"]]
            self.assertEqual(len(lacks), 0 if source in here else 1, source)
            self.assertTrue(all(lacks))

    def test_a_session_says_what_happened_around_its_calibration(self):
        self.need_probes()
        trace = self.path / "surroundings.nsl"
        done = run(PROBES, f"output={trace}")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(BIN / "nsdump", "export", trace, "--what", "stats", "--format", "json")
        info = json.loads(done.stdout)["info"]
        self.assertGreaterEqual(int(info["calibrate.looks"]), 5)
        self.assertTrue(0 <= float(info["calibrate.sibling"]) <= 1, info)
        self.assertTrue(0 <= float(info["calibrate.frequency"]) < 10, info)
        for key in ("steal_ms", "gap_ticks", "preempted", "repeated"):
            self.assertGreaterEqual(int(info[f"calibrate.{key}"]), 0, info)

    def test_the_run_says_what_happened_around_it(self):
        around = self.data["run"]
        self.assertTrue(0 <= around["shared_core"] <= 1)
        self.assertGreaterEqual(around["frequency_range"], 0)
        self.assertLessEqual(around["repeated_passes"], self.data["method"]["passes"] / 2)
        disturbed = around["repeated_passes"] + around["disturbed_passes"] > 0
        is_reported = any(
            "were repeated" in line or "was repeated" in line for line in self.data["warnings"]
        )
        self.assertEqual(is_reported, disturbed, self.data["warnings"])

    def stats(self, options, *more):
        trace = self.path / "trace.nsl"
        done = run(PROBES, f"output={trace} calibration=no {options}")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(BIN / "nsdump", "export", trace, "--what", "stats", "--format", "json", *more)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def need_probes(self):
        if not any(row["name"] == "off" for row in self.data["rings"]):
            self.skipTest("this build has no probes")

    def test_nsdump_corrects_a_trace_with_it(self):
        self.need_probes()
        stats = self.stats("clock=ordered", "--calibration", self.file)
        empty = next(row for row in stats["slices"] if row["name"] == "empty")["values"][0]
        self.assertEqual(empty["field"], "ticks")
        ring = stats["info"]["ring.kind"]
        inner = self.rows(macro="START+STOP", mode="ordered", ring=ring, counters="none")[0][
            "inner_ticks"
        ]
        self.assertAlmostEqual(
            empty["raw"]["mean"] - empty["net"]["mean"], inner, delta=0.01 * inner + 0.5
        )

    def test_stepped_instructions_are_corrected_to_zero(self):
        self.need_probes()
        if not self.rows(counters="step"):
            self.skipTest("single-stepping is unavailable")
        stats = self.stats("counters=instructions source=step", "--calibration", self.file)
        for name in ("empty", "whole"):
            values = next(row for row in stats["slices"] if row["name"] == name)["values"]
            counted = next(value for value in values if value["field"] != "ticks")
            self.assertGreater(counted["raw"]["mean"], 0)
            self.assertEqual(counted["net"]["mean"], 0, name)


class Watch(unittest.TestCase):
    def test_each_second_is_an_object(self):
        done = run(BIN / "nscalibrate", "--watch", "-d", "2", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["second"] for line in lines], [1, 2])
        for line in lines:
            self.assertGreater(line["looks"], 10)
            self.assertTrue(0 <= line["shared"] <= 1, line)

    def test_a_competitor_for_the_cpu_is_seen(self):
        cpu = str(min(os.sched_getaffinity(0)))
        busy = subprocess.Popen(["taskset", "-c", cpu, "sh", "-c", "while :; do :; done"])
        try:
            done = run(BIN / "nscalibrate", "--watch", "-d", "1", "--cpu", cpu, "--json")
        finally:
            busy.kill()
            busy.wait()
        line = json.loads(done.stdout)
        self.assertIn("other programs", line["disturbed_by"])
        self.assertGreater(line["preemptions"], 0)
        self.assertGreater(line["gap_seconds"], 0.1)

    def test_it_shows_each_second_at_once_and_ends_on_ctrl_c(self):
        watch = subprocess.Popen(
            [BIN / "nscalibrate", "--watch"], stdout=subprocess.PIPE, text=True, bufsize=1
        )
        head = [watch.stdout.readline(), watch.stdout.readline()]
        first = watch.stdout.readline()
        watch.send_signal(signal.SIGINT)
        rest, _ = watch.communicate(timeout=60)
        self.assertEqual(watch.returncode, 0)
        self.assertRegex(head[0], r"^CPU \d+: ")
        self.assertIn("shared", head[1])
        self.assertRegex(first, r"^ +1 ")
        self.assertLessEqual(len(rest.splitlines()), 1)

    def test_options_without_effect_are_invalid_usage(self):
        for words in (
            ["--watch", "--paper"],
            ["--watch", "-q"],
            ["-d", "3"],
            ["--watch", "-d", "0"],
        ):
            self.assertEqual(run(BIN / "nscalibrate", *words).returncode, 2, words)


class Paper(unittest.TestCase):
    MACROS = ("NSI", "NSS", "NST", "NSE", "NSO", "NSA")

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "calibration.json"
            cls.done = run(BIN / "nscalibrate", "--paper", "--batches", "50", "-q", "-w", file)
            cls.data = json.loads(file.read_text()) if file.exists() else {}

    def rows(self, begin):
        return [line for line in self.done.stdout.splitlines() if line.startswith(begin + " ")]

    def test_its_exit_code_agrees_with_its_warnings(self):
        self.assertEqual(self.done.stderr, "")
        self.assertEqual(self.done.returncode, 0 if self.data["trusted"] else 1, self.done.stdout)
        for warning in self.data["warnings"]:
            self.assertIn(warning, self.done.stdout)

    def test_a_device_that_is_not_nsmod_of_this_release_is_reported_by_the_library(self):
        inside = "mount -t tmpfs none /dev && : >/dev/nsmod && exec "
        if (
            subprocess.run(
                ["unshare", "-Urm", "sh", "-c", inside + "true"], capture_output=True
            ).returncode
            != 0
        ):
            self.skipTest("no namespace in which /dev can be replaced")
        done = run(
            "unshare", "-Urm", "sh", "-c", f"{inside} {BIN / 'nscalibrate'} --paper --batches 50 -q"
        )
        self.assertIn(
            "not measured: /dev/nsmod: is not the device of the kernel module nsmod", done.stdout
        )

    def test_every_instruction_has_a_figure_or_a_reason(self):
        rows = self.data["paper"]["instructions"]
        self.assertGreaterEqual(len(rows), 5)
        for row in rows:
            self.assertEqual(len(self.rows(row["name"])), 1, self.done.stdout)
            self.assertNotEqual(row["here"] is None, row["reason"] is None, row)
            if row["here"]:
                self.assertGreater(row["here"]["ns"], 0, row)
            else:
                self.assertIn(row["reason"], self.rows(row["name"])[0])

    def test_this_machine_is_shown_next_to_that_of_2001(self):
        names = [row["name"] for row in self.data["paper"]["instructions"]]
        if self.data["context"]["arch"] != "x86_64":
            self.assertTrue(
                all(row["ns_2001"] is None for row in self.data["paper"]["instructions"])
            )
            return
        self.assertEqual(names, ["cpuid", "rdmsr", "rdpmc", "rdtsc", "wrmsr"])
        rdtsc = self.data["paper"]["instructions"][3]
        self.assertAlmostEqual(rdtsc["here"]["ratio_to_2001"], rdtsc["here"]["ns"] / 69)
        self.assertEqual(rdtsc["here"]["ticks"], self.data["clock_reads"][0]["ticks"])

    def test_every_macro_has_its_figures_in_both_modes(self):
        rows = {row["acronym"]: row for row in self.data["paper"]["macros"]}
        self.assertEqual(tuple(rows), self.MACROS)
        for row in rows.values():
            self.assertEqual(len(self.rows(row["acronym"])), 1, self.done.stdout)
            for mode in ("fast", "ordered"):
                self.assertGreater(row[mode]["ns"], 0, row)
                self.assertAlmostEqual(row[mode]["ratio_to_2001"], row[mode]["ns"] / row["ns_2001"])
        for mode in ("fast", "ordered"):
            halves = rows["NSS"][mode]["ns"] + rows["NST"][mode]["ns"]
            self.assertLess(0.5 * rows["NSA"][mode]["ns"], halves)
            self.assertLess(halves, 2 * rows["NSA"][mode]["ns"])

    def test_events_are_counted_or_the_reason_is_reported(self):
        paper = self.data["paper"]
        self.assertNotEqual(bool(paper["events"]), bool(paper["why_no_events"]))
        if not paper["events"]:
            self.assertIn(paper["why_no_events"], self.done.stdout)
        for row in paper["events"]:
            self.assertIn(
                f"{row['counter']:<16} {row['source']:<10} {row['mode']}", self.done.stdout
            )
            for macro in self.MACROS:
                self.assertGreater(row[macro]["count"], 0, row)
            if row["source"] == "step":
                self.assertEqual(row["NSS"]["count"] + row["NST"]["count"], row["NSA"]["count"])

    def test_the_json_is_the_files(self):
        done = run(BIN / "nscalibrate", "--paper", "--json", "--batches", "50", "-q")
        self.assertEqual(list(json.loads(done.stdout)), list(self.data))

    def test_without_it_the_file_has_no_such_tables(self):
        done = run(BIN / "nscalibrate", "--json", "--batches", "50", "-q")
        self.assertNotIn("paper", json.loads(done.stdout))


class Ends(unittest.TestCase):
    def test_wrong_arguments(self):
        for words in (["--nothing"], ["--cpu", "100000"], ["--batches", "3"], ["extra"]):
            done = run(BIN / "nscalibrate", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertTrue(done.stderr + done.stdout)

    def test_help_has_examples_and_exit_codes(self):
        done = run(BIN / "nscalibrate", "--help")
        self.assertEqual(done.returncode, 0)
        for words in ("Examples:", "Exit codes:", "--thorough", "negative if its two clock reads"):
            self.assertIn(words, done.stdout)
        self.assertRegex(run(BIN / "nscalibrate", "--version").stdout, r"^nscalibrate \d+\.\d+")

    def test_an_output_that_cannot_be_written(self):
        done = run(BIN / "nscalibrate", "-w", "/nowhere/calibration.json")
        self.assertEqual(done.returncode, 4)
        self.assertIn(
            "/nowhere/calibration.json: cannot write: No such file or directory (create its folder "
            "first",
            done.stderr,
        )

    def test_an_empty_name_is_refused(self):
        for option in ("-w", "-o", "--counters"):
            done = run(BIN / "nscalibrate", option, "")
            self.assertEqual(done.returncode, 2, option)
            self.assertIn("is empty (give a value or omit the option)", done.stderr)

    def test_two_results_on_standard_output_are_refused(self):
        done = run(BIN / "nscalibrate", "-w", "-", "-o", "-")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--write - cannot be combined with --output -", done.stderr)

    def test_only_a_calibration_or_an_empty_file_is_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "c.json"
            file.write_text("a document\n")
            done = run(BIN / "nscalibrate", "-q", "--batches", "50", "-w", file)
            self.assertEqual(done.returncode, 4)
            self.assertIn(
                f"{file}: exists and is not a calibration (remove it, or use another name)",
                done.stderr,
            )
            self.assertEqual(file.read_text(), "a document\n")
            for content in ("", None):  # then the calibration of the first turn
                if content is not None:
                    file.write_text(content)
                done = run(BIN / "nscalibrate", "-q", "--batches", "50", "-w", file)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertEqual(json.loads(file.read_text())["schema"], "netslice-calibration-1")
            self.assertEqual(os.listdir(folder), ["c.json"])

    def test_unknown_counters(self):
        done = run(BIN / "nscalibrate", "--counters", "wishes")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count('unknown counter "wishes"'), 1, done.stderr)

    def test_a_session_for_other_programs_is_not_opened_by_nscalibrate(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(
                BIN / "nscalibrate",
                "--batches",
                "50",
                env=os.environ | {"NETSLICE": f"output={folder}/t.nsl calibration=no"},
            )
            self.assertEqual(os.listdir(folder), [])
        self.assertIn(done.returncode, (0, 1), done.stderr)

    def test_an_interrupt_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with tempfile.TemporaryDirectory() as folder:
                program = subprocess.Popen(
                    [BIN / "nscalibrate", "--thorough", "-w", f"{folder}/c.json"],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                deadline = time.monotonic() + 60
                while not os.listdir(folder) and time.monotonic() < deadline:
                    time.sleep(0.01)
                time.sleep(0.3)
                program.send_signal(number)
                out, err = program.communicate(timeout=120)
                self.assertEqual(program.returncode, 130, err)
                self.assertEqual(out, "")
                self.assertIn("interrupted", err)
                self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
