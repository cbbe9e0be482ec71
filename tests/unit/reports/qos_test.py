# SPDX-License-Identifier: MIT
# nsreport --qos: logs of the node, reports of mapi-qos and stored values -> page with figures 7
# and 8.
import json
import os
import sys
import tempfile
import unittest

import support
from support import ReportCase

sys.path.insert(0, os.path.join(support.HERE, "..", "..", "..", "reports"))
from nsreport import errors  # noqa: E402
from nsreport.qos import figures, monitor, node, packets, plan, run  # noqa: E402

LOG = """\
{"type":"begin","schema":"netslice-impair-1","first":"in","second":"out"}
{"type":"packet","direction":"forward","number":0,"bytes":252,"outcome":"sent","copies":1,\
"in_ns":1000000,"out_ns":1300000}
{"type":"packet","direction":"backward","number":0,"bytes":60,"outcome":"sent","copies":1,\
"in_ns":1000000,"out_ns":9000000}
{"type":"packet","direction":"forward","number":1,"bytes":252,"outcome":"lost","copies":0,\
"in_ns":1100000}
{"type":"packet","direction":"forward","number":2,"bytes":252,"outcome":"sent","copies":1,\
"in_ns":1200000,"out_ns":1700000}
"""
END = """\
{"type":"end","forward":{"packets":3,"sent":2,"lost":1,"full":0,"too_long":0,"refused":0,\
"unsent":0,"missed":0,"mean_late_ns":4000.0,"most_late_ns":9000},"backward":{}}
"""
REPORT = {  # of mapi-qos, with what is used of it
    "paths": [
        {
            **{"from": "in", "to": "far", "sent": 20, "received": 15, "lost": 5, "loss": 0.25},
            **{"loss_ci95": [0.11, 0.47], "duplicates": 0, "reordered": 0, "jitter_ms": 0.001},
            "delay_ms": {"mean": 0.402, "mean_ci95": [0.4, 0.404], "p50": 0.4015},
        }
    ],
    "digests": {"collided_packets": 2},
    "points": [
        {"name": "in", "packets": 400, "selected": 20, "lost": 3, "unread": 0},
        {"name": "far", "packets": 300, "selected": 15, "lost": 0, "unread": 0},
    ],
}


def step_row(step):
    """A node that is exact, and a monitor that is 2 us late and sees too much loss at 1 %."""
    is_delay = step.part == "delay"
    lost = 0 if is_delay else round(10 * step.set)
    delay_ms = (step.set if is_delay else 0.05) if lost < 1000 else None
    reports = []
    for rate in step.rates:
        share = min(1.0, lost / 1000 + (0.2 if rate == 1 else 0.0))
        seen = None if delay_ms is None else delay_ms + 0.002
        reports.append(
            {
                **{"rate": rate, "sent": 10 * rate, "received": 9 * rate, "lost": rate},
                **{"loss": share, "loss_ci95": [max(0, share - 0.1), min(1, share + 0.1)]},
                **{"duplicates": 0, "reordered": 0, "jitter_ms": 0.001, "delay_ms": seen},
                "delay_ci95_ms": seen and [seen - 0.001, seen + 0.001],
                "delay_p50_ms": seen,
            }
        )
    return {
        **{"part": step.part, "set": step.set, "round": 1, "generated": 1000},
        **dict.fromkeys(("sender_refused", "sender_behind", "sender_dropped"), 0),
        **dict.fromkeys(("first_lost", "second_lost"), 0),
        "node": {
            **{"packets": 1000, "sent": 1000 - lost, "lost": lost},
            **dict.fromkeys(("full", "refused", "unsent", "too_long", "missed"), 0),
            **{"delay_ms": delay_ms, "delay_p50_ms": delay_ms},
            **{"late_ms": 0.001, "most_late_ms": 0.01},
        },
        "reports": reports,
    }


def document():
    return {
        **{"schema": plan.SCHEMA, "rounds": 1, "seconds": 2, "method": "xdp"},
        **{"kernel": "Linux 6.1 x86_64", "cpu": "a CPU, 2 CPUs"},
        "points": [step_row(step) for step in plan.STEPS],
    }


class Parts(unittest.TestCase):
    def test_the_steps_are_those_of_2004(self):
        delays = [step.set for step in plan.STEPS if step.part == "delay"]
        losses = [step.set for step in plan.STEPS if step.part == "loss"]
        self.assertEqual(delays, [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5])
        self.assertEqual(losses, list(range(0, 101, 10)))
        self.assertEqual(plan.STEPS[3].impairment(), ("--delay", "0.15ms"))
        self.assertEqual(plan.STEPS[-1].impairment(), ("--loss", "100"))

    def test_packets_all_differ_and_have_the_size(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sent.pcap")
            packets.write(path, 256, 300)
            with open(path, "rb") as file:
                data = file.read()[24:]
        made = {data[at + 16 : at + 268] for at in range(0, len(data), 268)}
        self.assertEqual(len(made), 300)
        self.assertEqual({len(one) for one in made}, {252})

    def test_the_log_of_the_node_gives_counts_and_delays_of_forward_packets(self):
        found = node.summary((LOG + END).splitlines())
        self.assertEqual((found["packets"], found["sent"], found["lost"]), (3, 2, 1))
        self.assertAlmostEqual(found["delay_ms"], 0.4)
        self.assertAlmostEqual(found["delay_p50_ms"], 0.4)
        self.assertAlmostEqual(found["late_ms"], 0.004)

    def test_a_log_without_an_end_is_an_error(self):
        with self.assertRaises(errors.ReportError) as caught:
            node.summary(LOG.splitlines())
        self.assertIn("its log has no end", str(caught.exception))

    def test_what_is_kept_of_a_report_is_a_valid_point(self):
        kept = monitor.figures(REPORT, 5)
        self.assertEqual((kept["delay_ms"], kept["delay_ci95_ms"]), (0.402, [0.4, 0.404]))
        self.assertEqual(kept["points"]["in"]["lost"], 3)
        sent = {"packets": 400, "seconds": 2.0, "refused": 0, "behind": 7, "dropped": 0}
        row = run._row(sent, node.summary((LOG + END).splitlines()), [kept])
        self.assertEqual((row["first_lost"], row["sender_behind"]), (3, 7))
        self.assertTrue(plan.is_point({"part": "delay", "set": 0.4, "round": 1, **row}))

    def test_packet_sockets_of_an_interface_are_counted_by_its_number(self):
        table = (
            "sk       RefCnt Type Proto  Iface R Rmem   User   Inode\n"
            "0000000000000000 3      3    0003   1     1 0      0      100\n"
            "0000000000000000 3      3    0003   1     0 0      0      101\n"
            "0000000000000000 3      3    0003   7     1 0      0      102\n"
        )
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(table)
            file.flush()
            self.assertEqual(monitor.listening("lo", file.name), 1)

    def test_quiet_is_when_no_packet_arrives_any_more(self):
        counts, now = iter((1, 2, 3, *[3] * 100)), iter(range(1000))
        run._wait_until_quiet(
            "far", lambda: next(now) * 0.05, lambda _s: None, lambda _name: next(counts)
        )
        self.assertLess(next(now), 30)


class Figures(unittest.TestCase):
    def test_the_constant_between_node_and_point_is_found(self):
        self.assertAlmostEqual(figures.constant_ms(document(), 5), 0.002)

    def test_the_true_loss_is_of_what_the_node_got(self):
        rows = figures.rows(document(), "loss", 10)
        self.assertEqual([figures.true_loss(row) for row, _ in rows], list(range(0, 101, 10)))

    def test_nothing_selected_is_no_loss(self):
        report = {"loss": 0.0, "loss_ci95": [0.0, 1.0], "sent": 0}
        self.assertIsNone(figures.loss(report))


class Page(ReportCase):
    def report(self, made):
        path = self.write("results.json", json.dumps(made))
        return self.run_report("--qos", "--from", path, "-o", self.out)

    def test_the_page_has_both_figures_and_says_what_they_show(self):
        done = self.report(document())
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("delay", "packet_loss"):
            for suffix in ("png", "svg"):
                self.assertTrue(os.path.exists(os.path.join(self.out, f"{name}.{suffix}")))
            for suffix in ("csv", "tsv"):
                self.assertTrue(os.path.exists(os.path.join(self.out, f"data/{name}.{suffix}")))
        said = done.stderr
        self.assertIn("apart from a constant of 2.0 us", said)
        self.assertIn("11 of 11 intervals of 95 % contain the node", said)
        self.assertIn("At 1 % sampling the measured loss differs from the true one by 20.00", said)
        self.assertIn("At 10 % sampling the measured loss differs from the true one by 0.00", said)
        self.assertIn("2004: figure 7 has", self.page())
        self.assertIn("The measurement itself lost no packet.", self.page())

    def test_losses_of_the_measurement_itself_are_told(self):
        made = document()
        made["points"][2]["second_lost"] = 1234
        made["points"][3]["node"]["missed"] = 17
        made["points"][4]["sender_behind"] = 30
        done = self.report(made)
        self.assertIn("1,234 lost by the second point", done.stderr)
        self.assertIn("17 missed at the node", done.stderr)
        self.assertIn("did not send 30 packets of its schedule; these are not losses", done.stderr)

    def test_damaged_values_are_refused(self):
        for damage in (
            lambda made: made["points"][0].pop("node"),
            lambda made: made["points"][0]["reports"][0].update(loss="all"),
            lambda made: made["points"][0]["reports"][0].update(loss_ci95=[1]),
            lambda made: made["points"][0].update(set=None),
            lambda made: made.update(points=[]),
        ):
            made = document()
            damage(made)
            done = self.report(made)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("damaged: points (measure again)", done.stderr)

    def test_quick_is_refused_where_it_has_no_meaning(self):
        for words in (["trace.nsl", "--quick"], ["--qos", "--from", "results.json", "--quick"]):
            done = self.run_report(*words, "-o", self.out)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--quick requires", done.stderr)


if __name__ == "__main__":
    support.main()
