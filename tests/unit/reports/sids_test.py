# SPDX-License-Identifier: MIT
# nsreport --sids: rules, tables of sids and stored values -> page with figures 4 and 5.
import itertools
import json
import os
import sys
import unittest

import support
from support import ReportCase

sys.path.insert(0, os.path.join(support.HERE, "..", "..", "..", "reports"))
from nsreport.sids import figures, plan, watcher  # noqa: E402

TABLES = """\
#id\tpackets\tbytes\tlast\tmessage
#id\tpackets\tbytes\tlast\tmessage
7\t3\t300\t2026-01-01 00:00:00.000000\t
1000000\t5\t500\t2026-01-01 00:00:00.000000\t
#id\tpackets\tbytes\tlast\tmessage
1000000\t79\t7900\t2026-01-01 00:00:01.000000\t
"""


def point(figure, variant, number, turn):
    """Alone, each rule takes 0.1 % of a CPU with headers and 1 % with patterns; what is more than
    100 % is lost."""
    each = {"headers": 0.1, "patterns": 1.0}[figure] if variant == "alone" else 0.001
    wanted = 5 + each * number
    share = min(1.0, 100 / wanted)
    return {
        **{"figure": figure, "variant": variant, "number": number, "round": turn},
        **{"sent": 80000, "received": int(80000 * share), "seconds": 1.0, "wall_s": 1.0},
        **dict.fromkeys(("behind", "refused", "sender_dropped"), 0),
        **{"cpu_s": min(100, wanted) / 100, "idle_share": 0.0, "start_s": 0.4},
        **{"waited_s": 0.0, "steal_s": 0.0},
    }


def document():
    turns = itertools.product((1, 2, 3), plan.NUMBERS, plan.FIGURES, plan.VARIANTS)
    return {
        **{"schema": plan.SCHEMA, "rounds": 3, "seconds": 1, "rate": 80000, "bytes": 1500},
        **{"kernel": "Linux 6.1 x86_64", "cpu": "a CPU, 2 CPUs", "method": "xdp"},
        "points": [point(figure, variant, n, turn) for turn, n, figure, variant in turns],
    }


class Parts(unittest.TestCase):
    def test_rules_differ_and_one_counts_all(self):
        for figure in plan.FIGURES:
            lines = plan.rules(figure, 1000).splitlines()
            self.assertEqual(len(set(lines)), 1001)
            self.assertEqual(lines[-1], "count tcp; id: 1000000;")
        self.assertEqual(
            plan.rules("headers", 1).splitlines()[0], "count tcp and dst port 20000; id: 1;"
        )
        self.assertTrue(plan.rules("patterns", 1).startswith("count; content: SIGNATURE-0000"))

    def test_packets_are_those_of_2004_and_match_no_rule(self):
        packet = plan.packet()
        self.assertEqual(len(packet), plan.WIRE_BYTES - 4)
        self.assertEqual(int.from_bytes(packet[36:38], "big"), 5001)
        self.assertEqual(packet[54:60], b"abcdef")
        self.assertNotIn(b"SIGNATURE", packet)

    def test_the_last_table_says_how_many_packets_were_judged(self):
        self.assertEqual(watcher.judged(TABLES), 79)
        self.assertEqual(watcher.judged("#id\tpackets\n"), 0)


class Figures(unittest.TestCase):
    def test_the_number_of_rules_without_loss_is_found(self):
        made = document()
        self.assertEqual(figures.most_without_loss(made, "headers", "alone"), 500)
        self.assertEqual(figures.most_without_loss(made, "headers", "together"), 1000)
        self.assertEqual(figures.most_without_loss(made, "patterns", "alone"), 50)

    def test_loss_and_load_are_medians_of_the_rounds(self):
        made = document()
        for turn, cpu_s in enumerate((0.3, 0.1, 0.2)):
            chosen = figures.rows(made, "headers", "together", 1)
            chosen[turn]["cpu_s"] = cpu_s
        first = figures.points(made, "headers", "together", figures.load)[0]
        self.assertEqual(first[0], 1)
        for value, expected in zip(first[1:], (20, 10, 30)):
            self.assertAlmostEqual(value, expected)


class Page(ReportCase):
    def report(self, made):
        path = self.write("results.json", json.dumps(made))
        return self.run_report("--sids", "--from", path, "-o", self.out)

    def test_the_page_has_both_figures_and_says_what_they_show(self):
        done = self.report(document())
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("header_rules", "pattern_rules"):
            self.assertGreater(os.path.getsize(os.path.join(self.out, f"{name}.png")), 1000)
            self.assertTrue(os.path.exists(os.path.join(self.out, f"data/{name}.csv")))
        self.assertIn("headers: Found by an index: 5.0 % of a CPU with 1 rule, 6.0 %", done.stderr)
        self.assertIn("no loss up to 500 rules", done.stderr)
        self.assertIn("no loss up to 50 rules", done.stderr)
        self.assertIn("up to 150 rules containing patterns", self.page())

    def test_disturbed_and_slow_measurements_are_a_warning(self):
        made = document()
        made["points"][0]["steal_s"] = 0.2
        made["points"][1]["sent"] = 40000
        done = self.report(made)
        self.assertIn("for more than 5 % of the time in 1 measurement", done.stderr)
        self.assertIn("The sender did not reach its rate in 1 measurement", done.stderr)

    def test_damaged_values_are_refused(self):
        for damage in (
            lambda made: made["points"][0].pop("cpu_s"),
            lambda made: made["points"][0].update(variant="some"),
            lambda made: made["points"][0].update(wall_s=0),
            lambda made: made.update(points=[]),
        ):
            made = document()
            damage(made)
            done = self.report(made)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("damaged: points (measure again)", done.stderr)


if __name__ == "__main__":
    support.main()
