# SPDX-License-Identifier: MIT
# Tests of text.py and charts.py: numbers, hostile names, axis marks.
import os
import sys
import unittest

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "reports")
)
from nsreport import charts, text  # noqa: E402


class Text(unittest.TestCase):
    def test_an_absent_number_is_a_dash_and_zero_stays_zero(self):
        self.assertEqual(text.number(None), "\u2013")
        self.assertEqual(text.number(0), "0")
        self.assertEqual(text.number(0.0), "0")

    def test_numbers_keep_three_digits(self):
        self.assertEqual(
            [text.number(v) for v in (1234.56, 12.345, 0.012345, -7.5, 1e-9)],
            ["1,235", "12.3", "0.0123", "-7.50", "1e-09"],
        )

    def test_an_error_has_two_digits(self):
        self.assertEqual(text.with_error(46.21, 2.678), "46.2 \u00b1 2.7")
        self.assertEqual(text.with_error(46.21, None), "46.2")

    def test_a_value_has_the_decimal_places_of_its_error(self):
        self.assertEqual(
            [
                text.with_error(*v)
                for v in (
                    (0.00326, 0.0174),
                    (19.206, 0.068),
                    (183.286, 1.07),
                    (454.0, 17.2),
                    (-0.0101, 0.006),
                    (130, 0),
                )
            ],
            [
                "0.003 \u00b1 0.017",
                "19.206 \u00b1 0.068",
                "183.3 \u00b1 1.1",
                "454 \u00b1 17",
                "-0.0101 \u00b1 0.0060",
                "130 \u00b1 0",
            ],
        )

    def test_a_small_share_is_never_printed_as_zero(self):
        self.assertEqual(text.share(1e-9), "under 0.01 %")
        self.assertEqual(text.share(0), "0 %")

    def test_a_label_contains_nothing_that_gnuplot_interprets(self):
        drawn = text.label("a'b\"c`d\\e\nf\x1b[31mg\u202eh\ti", 100)
        for character in "'\"`\\\n\x1b\u202e\t":
            self.assertNotIn(character, drawn)

    def test_an_empty_name_is_shown_as_such(self):
        self.assertEqual(
            text.labels(["", " ", "a", "a"]), ["(no name)", "(no name) (2)", "a", "a (2)"]
        )

    def test_long_names_keep_both_ends_and_stay_different(self):
        names = ["function_" + "x" * 80 + str(i % 10) for i in range(12)]
        drawn = text.labels(names, 30)
        self.assertEqual(len(set(drawn)), 12)
        self.assertTrue(all(len(d) <= 34 and d.startswith("function_") for d in drawn))


class Axis(unittest.TestCase):
    def values(self, words):
        return [float(w.split("=")[1]) for w in words.split()]

    def test_marks_lie_inside_the_axis_and_differ_in_text(self):
        for low, high, log in (
            (0, 1, 0),
            (0, 93.2, 0),
            (-40, 1e7, 0),
            (0.2, 5e8, 1),
            (50, 70, 1),
            (1e-3, 2e-3, 1),
            (99999, 100003, 0),
            (1, 1e15, 1),
        ):
            words = charts.tics(low, high, bool(log))
            self.assertGreater(len(words.split()), 1, (low, high))
            self.assertEqual(
                len({w.split("=")[0] for w in words.split()}), len(words.split()), words
            )
            self.assertTrue(
                all(low * 0.999 - 1e-9 <= v <= high * 1.001 for v in self.values(words)) or low < 0,
                words,
            )

    def test_one_axis_writes_thousands_in_one_way(self):
        self.assertEqual(
            [w.split("=")[0] for w in charts.tics(50, 50000, True).split()], ["100", "1k", "10k"]
        )
        self.assertEqual(
            [w.split("=")[0] for w in charts.tics(0, 2000, False, 2).split()],
            ["0", "1,000", "2,000"],
        )

    def test_an_axis_without_length_has_one_mark(self):
        self.assertEqual(self.values(charts.tics(5, 5, False)), [5])


if __name__ == "__main__":
    unittest.main(verbosity=2)
