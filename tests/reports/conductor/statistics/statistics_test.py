# SPDX-License-Identifier: MIT
# nsconduct's statistics: summaries of samples, tests and intervals against other implementations
# and by simulation.
import itertools
import math
import os
import random
import statistics
import sys
import unittest

import trials_of_noise as trials

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import needs  # noqa: E402

needs("numpy", "scipy.stats")
from nsconduct.statistics import (  # noqa: E402
    compare,
    drift,
    rank_sum,
    sign_flip,
    summary,
)
from scipy import stats  # noqa: E402


class Summaries(unittest.TestCase):
    def test_a_summary_has_the_seeds_columns_with_the_divisor_n_minus_1(self):
        found = summary.summarise([273, 280, 276, 277])
        self.assertEqual((found["min"], found["max"], found["median"]), (273, 280, 276.5))
        self.assertEqual((found["count"], found["mean"]), (4, 276.5))
        self.assertAlmostEqual(found["stddev"], math.sqrt((3.5**2 + 3.5**2 + 0.5**2 * 2) / 3))

    def test_the_interval_of_the_mean_is_that_of_scipy(self):
        samples = [9.41, 9.40, 9.42, 9.38, 9.43]
        expected = stats.t.interval(
            0.95, 4, loc=statistics.fmean(samples), scale=stats.sem(samples)
        )
        for ours, theirs in zip(summary.mean_interval(samples), expected):
            self.assertAlmostEqual(ours, theirs)

    def test_the_interval_of_the_median_covers_as_binomial_probabilities_say(self):
        for count, inside in ((6, (1, 6)), (8, (1, 8)), (10, (2, 9)), (20, (6, 15))):
            self.assertEqual(summary.median_interval(range(1, count + 1)), list(inside))
        self.assertIsNone(summary.median_interval([1, 2, 3, 4, 5]))

    def test_one_sample_and_none_have_no_spread(self):
        self.assertIsNone(summary.summarise([5])["stddev"])
        self.assertIsNone(summary.summarise([5])["ci95"])
        self.assertEqual(summary.summarise([])["count"], 0)
        self.assertIsNone(summary.summarise([])["mean"])

    def test_an_outlier_is_named_with_its_round_and_kept_in_all_figures(self):
        found = summary.summarise([10, 11, 10, 12, 11, 50], rounds=[1, 2, 4, 5, 6, 7])
        self.assertEqual(found["outliers"], [{"round": 7, "value": 50}])
        self.assertEqual(found["max"], 50)
        self.assertAlmostEqual(found["mean"], 104 / 6)

    def test_values_within_three_interquartile_ranges_are_no_outliers(self):
        # quartiles 2.75 and 6.25 of 1 to 8: fences at -7.75 and 16.75
        usual = list(range(1, 8))
        self.assertEqual(summary.fences([*usual, 8]), (-7.75, 16.75))
        self.assertEqual(summary.outliers([*usual, 8]), [])
        self.assertEqual(summary.outliers([1, 2, 3]), [])

    def test_the_wanted_trials_are_the_fewest_whose_interval_is_narrow_enough(self):
        samples = [10, 10.5, 9.5, 10.1, 10.2]
        for precision in (0.5, 0.1, 0.01, 0.003):
            wanted = summary.trials_for(samples, precision)
            spread = statistics.stdev(samples)
            reach = precision * statistics.fmean(samples)

            def half(trials, spread=spread):
                return stats.t.ppf(0.975, trials - 1) * spread / math.sqrt(trials)

            self.assertLessEqual(half(wanted), reach)
            if wanted > 2:
                self.assertGreater(half(wanted - 1), reach)

    def test_no_number_of_trials_is_named_where_none_is_enough(self):
        self.assertIsNone(summary.trials_for([1, -1], 0.01))
        self.assertIsNone(summary.trials_for([7], 0.01))
        self.assertEqual(summary.trials_for([5, 5], 0.01), 2)


def biweight(share):
    return share * (1 - share**2) ** 2 if share < 1 else 0.0


def every_flip(differences):
    """The p value of the biweight's sum by trying all signs, without rounding the scores."""
    sizes = [abs(d) for d in differences]
    reach = 5 * statistics.median(size for size in sizes if size)
    scores = [round(1000 * biweight(size / reach), 6) for size in sizes if size]
    observed = abs(sum(math.copysign(s, d) for s, d in zip(scores, filter(None, differences))))
    sums = [
        abs(sum(s * sign for s, sign in zip(scores, signs)))
        for signs in itertools.product((-1, 1), repeat=len(scores))
    ]
    return sum(one > observed - 1e-3 for one in sums) / len(sums)


class SignFlips(unittest.TestCase):
    def test_p_values_are_those_of_all_flips_also_with_ties_and_zeros(self):
        for differences in (
            *([1, 1, 1, 1, 1, 1], [0, 1, -1, 2, 2, 2, 3], [0, 0, 1, 2, -1, 4, 4, 4]),
            *([2, 2, 2, 2, 2, 2, 2, -900], [1, -1, 1, -1, 3, 3, 3, 3, 3]),
        ):
            with self.subTest(differences=differences):
                self.assertAlmostEqual(sign_flip.p_value(differences), every_flip(differences))

    def test_rounding_the_scores_changes_the_p_value_by_little(self):
        chance = random.Random(1)
        for count in (6, 8, 12):
            differences = [chance.gauss(0.6, 1) for _ in range(count)]
            self.assertAlmostEqual(
                sign_flip.p_value(differences), every_flip(differences), delta=0.01
            )

    def test_ten_rounds_reach_a_level_of_nearly_5_percent_also_if_half_were_disturbed(self):
        rounds = random.Random(3)
        for disturbed in (0, 3, 5):
            sizes = [rounds.gauss(0, 1) for _ in range(10 - disturbed)]
            sizes += [rounds.uniform(50, 100) for _ in range(disturbed)]
            flips = itertools.product((-1, 1), repeat=len(sizes))
            values = [
                sign_flip.p_value([sign * size for sign, size in zip(signs, sizes)])
                for signs in flips
            ]
            rejected = sum(value <= compare.LEVEL for value in values) / len(values)
            self.assertTrue(0.047 <= rejected <= 0.05, rejected)

    def test_equal_samples_have_the_p_value_1(self):
        self.assertEqual(sign_flip.p_value([0] * 10), 1.0)

    def test_more_differences_than_the_exact_test_takes_give_nearly_its_p_value(self):
        chance = random.Random(2)
        differences = [chance.gauss(0.15, 1) for _ in range(sign_flip.MOST_EXACT)]
        exact = sign_flip.p_value(differences)
        self.assertAlmostEqual(sign_flip.p_value([*differences, 1e9, -1e9]), exact, delta=0.005)
        differences += [chance.gauss(0.15, 1) for _ in range(100)]
        self.assertLess(sign_flip.p_value(differences), 0.05)

    def test_the_interval_has_the_shifts_that_the_test_does_not_reject(self):
        chance = random.Random(3)
        for count in (6, 9, 15, 30):
            differences = [chance.gauss(0.5, 1) for _ in range(count)]
            low, high = sign_flip.shift(differences).interval
            for end, inward in ((low, 0.003), (high, -0.003)):
                inside = sign_flip.p_value([d - end - inward for d in differences])
                outside = sign_flip.p_value([d - end + inward for d in differences])
                self.assertGreater(inside, 0.05)
                self.assertLessEqual(outside, 0.05)

    def test_the_interval_contains_zero_exactly_if_no_difference_is_shown(self):
        chance = random.Random(4)
        for noise in trials.NOISES:
            for effect in (1.0, 1.01, 0.99):
                a, b = trials.experiment(chance, 12, noise, trials.steady, effect)
                found = sign_flip.shift([b[n] - a[n] for n in a])
                low, high = found.interval
                self.assertEqual(low <= 0 <= high, found.p_value > 0.05)
                self.assertTrue(low <= found.estimate <= high)

    def test_the_interval_covers_the_true_difference_in_95_percent(self):
        chance, covered = random.Random(5), 0
        for _ in range(400):
            a, b = trials.experiment(chance, 12, trials.one_sided, trials.steady)
            low, high = sign_flip.shift([b[n] + 0.3 - a[n] for n in a]).interval
            covered += low <= 0.3 <= high
        self.assertTrue(0.93 <= covered / 400 <= 0.97, covered)

    def test_disturbed_rounds_neither_hide_a_difference_nor_move_its_estimate(self):
        usual = [1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98, 1.0, 1.1, 0.9]
        found = sign_flip.shift([*usual, 1e6, -2e6, -3e6])
        self.assertAlmostEqual(found.estimate, 1.0, delta=0.05)
        self.assertLess(found.p_value, 0.01)

    def test_a_shift_that_is_the_same_in_all_rounds_has_no_width(self):
        self.assertEqual(sign_flip.shift([3.0] * 8).interval, (3.0, 3.0))


class RankSums(unittest.TestCase):
    def test_p_values_without_ties_are_those_of_scipy(self):
        chance = random.Random(5)
        for first, second in ((4, 4), (5, 7), (10, 10), (30, 20)):
            a = [chance.gauss(0, 1) for _ in range(first)]
            b = [chance.gauss(0.5, 1) for _ in range(second)]
            theirs = stats.mannwhitneyu(a, b, method="exact").pvalue
            self.assertAlmostEqual(rank_sum.p_value(a, b), theirs, places=12)

    def test_the_interval_has_the_shifts_that_the_test_does_not_reject(self):
        chance = random.Random(6)
        a = [chance.gauss(0, 1) for _ in range(12)]
        b = [chance.gauss(0.5, 1) for _ in range(9)]
        low, high = rank_sum.shift(a, b).interval
        for end, inward in ((low, 1e-9), (high, -1e-9)):
            self.assertGreater(rank_sum.p_value(a, [x - end - inward for x in b]), 0.05)
            self.assertLessEqual(rank_sum.p_value(a, [x - end + inward for x in b]), 0.05)

    def test_more_samples_than_the_exact_test_takes_give_nearly_its_p_value(self):
        chance = random.Random(7)
        a = [round(chance.gauss(0, 1), 1) for _ in range(60)]
        b = [round(chance.gauss(0.3, 1), 1) for _ in range(60)]
        theirs = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=False).pvalue
        self.assertAlmostEqual(rank_sum.p_value(a, b), theirs, places=9)

    def test_a_drift_is_found_and_steady_samples_are_not_reported(self):
        chance = random.Random(8)
        level = trials.drifting(chance)
        self.assertTrue(drift.drifts([next(level) for _ in range(30)]))
        reported = sum(
            drift.drifts([trials.endless(chance) for _ in range(20)]) for _ in range(500)
        )
        self.assertLess(reported, 15)  # 1 % of 500, or less
        self.assertFalse(drift.drifts([1.0] * 20))


def share_different(count, rounds, noise, machine, **options):
    chance = random.Random(f"{noise.__name__} {machine.__name__}")
    shown = 0
    for _ in range(count):
        a, b = trials.experiment(chance, rounds, noise, machine, **options)
        shown += sign_flip.p_value([b[number] - a[number] for number in a]) <= compare.LEVEL
    return shown / count


class Simulated(unittest.TestCase):
    def test_identical_variants_are_called_different_in_3_to_7_percent_for_any_noise_and_drift(
        self,
    ):
        every = []
        for noise, machine in itertools.product(trials.NOISES, trials.MACHINES):
            with self.subTest(noise=noise.__name__, machine=machine.__name__):
                every.append(share_different(1000, 20, noise, machine))
                self.assertGreaterEqual(every[-1], 0.03)
                self.assertLessEqual(every[-1], 0.07)
        self.assertAlmostEqual(statistics.fmean(every), 0.048, delta=0.006)

    def test_2_percent_are_found_in_30_rounds_by_nine_of_ten_comparisons(self):
        for noise in (trials.normal, trials.one_sided, trials.endless, trials.coarse):
            with self.subTest(noise=noise.__name__):
                self.assertGreaterEqual(
                    share_different(100, 30, noise, trials.steady, effect=1.02), 0.9
                )
        drifting = share_different(100, 30, trials.normal, trials.drifting, effect=1.02)
        self.assertGreaterEqual(drifting, 0.9)

    def test_without_random_order_a_drift_would_look_like_a_difference(self):
        in_order = share_different(100, 30, trials.normal, trials.drifting, in_order=True)
        self.assertGreater(in_order, 0.1)


class Verdicts(unittest.TestCase):
    @staticmethod
    def paired(effect, unit, rounds=10):
        values = {number: 100.0 + number for number in range(1, rounds + 1)}
        changed = {number: value * effect for number, value in values.items()}
        return compare.compare_paired("plain", "gcm", values, changed, unit)

    def test_more_is_faster_for_rates_and_slower_for_times(self):
        for unit, word in (
            *(
                ("bits/s", "faster"),
                ("pps", "faster"),
                ("packets/s", "faster"),
                ("Mbit/s", "faster"),
            ),
            *(("s", "slower"), ("ns", "slower"), ("cycles/packet", "slower"), ("ms", "slower")),
            *(("packets", "higher"), ("", "higher"), ("bytes", "higher")),
        ):
            self.assertIn(
                f"gcm is {word} than plain by 10 %", self.paired(1.1, unit)["verdict"], unit
            )

    def test_a_smaller_value_is_named_with_a_positive_share(self):
        found = self.paired(0.9, "s")
        self.assertIn("gcm is faster than plain by 10 % (95 % interval", found["verdict"])
        self.assertLess(found["relative"], 0)

    def test_no_difference_shown_says_what_is_possible(self):
        chance = random.Random(9)
        a, b = trials.experiment(chance, 20, trials.normal, trials.steady)
        found = compare.compare_paired("a", "b", a, b, "s")
        self.assertEqual(found["outcome"], compare.SAME)
        self.assertRegex(
            found["verdict"], r"no difference shown: b minus a is between -.* and .* %"
        )

    def test_pairs_are_the_rounds_that_both_have(self):
        a, b = {1: 10, 2: 20, **{n: 5 for n in range(10, 16)}}, {n: 6 for n in range(10, 16)}
        self.assertEqual(compare.compare_paired("a", "b", a, b)["count"], 6)

    def test_few_rounds_are_not_comparable_and_the_reason_is_named(self):
        found = self.paired(1.1, "s", rounds=5)
        self.assertEqual(found["outcome"], compare.NOT_COMPARABLE)
        self.assertIn("5 rounds", found["verdict"])
        self.assertIsNone(found["p_value"])
        self.assertIn(
            "at least", compare.compare_separate("a", "b", [1, 2, 3], [1, 2, 3])["verdict"]
        )

    def test_a_value_that_is_no_number_is_not_comparable(self):
        a = {n: math.inf for n in range(8)}
        self.assertIn("not a finite number", compare.compare_paired("a", "b", a, a)["verdict"])

    def test_around_zero_the_difference_is_absolute(self):
        a, b = {n: 0.0 for n in range(10)}, {n: 3.0 + n / 100 for n in range(10)}
        found = compare.compare_paired("a", "b", a, b, "packets")
        self.assertIsNone(found["relative"])
        self.assertRegex(found["verdict"], r"b is higher than a by 3\.0\d+ packets")

    def test_separate_runs_that_drift_are_reported(self):
        chance = random.Random(10)
        level = trials.drifting(chance)
        a, b = [next(level) for _ in range(20)], [next(level) for _ in range(20)]
        self.assertIn(
            "values of a and b drift", compare.compare_separate("a", "b", a, b)["verdict"]
        )

    def test_every_pair_of_variants_is_compared_once(self):
        values = {name: {n: float(n) for n in range(8)} for name in ("a", "b", "c")}
        pairs = [(found["a"], found["b"]) for found in compare.compare_variants(values)]
        self.assertEqual(pairs, [("a", "b"), ("a", "c"), ("b", "c")])


if __name__ == "__main__":
    unittest.main()
