# SPDX-License-Identifier: MIT
# bench_table_test: fake figures -> the expected lines of the table.
import unittest

from bench_table import table


def measured(name, value, **row):
    return {
        "figure": name,
        "value": value,
        "unit": "ns/event",
        "verdict": "measured",
        "row": {"rival": name} | row,
    }


class Table(unittest.TestCase):
    def test_the_cheapest_comes_first_with_its_value_under_the_unit(self):
        lines = table(
            [measured("dear", 450.0, left="all"), measured("cheap", 9.04, left="little")], width=100
        )
        self.assertEqual(
            [line.split() for line in lines if "-" not in line],
            [["rival", "ns/event", "left"], ["cheap", "9.04", "little"], ["dear", "450", "all"]],
        )

    def test_numbers_end_and_words_begin_in_one_column(self):
        lines = table(
            [
                measured("a", 9.04, lost=0, left="x"),
                measured("longer", 1234.5, lost=3014633, left="y"),
            ],
            width=100,
        )
        ends = {line.index(cell) + len(cell) for line, cell in zip(lines[2:], ("9.04", "1,234"))}
        self.assertEqual(
            (len(ends), lines[2].index("x"), lines[2].split()[2]), (1, lines[3].index("y"), "0")
        )
        self.assertIn("3,014,633", lines[3])

    def test_the_last_column_is_wrapped_to_the_terminal(self):
        words = "its own cost and much more that is not subtracted"
        lines = table([measured("a", 1.0, left=words)], width=50)
        self.assertTrue(all(len(line) <= 50 for line in lines), lines)
        self.assertEqual(" ".join(" ".join(lines[2:]).split()), f"a 1.00 {words}")
        self.assertEqual({line[:15].strip() for line in lines[3:]}, {""})

    def test_what_was_not_measured_is_named_with_its_reason(self):
        lines = table(
            [
                {
                    "figure": "rival_x_ns",
                    "verdict": "skipped",
                    "skipped": "rival_x is not built: install x-dev",
                },
                measured("a", 1.0, left="b"),
                measured("broken", 1.0, left="b")
                | {"verdict": "failed", "failed": "exit 3: no message"},
            ],
            width=80,
        )
        self.assertEqual(
            lines[-3:],
            [
                "not measured:",
                "  rival_x_ns  skipped: rival_x is not built: install x-dev",
                "  broken      failed: exit 3: no message",
            ],
        )
        self.assertEqual(sum("broken" in line for line in lines), 1)

    def test_nothing_to_tell_is_no_line(self):
        self.assertEqual(table([]), [])


unittest.main()
