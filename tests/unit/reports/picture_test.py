# SPDX-License-Identifier: MIT
# What the pictures show: texts in the SVG and figures in the tables that gnuplot reads.
import os
import sys
import unittest
import xml.etree.ElementTree

import support
from support import ReportCase, cost, stats

sys.path.insert(0, os.path.join(support.HERE, "..", "..", "..", "reports"))
from nsreport import charts, check, layout, source  # noqa: E402
from nsreport.cost import pictures as cost_pictures  # noqa: E402
from nsreport.trace import (  # noqa: E402
    distribution as trace_distribution,
    pictures as trace_pictures,
    units as trace_units,
)


def cost_picture(document, name):
    return next(p for p in cost_pictures.pictures(check.check_document(document)) if p.name == name)


def trace_picture(document, name):
    return next(
        p
        for p in trace_pictures.pictures(
            check.check_document(document), source.Source(document), None
        )
        if p.name == name
    )


class Texts(ReportCase):
    def texts(self, name):
        tree = xml.etree.ElementTree.parse(os.path.join(self.out, name + ".svg"))
        return " ".join(
            "".join(node.itertext()).strip()
            for node in tree.iter("{http://www.w3.org/2000/svg}text")
        )

    def test_each_picture_shows_its_source_samples_and_losses_without_the_page(self):
        for document in (stats(), cost()):
            self.report_of(document)
            names = [n[:-4] for n in os.listdir(self.out) if n.endswith(".svg")]
            self.assertTrue(names)
            for name in names:
                text = self.texts(name)
                for word in ("Source: ", "Samples: ", "Losses: "):
                    self.assertIn(word, text, name)


class CostPictures(unittest.TestCase):
    def test_a_figure_within_its_error_is_no_dot_on_a_log_axis_and_says_so(self):
        document = cost()
        row = next(
            r for r in document["rows"] if r["cycles"] and (r["paper"] or {}).get("scampi_cycles")
        )
        row["cycles"].update(net=0.003, ci95=0.017)
        picture = cost_picture(document, "paper")
        panel = len(picture.variables["axis_label"])
        self.assertGreater(min(x for x, _, _, _ in picture.tables[f"dots_{panel}_1"]), 0.1)
        self.assertTrue(
            any("within its error" in text for _, _, text in picture.tables[f"values_{panel}"])
        )
        self.assertTrue(any("0.003" in note for note in picture.notes))

    def test_a_figure_is_printed_to_the_right_of_its_error_bar(self):
        document = cost()
        for row in document["rows"]:
            row["paper"] = (
                {key: None for key in row["paper"]} if row["table"] == 4 else row["paper"]
            )
            if row["cycles"]:
                row["cycles"]["ci95"] = row["cycles"]["net"] * 0.5
        picture = cost_picture(document, "paper")
        panel = len(picture.variables["axis_label"])
        at = {row: x for x, row, _ in picture.tables[f"values_{panel}"]}
        for _, row, _, high in picture.tables[f"dots_{panel}_1"]:
            self.assertGreaterEqual(at[row], high)

    def test_calls_are_given_per_call_and_flows_without_parts_have_no_legend(self):
        document = cost()
        call = {**document["rows"][0], "table": 3, "scenario": "mapi_read_results: COUNTER"}
        document["rows"].append(call)
        for row in document["rows"]:
            row["parts"] = [] if row["table"] == 4 else row["parts"]
        self.assertTrue(
            all(
                "per call" in text
                for text in cost_picture(document, "call_cost").variables["axis_label"]
            )
        )
        self.assertEqual(cost_picture(document, "flow_cost").legend, [])

    def test_samples_distinguish_timed_packets_from_counted_ones(self):
        document = cost()
        for row in document["rows"]:
            for kind, packets in (("cycles", 1000), ("instructions", 3)):
                if row[kind]:
                    row[kind]["packets"] = packets
        self.assertRegex(
            cost_picture(document, "paper").samples,
            "[0-9],000 packets timed and [0-9]+ packets counted for instructions",
        )

    def test_rows_without_a_raw_figure_above_zero_are_named(self):
        document = cost()
        document["rows"][0]["cycles"]["raw"] = -0.1
        self.assertIn(
            document["rows"][0]["scenario"], " ".join(cost_picture(document, "overhead").notes)
        )

    def test_net_beyond_raw_has_a_bar_beyond_100_percent(self):
        document = cost()
        document["rows"][0]["cycles"].update(raw=100, net=131)
        picture = cost_picture(document, "overhead")
        self.assertEqual(picture.variables["x_high"], [131.0])
        self.assertIn("+31 %: reads overlap", [text for _, _, text in picture.tables["values_1"]])


class SlicesOfUnits:
    """A source of slices: (unit's number, depth, class, net ticks)."""

    def __init__(self, *slices):
        self.slices = slices

    def rows(self, *_arguments):
        for number, depth, kind, net in self.slices:
            row = {"unit": "u", "unit_number": number, "thread": "1", "net_ticks": net}
            yield {**row, "depth": depth, "class": kind}


class CostsOfUnits(unittest.TestCase):
    def costs(self, *slices):
        found = trace_units.unit_costs(SlicesOfUnits(*slices))
        return {number: cost for (_, number, _), cost in found.items()}

    def test_a_unit_costs_its_outermost_slices(self):
        slices = [("1", "1", "", "30"), ("1", "0", "", "50"), ("1", "0", "", "20")]
        self.assertEqual(self.costs(*slices), {"1": 70})
        self.assertEqual(self.costs(*slices, ("2", "0", "migrated", "9")), {"1": 70, "2": 0})

    def test_outermost_are_those_of_the_unit_if_a_slice_around_it_has_none(self):
        slices = [("1", "1", "", "5421"), ("1", "1", "", "8938"), ("1", "2", "", "100")]
        later = [("2", "1", "", "247"), ("2", "1", "", "724"), ("3", "1", "", "90")]
        found = self.costs(*slices, *later)
        self.assertEqual(found, {"1": 14359, "2": 971, "3": 90})
        self.assertEqual(trace_units.typical_unit(found), "2")


class Legends(unittest.TestCase):
    def test_no_legend_text_is_shortened(self):
        for picture in [
            *cost_pictures.pictures(check.check_document(cost())),
            *trace_pictures.pictures(check.check_document(stats()), source.Source(stats()), None),
        ]:
            for row in layout.legend_table(getattr(picture, "legend", []))[0]:
                self.assertNotIn("\u2026", row[4])


def trimmed(document):
    """As nsdump writes it, with an outlier in driver_read that is in its plain mean only."""
    for entry in document["slices"]:
        for value in entry["values"]:
            for part in ("raw", "net"):
                value[part]["trimmed_mean"] = value[part]["mean"]
            value["net"]["trimmed_ci95"] = value["net"]["ci95"]
            packet = value["per_packet"]
            packet.update(net_trimmed=packet["net"], net_trimmed_ci95=packet["net_ci95"])
    ticks = document["slices"][0]["values"][0]
    ticks["net"].update(trimmed_mean=280, trimmed_ci95=3)
    ticks["raw"].update(trimmed_mean=303)
    ticks["per_packet"].update(net_trimmed=4.375, net_trimmed_ci95=0.047)
    return document


class Order(unittest.TestCase):
    SLICES = ["dispatch", "STR_SEARCH", "TO_BUFFER", "BPF_FILTER", "driver_read", "publish"]

    def test_slices_are_sorted_by_cost_and_keep_their_colours(self):
        document = stats()
        document["slices"] = [e for e in document["slices"] if e["name"] in self.SLICES]
        panels = trace_picture(document, "latency_hist").variables
        self.assertEqual([t.split(":")[0] for t in panels["panel_title"]], self.SLICES)
        colours = layout.Colours([e["name"] for e in document["slices"]])
        self.assertEqual(panels["colour"], [colours[name] for name in self.SLICES])
        legend = trace_picture(document, "latency_cdf").legend
        self.assertEqual([item[0] for item in legend], self.SLICES)
        rows = [text for _, text in trace_picture(document, "overhead").tables["rows"]]
        self.assertEqual(rows, self.SLICES)

    def test_the_cost_of_a_packet_begins_with_its_largest_part(self):
        picture = trace_picture(stats(), "function_cost")
        parts = [b - a for _, a, b, _ in picture.tables["bars_1"]][:-1]
        self.assertEqual(parts, sorted(parts, reverse=True))

    def test_the_kernel_comes_after_the_programs(self):
        document = stats()
        document["slices"][3]["kernel"] = True  # STR_SEARCH
        rows = [text for _, text in trace_picture(document, "overhead").tables["rows"]]
        self.assertEqual(rows[-1], "STR_SEARCH")


class MainValues(unittest.TestCase):
    def test_a_function_that_calls_no_other_is_drawn_with_its_trimmed_mean(self):
        picture = trace_picture(trimmed(stats()), "function_cost")
        row = next(i for i, text in picture.tables["rows"] if text == "driver_read")
        _, start, end, _ = next(bar for bar in picture.tables["bars_1"] if bar[0] == row)
        self.assertAlmostEqual(end - start, 4.375)
        _, _, low, high = next(bar for bar in picture.tables["errors_1"] if bar[0] == row)
        self.assertAlmostEqual(high - low, 2 * 0.047)
        self.assertIn("trimmed mean", " ".join(picture.notes))

    def test_without_trimmed_means_the_plain_ones_are_drawn(self):
        picture = trace_picture(stats(), "function_cost")
        row = next(i for i, text in picture.tables["rows"] if text == "driver_read")
        _, start, end, _ = next(bar for bar in picture.tables["bars_1"] if bar[0] == row)
        self.assertAlmostEqual(end - start, 5.6487)

    def test_the_share_of_the_probes_is_that_of_the_trimmed_means(self):
        picture = trace_picture(trimmed(stats()), "overhead")
        row = next(i for i, text in picture.tables["rows"] if text == "driver_read")
        self.assertIn((0, row, "7.59 %"), picture.tables["values_1"])  # 1 - 280 / 303

    def test_net_beyond_raw_is_a_bar_beyond_100_percent_with_its_reason(self):
        document = trimmed(stats())
        document["slices"][0]["values"][0]["net"]["trimmed_mean"] = 1.31 * 303
        picture = trace_picture(document, "overhead")
        row = next(i for i, text in picture.tables["rows"] if text == "driver_read")
        bars = [bar for bar in picture.tables["bars_1"] if bar[0] == row]
        self.assertEqual([round(end) for _, _, end, _ in bars], [100, 131])
        self.assertAlmostEqual(picture.variables["x_high"][0], 131)
        self.assertIn((0, row, "+31 %: reads overlap"), picture.tables["values_1"])
        self.assertIn("overlap", picture.legend[-1][0])
        self.assertIn("inner", " ".join(picture.notes))

    def test_a_bar_of_many_times_the_raw_value_is_cut(self):
        document = trimmed(stats())
        document["slices"][0]["values"][0]["raw"]["trimmed_mean"] = 2
        picture = trace_picture(document, "overhead")
        self.assertEqual(picture.variables["x_high"], [200.0])
        self.assertIn("Bars end at 200 %.", picture.notes)

    def test_a_cost_of_zero_within_its_error_is_a_full_bar(self):
        document = trimmed(stats())
        document["slices"][0]["values"][0]["net"]["trimmed_mean"] = 303.2
        picture = trace_picture(document, "overhead")
        row = next(i for i, text in picture.tables["rows"] if text == "driver_read")
        self.assertIn((0, row, "0 %"), picture.tables["values_1"])
        self.assertEqual(picture.variables["x_high"], [100.0])

    def test_without_overlap_the_axis_ends_at_100_percent(self):
        picture = trace_picture(stats(), "overhead")
        self.assertEqual(picture.variables["x_high"], [100.0])
        self.assertEqual(len(picture.legend), 2)


class Percentiles(unittest.TestCase):
    def without_p99(self, drawn):
        document = stats()
        for entry in document["slices"]:
            if entry["name"] not in drawn:
                entry["values"][0]["net"].update(p99=None, p999=None)
        return document

    def test_a_histogram_has_no_99_percent_line_if_the_slices_do_not_determine_it(self):
        picture = trace_picture(self.without_p99(["dispatch"]), "latency_hist")
        titles = picture.variables["panel_title"]
        self.assertIn("99 % <", titles[0])  # dispatch
        self.assertEqual(len(picture.tables["most_1"]), 2)
        self.assertEqual(titles[1], "STR_SEARCH: 600 slices, median 2,421")
        self.assertEqual(picture.tables["most_2"], [])
        self.assertEqual(len(picture.legend), 2)

    def test_a_line_that_no_panel_has_is_not_in_the_legend(self):
        picture = trace_picture(self.without_p99([]), "latency_hist")
        self.assertNotIn("dashed", " ".join(item[0] for item in picture.legend))

    def test_only_percentiles_that_are_determined_are_dots(self):
        every = trace_picture(stats(), "latency_cdf").tables["marks"]
        some = trace_picture(self.without_p99([]), "latency_cdf").tables["marks"]
        self.assertEqual(len(every) - len(some), 2 * len(stats()["slices"]))


class TracePictures(unittest.TestCase):
    def test_a_bar_of_one_value_is_centred_on_it(self):
        bars = trace_distribution.merged(
            [(-25.25, -25.0, 3), (-0.05, -0.05, 113), (25.75, 26.0, 2), (412.0, 416.0, 1)], False
        )
        holder = next(bar for bar in bars if bar[2] == 113)
        self.assertLess(holder[0], -5)
        self.assertGreater(holder[1], 5)
        self.assertEqual(sum(n for _, _, n in bars), 119)

    def test_two_values_far_apart_do_not_become_two_bars_that_fill_the_picture(self):
        bars = trace_distribution.merged([(0.4, 0.5, 13), (388, 392, 1)], False)
        self.assertTrue(all(high - low < 40 for low, high, _ in bars), bars)

    def test_every_bar_of_a_histogram_is_inside_the_axis(self):
        document = stats()
        value = document["slices"][0]["values"][0]
        value["histogram"] = [[-0.05, 0.46, 24], [25.7, 26.0, 1], [52, 52.5, 1], [380, 390, 1]]
        value["net"].update(p50=0.46, p99=52)
        picture = trace_picture(document, "latency_hist")
        for low, high, _ in picture.tables["hist_1"]:
            self.assertGreaterEqual(low, picture.variables["x_low"][0])
            self.assertLessEqual(high, picture.variables["x_high"][0])

    def test_the_lines_of_a_histogram_are_explained_in_the_picture_and_log_axes_are_named(self):
        document = stats()
        document["slices"][0]["values"][0]["histogram"] = [[10, 20, 500], [1e6, 2e6, 1]]
        picture = trace_picture(document, "latency_hist")
        said = " ".join(item[0] for item in picture.legend)
        self.assertIn("half of the slices are left of the solid line", said)
        self.assertIn("99 of 100 are left of the dashed line", said)
        for log, text in zip(picture.variables["x_log"], picture.variables["axis_label"]):
            self.assertEqual("log axis" in text, bool(log))

    def test_a_log_axis_leaves_out_few_slices_and_nothing_near_the_clock_step(self):
        document = stats()
        document["clock"]["step_ticks"] = 26
        value = document["slices"][0]["values"][0]
        value["histogram"] = [[-0.05, 0.46, 24], [25.7, 26.0, 1], [52, 52.5, 1], [2000, 2100, 1]]
        value["net"].update(p50=0.46, p99=52, min=-0.05, max=2100)
        picture = trace_picture(document, "latency_hist")
        self.assertEqual(picture.variables["x_log"][0], 0)
        self.assertAlmostEqual(sum(bar[2] for bar in picture.tables["hist_1"]), 100)

    def test_a_panel_title_stays_in_its_panel(self):
        document = stats()
        for entry in document["slices"]:
            entry["name"] = "BYTE_COUNTER_WITH_A_LONG_NAME"
        for title in trace_picture(document, "latency_hist").variables["panel_title"]:
            self.assertLess(layout.text_px(title), 430, title)

    def test_an_error_bar_does_not_reach_below_zero_cost(self):
        _, variables, tables = charts.stacked(
            ["a"], [charts.Panel("x", [charts.Row([(0, 20, 1)], "20 \u00b1 234", (20, 234))])]
        )
        self.assertEqual(tables["errors_1"], [(1, 20.0, 0.0, 254.0)])
        self.assertEqual(variables["x_low"], [0.0])

    def test_sizes_too_close_together_are_a_sentence(self):
        document = check.check_document(stats())
        costs = {("batch", str(i), "1"): 100.0 for i in range(40)}
        given = source.Source(document, "t.nsl")
        given.rows = lambda *_: iter(
            {
                "kind": "INIT",
                "name": "batch",
                "word0": str(i),
                "word1": "64",
                "word2": str(64 * (64 + i % 4)),
                "thread": "1",
            }
            for i in range(40)
        )
        self.assertIn("too close together", trace_units.packet_size(document, given, costs).why)

    def test_a_group_of_units_is_large_enough_for_its_middle_80_percent(self):
        groups = trace_units._classes(
            [(64 + i, 10.0 + (1000 if i % 11 == 5 else 0)) for i in range(77)]
        )
        self.assertEqual(sum(g[4] for g in groups), 77)
        self.assertTrue(all(g[4] >= 10 and g[3] < 1000 for g in groups), groups)
        self.assertEqual(
            [g[4] for g in trace_units._classes([(64.0, 1.0), (65.0, 2.0), (66.0, 3.0)])], [1, 1, 1]
        )


if __name__ == "__main__":
    support.main()
