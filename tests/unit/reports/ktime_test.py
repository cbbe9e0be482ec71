# SPDX-License-Identifier: MIT
# nsreport --ktime: statistics, terms of the gap, and stored values -> page.
import csv
import json
import math
import os
import sys
import unittest

import support
from support import ReportCase

sys.path.insert(0, os.path.join(support.HERE, "..", "..", "..", "reports"))
import ktime_support as known  # noqa: E402
from nsreport import errors  # noqa: E402
from nsreport.ktime import answer, interruptions, plan, run, statistics, terms, times  # noqa: E402


class Statistics(unittest.TestCase):
    def test_quantiles_of_student_agree_with_printed_tables(self):
        for degrees, value in ((1, 12.706), (2, 4.303), (3, 3.182), (10, 2.228), (100, 1.984)):
            self.assertAlmostEqual(
                statistics.t_quantile(0.975, degrees) / value, 1, delta=0.002, msg=degrees
            )

    def test_a_trimmed_mean_leaves_out_both_ends(self):
        values = [-1000, *range(1, 19), 1e6]
        made = statistics.trimmed_mean(values)
        self.assertEqual(made.value, 9.5)
        self.assertEqual(made.degrees, 17)
        winsorised = [1, *range(1, 19), 18]
        deviation = math.sqrt(sum((v - 9.5) ** 2 for v in winsorised) / 19)
        self.assertAlmostEqual(made.error, deviation / (0.9 * math.sqrt(20)))

    def test_the_error_of_a_single_value_is_infinite(self):
        self.assertEqual(statistics.mean([5]), statistics.Figure(5, math.inf, 1))

    def test_percentiles_are_interpolated(self):
        self.assertEqual(statistics.percentile([4, 1, 2, 3], 0.5), 2.5)
        self.assertEqual(statistics.percentile([4, 1, 2, 3], 1), 4)

    def test_the_interval_of_a_median_lies_between_ranks(self):
        middle, half = statistics.median(list(range(101)))
        self.assertEqual((middle, half), (50, 10))

    def test_outliers_are_named_by_their_place(self):
        values = [100 + i % 7 for i in range(200)]
        values[17] = 5000
        self.assertEqual(statistics.outliers(values), [(17, 5000)])

    def test_errors_of_independent_figures_add_in_squares(self):
        made = statistics.combined(
            [(1, statistics.Figure(10, 3, 8)), (-2, statistics.Figure(4, 2, 8))]
        )
        self.assertEqual((made.value, made.error), (2, 5))
        self.assertAlmostEqual(made.degrees, 25**2 / (9**2 / 8 + 16**2 / 8))

    def test_packets_of_one_attachment_count_as_one_value(self):
        made = statistics.of_clusters([[1.0] * 50, [3.0] * 50])
        self.assertEqual((made.value, made.error), (2, 1))


class Terms(unittest.TestCase):
    def setUp(self):
        self.figures = times.Figures(known.document())

    def test_each_term_is_found_from_programs_without_checksums(self):
        expected = {
            ("statistics", False): known.STATISTICS,
            ("helper", False): known.OUTSIDE,
            ("map", False): known.MAP,
            ("event", False): known.EVENT,
            ("statistics", True): known.STATISTICS_COLD,
            ("helper", True): known.OUTSIDE_COLD,
            ("map", True): known.MAP_COLD,
            ("event", True): known.EVENT_COLD,
        }
        for one in terms.TERMS:
            self.assertTrue(all(name.endswith("_0") for name, _, _ in one.coefficients()))
            value = terms.value(self.figures, one).value
            self.assertAlmostEqual(value, expected[one.part, one.is_cold], msg=one)

    def test_their_sum_is_the_gap_at_each_number(self):
        for n in plan.NUMBERS:
            for at, expected in ((times.FIRST, known.SUM), (times.WARM, known.WARM_SUM)):
                made = terms.explained(self.figures, n, at)
                self.assertAlmostEqual(made.gap.value, expected)
                self.assertAlmostEqual(made.left.value, 0)
                self.assertTrue(made.is_met())

    def test_a_figure_of_several_terms_counts_once_in_the_error_of_their_sum(self):
        everything = terms.value(self.figures, *terms.TERMS)
        # none_0 and first' and full' cancel partly: clock + map - none - first' remain
        keys = [("clock_0", times.RUN), ("map_0", times.RUN), ("none_0", times.RUN)]
        errors_of = [self.figures(*key, times.FIRST).error for key in keys]
        self.assertAlmostEqual(everything.error, math.sqrt(sum(e * e for e in errors_of)))

    def test_what_no_term_has_is_left_unexplained(self):
        for extra_ns, is_met in ((10, True), (50, True), (90, False)):
            figures = times.Figures(known.document(extra_ns))
            made = terms.explained(figures, 4)
            self.assertAlmostEqual(made.left.value, extra_ns)
            self.assertEqual(made.is_met(), is_met, extra_ns)

    def test_20_ns_are_enough_where_5_percent_are_less(self):
        gap, summed = statistics.Figure(141, 1, 100), statistics.Figure(160, 1, 100)
        self.assertTrue(terms.Explained(gap, summed).is_met())
        self.assertFalse(terms.Explained(gap, statistics.Figure(162, 1, 100)).is_met())

    def test_reading_the_clock_first_moves_the_event_out_of_the_gap(self):
        self.assertAlmostEqual(
            terms.event_by_order(self.figures, 8).value, known.EVENT + known.EVENT_COLD
        )

    def test_parts_by_leaving_them_out_have_the_same_values(self):
        made = terms.in_place(self.figures, 4)
        self.assertAlmostEqual(made["map"].value, known.MAP + known.MAP_COLD)
        self.assertAlmostEqual(made["helper"].value, known.OUTSIDE + known.OUTSIDE_COLD)
        self.assertAlmostEqual(sum(one.value for one in made.values()), known.SUM)

    def test_a_single_execution_has_only_its_own_first_packets(self):
        document = known.document()
        for program in ("full_4", "full_8"):
            document["programs"][program]["run_ns"][2] = [
                ns + 500 for ns in document["programs"][program]["run_ns"][2]
            ]
        for execution, left_ns in ((1, 0), (2, 500)):
            figures = times.Figures(times.of_execution(document, execution))
            self.assertAlmostEqual(terms.explained(figures, 4).left.value, left_ns)

    def test_what_remains_without_clock_and_map_is_the_statistics_own_time(self):
        expected = known.STATISTICS + known.STATISTICS_COLD - known.INSIDE - known.INSIDE_COLD
        self.assertAlmostEqual(terms.remaining(self.figures, 8).value, expected)
        self.assertAlmostEqual(terms.remaining_explained(self.figures).value, expected)
        self.assertIn(f"take {expected}.00 ±", answer.remaining(self.figures))

    def test_interrupts_add_their_share_of_the_time_to_a_plain_mean(self):
        share = times.lost_share(known.document())
        self.assertAlmostEqual(share.value, 0.005)
        self.assertAlmostEqual(terms.interrupts(share, statistics.Figure(1000, 1, 9)).value, 5)

    def test_the_guess_is_answered_from_the_measured_cost_of_the_event(self):
        self.assertIn("does not hold: it takes 3 ± 0", answer.guess(self.figures))
        document = known.document()
        for lists in document["programs"]["first_0"]["clock_ns"]:
            lists[:] = [value + 1500 for value in lists]
        self.assertIn(" holds: it takes 1,503", answer.guess(times.Figures(document)))


class Interruptions(unittest.TestCase):
    def test_long_runs_are_counted_by_the_time_of_the_programs(self):
        document = known.document()
        self.assertEqual(interruptions.of_first(document).count, 0)
        before_ns = sum(sum(times.first(document, p, times.RUN)) for p in plan.programs())
        document["programs"]["map_2"]["run_ns"][1][3] += 7000
        made = interruptions.of_first(document)
        self.assertEqual((made.count, round(made.median_ns, -1)), (1, 7000))
        self.assertAlmostEqual(made.per_ms, 1e6 / before_ns, places=3)
        self.assertIn("interrupts are not all", answer.interrupted(document))

    def test_pauses_of_clock_reads_are_counted_by_the_time_watched(self):
        made = interruptions.of_reads(known.document())
        self.assertEqual((made.count, made.per_ms, made.median_ns), (1, 0.5, 10000))


class Silent:
    """A runner whose packets do not arrive."""

    def run(self, _program, packets=1, _before="nothing"):
        return {"sent": packets, "mode": "native", "run_ns": [], "clock_ns": [], "others": 0}

    def pauses(self):
        return {"watched_ns": 1, "lost_ns": 0, "pauses": 0, "longest_ns": 0}


class Half(Silent):
    """Every second packet arrives, and another packet runs `none` with it."""

    def __init__(self):
        self.asked = 0

    def run(self, program, packets=1, _before="nothing"):
        self.asked += 1
        arrived = self.asked % 2 * packets
        clock_ns = [5] * arrived if plan.has_clock(program) else []
        others = int(program.startswith("none_"))
        about = {"sent": packets, "mode": "native", "others": others}
        return {**about, "run_ns": [9] * arrived, "clock_ns": clock_ns}


class Run(unittest.TestCase):
    def experiment(self, runner):
        options = type("Options", (), {"rounds": 1, "runs": 5})
        document = run.new(options)
        progress = type("Progress", (), {"step": lambda self, words: None})()
        return document, run.Experiment(runner, document, progress)

    def test_packets_that_never_arrive_end_it_with_their_number(self):
        document, one = self.experiment(Silent())
        with self.assertRaisesRegex(errors.ReportError, "3 packets, each within 1000 ms"):
            one.execute()
        self.assertEqual(sum(document["timeouts"].values()), 3)

    def test_runs_without_an_answer_and_with_other_packets_are_counted_and_left_out(self):
        document, one = self.experiment(Half())
        one.execute()
        self.assertGreater(sum(document["timeouts"].values()), 50)
        self.assertEqual(document["programs"]["none_4"]["run_ns"], [[]])
        self.assertGreater(document["others"]["none_4"], 0)
        kept = sum(len(p["run_ns"][0]) for p in document["programs"].values())
        self.assertLess(kept, 5 * len(plan.programs()) / 2)


class Page(ReportCase):
    def report(self, document):
        path = self.write("results.json", json.dumps(document))
        return self.run_report("--ktime", "--from", path, "-o", self.out)

    def rows(self, name):
        with open(os.path.join(self.out, "data", name), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_the_page_has_the_pictures_the_terms_and_the_answers(self):
        done = self.report(known.document())
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in (
            "at most 5 % or 20 ns everywhere",
            "does not hold: it takes 3",
            "code and data are not in the caches",
            "a difference of about 2000 ns remains. Measured here: 200",
        ):
            self.assertIn(text, self.page())
        self.assertIn("does not hold", done.stderr)
        for name in ("two_clocks", "without_clock", "clock_trend", "course", "gap_terms"):
            self.assertGreater(os.path.getsize(os.path.join(self.out, f"{name}.png")), 1000)

    def test_every_run_is_in_the_csv_file_and_the_json_has_the_same_terms(self):
        self.report(known.document())
        self.assertEqual(len(self.rows("runs.csv")), 30 * 80)
        self.assertEqual(len(self.rows("packets.csv")), 30 * 80)
        with open(os.path.join(self.out, "data/terms.json"), encoding="utf-8") as file:
            stored = json.load(file)
        rows = self.rows("terms.csv")
        self.assertEqual([float(r["ns"]) for r in rows], [float(r["ns"]) for r in stored])
        gaps = [float(r["ns"]) for r in rows if r["term"] == "gap" and r["packets"] == times.FIRST]
        self.assertEqual([round(gap) for gap in gaps], [known.SUM] * 5)

    def test_a_gap_that_is_not_explained_is_reported(self):
        self.assertIn(
            "more than 5 % or 20 ns at 1, 2, 4, 8, 16", self.report(known.document(90)).stderr
        )

    def test_packets_that_did_not_arrive_make_the_report_incomplete(self):
        document = known.document()
        document["timeouts"] = {"full_4": 2}
        done = self.report(document)
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 runs got no answer within 1000 ms: full_4 2", done.stderr)

    def test_runs_with_other_packets_are_a_warning(self):
        document = known.document()
        document["others"] = {"map_1": 3}
        self.assertIn("3 runs left out: other packets", self.report(document).stderr)

    def test_damaged_results_are_refused_with_the_member(self):
        for key, value in (
            ("programs", {}),
            ("warm", {p: {"run_ns": [[]], "clock_ns": [[]]} for p in plan.programs()}),
            ("before", {"nothing": {}}),
            ("pauses", [[0, 0, 0, 0]] * 2),
            ("runs", 0),
            ("load", "low"),
        ):
            document = {**known.document(), key: value}
            done = self.report(document)
            self.assertEqual(done.returncode, 3, (key, done.stderr))
            self.assertIn(f"damaged: {key}", done.stderr)
        document = known.document()
        document["programs"]["full_8"]["clock_ns"][0].pop()
        self.assertIn("damaged: programs", self.report(document).stderr)

    def test_results_of_another_report_are_refused(self):
        done = self.report({"schema": "netslice-load-1"})
        self.assertEqual(done.returncode, 4)

    def test_options_that_have_no_effect_are_refused(self):
        for options, text in (
            (("--ktime", "-d", "1"), "--duration cannot be combined with --ktime"),
            (("--load", "--runs", "9"), "--runs requires --ktime"),
            (("--ktime", "--runs", "4"), '"4" is not a number from 5 to 100000'),
            (("--ktime", "--load"), "--ktime cannot be combined with --load"),
            (("--ktime", "--from", "x", "--runs", "9"), "--runs cannot be combined with --from"),
        ):
            done = self.run_report(*options, "-o", self.out)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    support.main()
