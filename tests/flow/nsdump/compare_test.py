#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump diff and nsdump gate: verdicts on recorded programs, exit codes, files for CI services."""

import json
import os
import platform
import re
import subprocess
import unittest
import xml.etree.ElementTree

from probed_programs import NSDUMP, SOURCE, ProbedProgramsTest, run

STEP = ("--counters", "instructions", "--source", "step", "--step-every", "1")

# The number of steps of slice parse: 100, and 1 % more.
BODY = """
    static volatile unsigned long sink;
    for (long unit = 0; unit < 30; ++unit) {{
        NET_SLICE_INIT(batch, unit, 1, 64);
        NET_SLICE_START(parse);
        for (int step = 0; step < {steps}; ++step)
            sink += step;
        NET_SLICE_STOP(parse);
        NET_SLICE_START(filter);
        for (int step = 0; step < 50; ++step)
            sink += step;
        NET_SLICE_STOP(filter);
        NET_SLICE_EXIT(batch);
    }}
"""


def is_x86():
    return platform.machine() == "x86_64"


@unittest.skipUnless(is_x86(), "source step is for x86-64")
class CompareTest(ProbedProgramsTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        one = cls()
        cls.old = one.record("old", BODY.format(steps=100), *STEP)
        cls.new = one.record("new", BODY.format(steps=101), *STEP)
        cls.timed = one.record("timed", BODY.format(steps=100))

    def rules(self, *lines):
        path = self.folder / "costs.rules"
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def diff(self, *words):
        done = run(NSDUMP, "diff", "--json", *words)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return {(one["slice"], one["field"]): one for one in json.loads(done.stdout)["comparisons"]}


class Diff(CompareTest):
    def test_one_percent_more_instructions_are_found_and_nothing_else(self):
        compared = self.diff(self.old, self.new)
        parse = compared[("parse", "instructions")]
        self.assertEqual(parse["verdict"], "slower")
        self.assertTrue(parse["exact"])
        self.assertGreaterEqual(parse["difference"], 1)
        self.assertLess(parse["percent"], 1.5)
        self.assertEqual(compared[("filter", "instructions")]["verdict"], "no difference shown")

    def test_a_range_of_time_is_that_of_stats(self):
        shown = run(NSDUMP, "show", self.timed, "--slice", "parse").stdout
        stops_ns = re.findall(r"^ *([0-9.]+) .* STOP ", shown, re.MULTILINE)
        options = ("--from", f"{stops_ns[len(stops_ns) // 2]}ns")
        slices = self.export(self.timed, "stats", *options)["slices"]
        counts = {one["name"]: one["count"] for one in slices}
        self.assertTrue(0 < counts["parse"] < 30)
        rule = self.rules(f"parse: count == {counts['parse']}")
        self.assertEqual(run(NSDUMP, "gate", rule, self.timed, *options).returncode, 0)
        self.assertEqual(run(NSDUMP, "gate", rule, self.timed).returncode, 1)
        compared = self.diff(self.timed, self.timed, *options)
        self.assertEqual(compared[("parse", "ticks")]["difference"], 0)
        stored = self.folder / "range.json"
        stored.write_text(run(NSDUMP, "export", self.old, "--what=stats", "--json").stdout)
        self.assertEqual(run(NSDUMP, "diff", stored, stored, *options).returncode, 2)

    def test_constants_are_not_changed_in_a_stored_report(self):
        stored = self.folder / "constants.json"
        stored.write_text(run(NSDUMP, "export", self.old, "--what=stats", "--json").stdout)
        calibration = self.folder / "calibration.json"
        for option in (f"--calibration={calibration}", "--no-thinning"):
            done = run(NSDUMP, "diff", stored, stored, option)
            self.assertEqual(done.returncode, 2)
            self.assertIn(option.partition("=")[0], done.stderr)
        done = run(NSDUMP, "diff", stored, self.new, "--no-thinning")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{stored}: --no-thinning does not change it", done.stderr)

    def test_json_that_is_no_report_is_named_so(self):
        for text, words in (("[1, 2]", "array"), ("{}", "schema"), ("[", "invalid JSON")):
            other = self.folder / "other.json"
            other.write_text(text)
            done = run(NSDUMP, "diff", other, self.new)
            self.assertEqual(done.returncode, 3)
            self.assertIn(words, done.stderr)
            self.assertIn("nsdump export --what stats --json", done.stderr)

    def test_a_stored_report_stands_for_its_trace(self):
        stored = self.folder / "old.json"
        done = run(NSDUMP, "export", self.old, "--what", "stats", "--json", "-o", stored)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(self.diff(stored, self.new), self.diff(self.old, self.new))

    def test_several_runs_are_a_baseline(self):
        compared = self.diff("--baseline", f"{self.old},{self.old}", self.new)
        self.assertEqual(compared[("parse", "instructions")]["verdict"], "slower")
        again = self.diff("--baseline", self.old, "--baseline", self.old, self.new)
        self.assertEqual(compared, again)

    def test_other_counter_sources_are_not_compared(self):
        compared = self.diff(self.timed, self.new)
        self.assertIn("other counter source", compared[("parse", "instructions")]["why"])

    def test_exit_code_1_for_slower_slices_only_if_asked_for(self):
        self.assertEqual(run(NSDUMP, "diff", self.old, self.new).returncode, 0)
        for words, code in (
            ((self.old, self.new, "--fail-on", "slower"), 1),
            ((self.new, self.old, "--fail-on", "slower"), 0),
            ((self.new, self.old, "--fail-on", "different"), 1),
            ((self.old, self.old, "--fail-on", "different"), 0),
        ):
            self.assertEqual(run(NSDUMP, "diff", *words).returncode, code, words)

    def test_wrong_use_is_refused(self):
        for words, code, message in (
            ((self.old,), 2, "two traces are needed"),
            (("--baseline", self.old), 2, "no trace to compare"),
            (("--baseline", f"{self.old},,x", self.new), 2, "empty name"),
            ((self.old, self.new, "--slice", "nothing"), 2, 'no slice "nothing"'),
            ((self.old, self.new, "--run-spread", "-1"), 2, "--run-spread"),
            ((self.old, self.folder), 3, str(self.folder)),
            ((self.old, self.new, "-o", self.old), 2, "old.nsl"),
            ((self.old, self.new, "-o", "/dev/full"), 4, "/dev/full"),
        ):
            done = run(NSDUMP, "diff", *words)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn(message, done.stderr)

    def test_a_single_run_on_each_side_is_reported(self):
        words = (NSDUMP, "diff", self.timed, self.timed)
        self.assertIn("variance between runs is unknown", run(*words).stdout)

    def test_damaged_traces_are_read_or_refused(self):
        for trace in sorted((SOURCE / "tests/format").rglob("*.nsl")):
            for words in (("diff", trace, trace), ("gate", self.rules("*: net_ns <= 1"), trace)):
                done = run(NSDUMP, *words, timeout=60)
                self.assertIn(done.returncode, (0, 1, 3), (words, done.stderr))


class Gate(CompareTest):
    def gate(self, rules, *words):
        return run(NSDUMP, "gate", self.rules(*rules), *words)

    def test_rules_that_hold_exit_with_0_and_broken_ones_with_1(self):
        counts = {one["name"]: one for one in self.export(self.new, "stats")["slices"]}
        self.assertEqual(sorted(counts), ["filter", "parse"])
        for one in counts.values():  # the scheduler may move the thread inside of a slice
            self.assertEqual(one["count"] + one["migrated"], 30, one)
        held = (
            *("parse: instructions/packet <= 1e6", "*: lost == 0", "*: unmatched == 0"),
            *(f"{name}: count == {one['count']}" for name, one in counts.items()),
        )
        done = self.gate(held, self.new)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = self.gate((*held, "parse: instructions < 10"), self.new)
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken", done.stdout)

    def test_one_percent_more_than_the_baseline_is_found(self):
        words = (self.new, "--baseline", self.old)
        self.assertEqual(self.gate(("parse: instructions <= baseline",), *words).returncode, 1)
        for rule in ("filter: instructions <= baseline", "parse: instructions <= baseline +2%"):
            self.assertEqual(self.gate((rule,), *words).returncode, 0, rule)

    def test_outputs_are_the_same_in_a_locale_without_utf8(self):
        markdown, rules = self.folder / "c.md", self.rules("parse: net_ns <= 1")
        words = (NSDUMP, "gate", rules, self.timed, "--markdown", markdown)
        texts = []
        for locale in ("C", "C.UTF-8"):
            done = run(*words, env=os.environ | {"LC_ALL": locale})
            texts.append((done.stdout, markdown.read_text()))
        self.assertEqual(texts[0], texts[1])
        self.assertIn("±", texts[0][0])

    def test_what_cannot_be_judged_fails_with_the_reason(self):
        for rule, why in (
            ("nothing: net_ns <= 1", "no such slice"),
            ("parse: cycles <= 1", "no figure cycles"),
            ("parse: instructions <= baseline", "no baseline"),
        ):
            done = self.gate((rule,), self.new)
            self.assertEqual(done.returncode, 1, rule)
            self.assertIn(why, done.stdout)

    def test_a_damaged_trace_fails_its_rules(self):
        damaged = self.folder / "damaged.nsl"
        damaged.write_bytes(self.new.read_bytes()[:-200])
        done = self.gate(("parse: instructions <= 1e6",), damaged)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("incomplete", done.stdout)

    def test_invalid_rules_exit_with_2_and_name_line_and_column(self):
        done = self.gate(("# costs", "parse: net_ns <= 1", "parse net_ns", "a: x"), self.new)
        self.assertEqual(done.returncode, 2)
        self.assertIn("costs.rules:3:13: ", done.stderr)
        self.assertIn("costs.rules:4:5: ", done.stderr)
        self.assertEqual(self.gate(("# nothing",), self.new).returncode, 2)
        self.assertEqual(run(NSDUMP, "gate", self.folder, self.new).returncode, 3)
        self.assertEqual(run(NSDUMP, "gate", "/dev/zero", self.new).returncode, 2)

    def test_an_unknown_figure_exits_with_2_and_the_known_ones(self):
        junit = self.folder / "unknown.xml"
        done = self.gate(("*: lost == 0", "parse: net_nss <= 1"), self.new, "--junit", junit)
        self.assertEqual(done.returncode, 2)
        self.assertIn("costs.rules:2:8: unknown figure net_nss", done.stderr)
        self.assertRegex(done.stderr, "net_ns, raw_ns, .*counters of these traces: instructions")
        self.assertEqual((done.stdout, junit.exists()), ("", False))

    def test_rules_or_a_trace_come_from_standard_input(self):
        rule = "\ufeffparse: instructions < 10\r\n"
        junit = self.folder / "input.xml"
        words = (NSDUMP, "gate", "-", self.new, "--junit", junit)
        done = run(*words, input=rule)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("broken", done.stdout)
        self.assertIn('classname="standard input"', junit.read_text())
        done = run(*words, input="parse")
        self.assertIn("nsdump: standard input:1:6: ", done.stderr)
        with open(self.new, "rb") as trace:
            done = run(NSDUMP, "gate", self.rules("parse: instructions < 10"), "-", stdin=trace)
        self.assertEqual(done.returncode, 1, done.stderr)
        twice = (("gate", "-", "-"), ("gate", "-", self.new, "--baseline", "-"), ("diff", "-", "-"))
        for words in twice:
            done = run(NSDUMP, *words, input=rule)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("standard input is one file", done.stderr)

    def test_junit_has_the_fields_that_services_read(self):
        junit, markdown = self.folder / "gate.xml", self.folder / "gate.md"
        rules = ("parse: instructions <= 1e6", "parse: instructions < 1", '"<&": net_ns <= 1')
        done = self.gate(rules, self.new, "--junit", junit, "--markdown", markdown)
        self.assertEqual(done.returncode, 1)
        root = xml.etree.ElementTree.parse(junit).getroot()
        self.assertEqual(root.tag, "testsuites")
        (suite,) = root
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "2"))
        cases = suite.findall("testcase")
        self.assertEqual([bool(case.findall("failure")) for case in cases], [False, True, True])
        self.assertEqual(cases[2].get("name"), "<&: " + rules[2])
        for case in cases:
            self.assertTrue(case.get("classname").endswith("costs.rules"))
            for failure in case.findall("failure"):
                self.assertTrue(failure.get("message") and failure.get("type"))
        self.assertIn("| broken | parse |", markdown.read_text())

    def test_a_closed_pipe_does_not_make_a_broken_rule_pass(self):
        rules = self.rules("parse: instructions < 1")
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as closed:
            done = subprocess.run([NSDUMP, "gate", rules, self.new], stdout=closed, check=False)
        self.assertEqual(done.returncode, 1)

    def test_outputs_that_cannot_be_written_leave_nothing(self):
        rule = ("parse: instructions <= 1e6",)
        self.assertEqual(self.gate(rule, self.new, "--junit", "/dev/full").returncode, 4)
        self.assertEqual(self.gate(rule, self.new, "--junit", self.folder).returncode, 4)
        missing = self.folder / "nowhere/gate.xml"
        self.assertEqual(self.gate(rule, self.new, "--junit", missing).returncode, 4)
        same = self.folder / "same"
        done = self.gate(rule, self.new, "--junit", same, "--markdown", same)
        self.assertEqual(done.returncode, 2)
        self.assertFalse(same.exists())

    def test_every_form_in_the_manual_is_a_valid_rule(self):
        manual = (SOURCE / "nsdump/nsdump.1").read_text()
        section = manual.partition(".SH RULES")[2].partition(".SH ")[0]
        (examples,) = re.findall(r"\.nf\n(.*?)\.fi", section, re.DOTALL)
        lines = examples.replace("\\", "").splitlines()
        self.assertGreater(len(lines), 10)
        done = self.gate(lines, self.new)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertNotIn("invalid", done.stderr)


if __name__ == "__main__":
    unittest.main()
