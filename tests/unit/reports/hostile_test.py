# SPDX-License-Identifier: MIT
# Input that none of our programs writes -> a page, or an error message with an exit code; never a
# traceback, never a command.
import contextlib
import io
import json
import os
import subprocess
import sys

import support
from support import ReportCase, cost, stats

sys.path.insert(0, os.path.join(support.HERE, "..", "..", "..", "reports"))
from nsreport import cli  # noqa: E402

NAMES = [
    "a_b^{c}@d&e",
    "\\\"'%$\nnewline",
    "`touch pwned`",
    "%s%n%d",
    "<b>x</b>",
    "",
    " ",
    "x" * 3000,
    "\u65e5\u672c\u8a9e" * 9,
    "\u202e\x00\x1b[2J",
    "plot '< touch pwned'",
    "@X",
    "$(touch pwned)",
    "&lt;",
    "\t\t",
    "a=1",
    "#",
    "NaN",
]


class Hostile(ReportCase):
    def run_document(self, document):
        done = self.run_report(
            self.write("input.json", json.dumps(document)), "-o", self.out, cwd=self.folder
        )
        self.assertNotIn("Traceback", done.stderr)
        self.assertNotIn("a bug in nsreport", done.stderr)
        for _, _, files in os.walk(self.folder):
            self.assertNotIn("pwned", files)
        return done

    def test_names_that_gnuplot_would_interpret_are_drawn_as_text(self):
        document = stats()
        model = document["slices"][0]
        document["slices"] = [
            {**json.loads(json.dumps(model)), "name": name, "file": name} for name in NAMES
        ]
        document["units"][0]["name"] = document["trace"]["path"] = document["clock"]["source"] = (
            NAMES[1]
        )
        done = self.run_document(document)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("<b>", self.page())

    def test_scenarios_and_parts_that_gnuplot_would_interpret_are_drawn_as_text(self):
        document = cost()
        for row, name in zip(document["rows"], NAMES):
            row["scenario"] = name
            for part in row["parts"]:
                part["name"] = name
        document["sources"]["instructions"] = document["capture"]["path"] = NAMES[1]
        done = self.run_document(document)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("<b>", self.page())

    def test_three_hundred_slices_give_a_page(self):
        document = stats()
        model = document["slices"][0]
        document["slices"] = [
            {**json.loads(json.dumps(model)), "name": f"slice {i}"} for i in range(300)
        ]
        self.assertEqual(self.run_document(document).returncode, 0)
        self.assertIn("slice 299<", self.page())

    def test_a_trace_of_marks_only_gives_a_page(self):
        document = stats()
        document.update(
            slices=[],
            units=[],
            marks=[{"name": "m", "count": 1, "mean": 3, "min": 3, "max": 3, "sum": 3}],
        )
        self.assertEqual(self.run_document(document).returncode, 0)
        self.assertIn("No picture", self.page())

    def test_an_impossible_figure_is_refused_with_its_place(self):
        for change, place in (
            (lambda d: d["rows"][0]["cycles"].update(ci95=-1), "$.rows[0].cycles.ci95"),
            (lambda d: d["rows"][0]["cycles"].update(net=1e299), "$.rows[0].cycles.net"),
            (lambda d: d["rows"][0]["cycles"].update(net=None), "$.rows[0].cycles.net"),
        ):
            document = cost()
            change(document)
            done = self.run_document(document)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn(place, done.stderr)

    def test_tiny_huge_zero_and_negative_figures_are_drawn(self):
        for value in (0, -0.0, 1e-300, 1e-17, -5, 1e29, -1e29):
            document = cost()
            for row in document["rows"][::2]:
                for kind in ("instructions", "cycles"):
                    if row[kind]:
                        row[kind]["net"] = row[kind]["raw"] = value
            done = self.run_document(document)
            self.assertEqual(done.returncode, 0, (value, done.stderr))
            document = stats()
            for entry in document["slices"][::2]:
                for part in ("raw", "net"):
                    entry["values"][0][part].update(
                        {
                            k: value
                            for k in ("mean", "min", "max", "p50", "p90", "p99", "p999", "total")
                        }
                    )
                entry["values"][0]["histogram"] = [[value, value, 3]]
                entry["values"][0]["per_packet"].update({k: value for k in ("raw", "net", "self")})
            done = self.run_document(document)
            self.assertEqual(done.returncode, 0, (value, done.stderr))

    def test_the_exit_code_does_not_depend_on_standard_error(self):
        whole, broken = self.write("whole.json", json.dumps(cost())), self.write("broken.json", "{")
        for place in (">&-", ">/dev/full"):
            for given, code in ((whole, 0), (broken, 3), (self.path("none"), 3)):
                command = f'"$0" "$1" "$2" -o "$3" 2{place}'
                done = subprocess.run(
                    ["sh", "-c", command, sys.executable, support.NSREPORT, given, self.out],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual((done.returncode, done.stdout), (code, ""), (place, given))

    def test_a_bug_is_a_sentence_with_exit_code_7(self):
        def broken(*_):
            raise KeyError("x\ny")

        said, kept = io.StringIO(), cli.make_report
        cli.make_report = broken
        try:
            with contextlib.redirect_stderr(said):
                self.assertEqual(cli.main(["input.nsl", "-o", "out"], "nsreport", "share", "0"), 7)
        finally:
            cli.make_report = kept
        self.assertIn("input.nsl: a bug in nsreport at", said.getvalue())
        self.assertNotIn("Traceback", said.getvalue())


if __name__ == "__main__":
    support.main()
