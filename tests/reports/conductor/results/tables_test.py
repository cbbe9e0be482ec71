# SPDX-License-Identifier: MIT
# nsconduct show: the columns of the published tables, in a readable unit.
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import ConductCase, main  # noqa: E402
from nsconduct.results import prefixes  # noqa: E402


class TablesTest(ConductCase):
    def setUp(self):
        super().setUp()
        self.master(
            "a",
            test="trials: 3",
            more="[Variants]\nnull: n=2\nsha1: n=6\n"
            "[Values]\nspeed: a run 2 bits/s regex ([0-9]+)\n",
        )
        self.player("a", run="step1: echo >> count\nstep2: echo ${n}${n}$(wc -l < count)0000")
        self.run_master("--seed", "1")

    def test_a_row_has_min_max_median_avg_and_stddev(self):
        shown = self.conduct("show", self.out)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        title, head, *rows = shown.stdout.splitlines()
        self.assertEqual(title, "speed [Mbits/s]")
        self.assertEqual(head.split()[:6], ["Trials", "Min", "Max", "Median", "Avg", "Stddev"])
        samples = self.results()["values"]["speed"]["variants"]["sha1"]["samples"]
        row = next(row.split() for row in rows if row.startswith("sha1 "))
        low, middle, high = sorted(value / 1e6 for value in samples)
        self.assertEqual([float(cell) for cell in row[1:5]], [3, low, high, middle])

    def test_json_has_the_samples_in_the_unit_of_the_file(self):
        shown = self.conduct("show", self.out, "--json")
        value = json.loads(shown.stdout)["values"]["speed"]
        self.assertEqual(value["unit"], "bits/s")
        self.assertEqual(len(value["variants"]["null"]["samples"]), 3)

    def test_control_characters_in_results_do_not_reach_the_terminal(self):
        self.master("b")
        self.player("b", run="step1: printf '\\033[2Jgone' >&2; exit 1")
        self.out = self.path("controls")
        self.run_master(code=1)
        shown = self.conduct("show", self.out)
        self.assertIn("\\x1b[2Jgone", shown.stdout)
        self.assertNotIn("\x1b", shown.stdout)

    def test_a_prefix_is_chosen_only_for_units_that_have_one(self):
        for (unit, values), expected in {
            ("bits/s", (2.2e9,)): "Gbits/s",
            ("s", (0.013, None)): "ms",
            ("s", (7200,)): "s",
            ("packets", (0.5,)): "packets",
            ("%", (1e6,)): "%",
            ("bits/s", ()): "bits/s",
        }.items():
            self.assertEqual(prefixes.scaled(unit, values)[1], expected)


main()
