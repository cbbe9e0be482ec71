# SPDX-License-Identifier: MIT
# run_bench_test: fake programs -> the expected verdicts, exit code and bench.json of run_bench.
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class RunBench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.top = pathlib.Path(self.folder.name)
        for folder in ("bin", "tests"):
            (self.top / folder).mkdir()

    def program(self, name, script):
        path = self.top / "bin" / name
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)

    def prints(self, name, *figures):
        self.program(name, "\n".join(f"echo '{json.dumps(figure)}'" for figure in figures))

    def run_bench(self, listed, *arguments):
        (self.top / "list.txt").write_text(listed + "\n")
        out = self.top / "out.json"
        done = subprocess.run(
            [
                sys.executable,
                "-B",
                HERE / "run_bench.py",
                "--bin",
                self.top / "bin",
                "--list",
                self.top / "list.txt",
                "--out",
                out,
                *arguments,
            ],
            capture_output=True,
            text=True,
        )
        figures = json.loads(out.read_text())["figures"] if out.exists() else []
        return done, {figure["figure"]: figure for figure in figures}

    def verdict_of(self, value, sense, bar):
        self.prints(
            "one", {"figure": "f", "value": value, "bar": bar, "sense": sense, "unit": "ns"}
        )
        done, figures = self.run_bench("b : f : one", "--repeat", "1")
        return figures["f"]["verdict"], done.returncode

    def test_each_sense_has_its_border_on_the_right_side(self):
        for value, sense, bar, expected in [
            (5, "at most", 5, "reached"),
            (5.1, "at most", 5, "missed"),
            (5, "at least", 5, "reached"),
            (4.9, "at least", 5, "missed"),
            (4.9, "below", 5, "reached"),
            (5, "below", 5, "missed"),
            (5, "equal", 5, "reached"),
            (5.1, "equal", 5, "missed"),
        ]:
            with self.subTest(value=value, sense=sense):
                self.assertEqual(
                    self.verdict_of(value, sense, bar), (expected, 1 if expected == "missed" else 0)
                )

    def test_the_median_of_the_runs_counts_and_every_run_is_kept(self):
        counter = self.top / "count"
        self.program(
            "one",
            f"echo x >>{counter}; n=$(wc -l <{counter}); [ $n != 2 ] || n=90\n"
            'echo "{\\"figure\\":\\"f\\",\\"value\\":$n,\\"bar\\":5,\\"sense\\":\\"at '
            'most\\",\\"raw\\":{\\"n\\":$n}}"',
        )
        done, figures = self.run_bench("b : f : one")
        self.assertEqual((figures["f"]["value"], figures["f"]["values"]), (3, [1, 90, 3]))
        self.assertEqual(figures["f"]["raw"], [{"n": 1}, {"n": 90}, {"n": 3}])
        self.assertEqual(done.returncode, 0)

    def test_names_can_be_checked_before_anything_is_built_or_run(self):
        self.program("one", f"touch {self.top}/has-run")
        for name, status in ("f", 0), ("b", 0), ("g", 2):
            self.assertEqual(self.run_bench("b : f : one", "--check", name)[0].returncode, status)
        self.assertFalse((self.top / "has-run").exists() or (self.top / "out.json").exists())

    def test_a_figure_that_cannot_be_had_says_why(self):
        self.program("one", "echo no such device >&2; exit 77")
        done, figures = self.run_bench("b : f g : one\nc : h : one : tool=no-such-program-here")
        self.assertEqual([figures[name]["verdict"] for name in "fgh"], ["skipped"] * 3)
        self.assertEqual(figures["f"]["skipped"], "no such device")
        self.assertIn("no-such-program-here", figures["h"]["skipped"])
        self.assertEqual(done.returncode, 0)

    def test_a_program_that_breaks_is_a_failure_of_its_figures(self):
        good = json.dumps({"figure": "f", "value": 1, "bar": 1, "sense": "equal"})
        for script in (
            "exit 3",
            "echo no json",
            "true",
            f"echo '{good}'; kill -SEGV $$",
            "sleep 5",
            'echo \'{"figure":"f","value":"1"}\'',
            'echo \'{"figure":"f","value":1,"bar":1,"sense":"near"}\'',
        ):
            with self.subTest(script=script):
                self.program("one", script)
                done, figures = self.run_bench("b : f : one : seconds=1")
                self.assertEqual(
                    (figures["f"]["verdict"], done.returncode), ("failed", 1), done.stdout
                )

    def test_a_program_that_is_not_built_is_a_failure(self):
        done, figures = self.run_bench("b : f : not_there")
        self.assertEqual((figures["f"]["verdict"], done.returncode), ("failed", 1))

    def test_what_runs_only_when_asked_runs_by_its_name_group_or_figure(self):
        self.prints("one", {"figure": "f", "value": 1})
        self.prints("two", {"figure": "g", "value": 2})
        listed = (
            "b : f : one\nmany/c : g : two : asked\n"
            "many/d : h : two : asked tool=no-such-program-here"
        )
        self.assertEqual(set(self.run_bench(listed)[1]), {"f"})
        self.assertEqual(set(self.run_bench(listed, "many")[1]), {"g", "h"})
        self.assertEqual(set(self.run_bench(listed, "many/c")[1]), {"g"})
        self.assertEqual(set(self.run_bench(listed, "g")[1]), {"g"})

    def test_a_missing_program_or_tool_is_named_with_its_packages_and_is_no_failure(self):
        self.prints("one", {"figure": "f", "value": 1, "unit": "ns", "row": {"rival": "present"}})
        done, figures = self.run_bench(
            "b : f : one : table\nc : g : no_c : table built=no_c:c-dev,c-tools\n"
            "d : h : one : table tool=no-such-program-here:d-tools"
        )
        self.assertEqual(figures["g"]["skipped"], "no_c is not built: install c-dev c-tools")
        self.assertEqual(
            figures["h"]["skipped"], "requires the program no-such-program-here: install d-tools"
        )
        self.assertEqual(done.returncode, 0)
        reported = done.stdout.splitlines()
        self.assertLess(
            next(i for i, line in enumerate(reported) if line.startswith("present")),
            reported.index("not measured:"),
        )
        self.assertIn("  g  skipped: no_c is not built: install c-dev c-tools", reported)

    def test_a_built_program_is_looked_for_among_the_tests(self):
        self.program("../tests/one", 'echo \'{"figure":"f","value":1}\'')
        self.assertEqual(
            self.run_bench("b : f : one : built=one:one-dev")[1]["f"]["verdict"], "measured"
        )

    def test_a_row_that_is_no_object_breaks_the_protocol(self):
        self.prints("one", {"figure": "f", "value": 1, "row": "text"})
        done, figures = self.run_bench("b : f : one")
        self.assertEqual((figures["f"]["verdict"], done.returncode), ("failed", 1))

    def test_lines_are_shown_in_place_of_the_raw_measurements_and_both_are_kept(self):
        self.prints(
            "one",
            {"figure": "f", "value": 1, "raw": {"n": 7}, "lines": ["pairs  error", "    8   0.5"]},
        )
        done, figures = self.run_bench("b : f : one", "--repeat", "1")
        self.assertIn("    pairs  error\n        8   0.5\n", done.stdout)
        self.assertNotIn("raw", done.stdout)
        self.assertEqual((figures["f"]["raw"], len(figures["f"]["lines"])), ([{"n": 7}], 2))

    def test_lines_that_are_no_strings_break_the_protocol(self):
        self.prints("one", {"figure": "f", "value": 1, "lines": "text"})
        done, figures = self.run_bench("b : f : one")
        self.assertEqual((figures["f"]["verdict"], done.returncode), ("failed", 1))

    def test_names_choose_programs_and_figures_and_an_unknown_name_is_refused(self):
        self.prints("one", {"figure": "f", "value": 1}, {"figure": "g", "value": 2})
        self.prints("two", {"figure": "h", "value": 3})
        listed = "b : f g : one\nc : h : two"
        self.assertEqual(set(self.run_bench(listed, "b")[1]), {"f", "g"})
        self.assertEqual(set(self.run_bench(listed, "g")[1]), {"g"})
        self.assertEqual(set(self.run_bench(listed, "g", "c")[1]), {"g", "h"})
        done, _ = self.run_bench(listed, "nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing", done.stderr)


unittest.main()
