# SPDX-License-Identifier: MIT
# nsreport --budget: the line's arithmetic, costs at a size, verdicts, and the page.
import contextlib
import copy
import csv
import io
import json
import os
import stat
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from types import SimpleNamespace

import support
from support import COST, DATA, ReportCase, cost, load

sys.path.insert(0, os.path.join(support.HERE, "..", "..", "..", "reports"))
from nsreport import arguments, check, errors, source  # noqa: E402
from nsreport.budget import costs, facts, line, memory, page, pictures, plan, stored  # noqa: E402

MEMORY_FILE = os.path.join(DATA, "memory.json")
MEMORY = load("memory.json")


def costs_of(document):
    return costs.costs_of(source.Source(check.check_document(document)), "cost.json")


def budget_of(document=None, rate=100e9, size=64):
    made = {"schema": plan.SCHEMA, "rate": rate, "frame_bytes": size}
    made["memory"] = memory.read(MEMORY_FILE)
    made["costs"] = costs_of(document) if document else None
    return made


def taken_of(document, size):
    return {one.name: one for one in costs.taken_at(costs_of(document), size)}


def row_of(document, scenario):
    return next(r for r in document["rows"] if r["scenario"] == scenario and r["table"] == 2)


class Line(unittest.TestCase):
    def test_preamble_gap_and_checksum_are_counted(self):
        fastest = line.Line(100e9, 64)
        self.assertEqual(fastest.wire_bytes, 84)
        self.assertAlmostEqual(fastest.packets_per_second, 148_809_523.8, delta=0.1)
        self.assertAlmostEqual(fastest.ns, 6.72, places=9)
        self.assertAlmostEqual(fastest.cycles(3e9), 20.16, places=9)
        self.assertAlmostEqual(line.Line(10e9, 1518).packets_per_second, 812_743.8, delta=0.1)

    def test_a_rate_is_a_number_with_a_unit(self):
        for text, rate in (("100G", 100e9), ("2.5G", 2.5e9), ("1T", 1e12), ("64000", 64e3)):
            self.assertEqual(line.rate_of(text), rate)
        for text in ("", "G", "-1G", "1g", "1GG", "0G", "999T", "1e9", "nan", "1" * 40, "10 G"):
            self.assertIsNone(line.rate_of(text), text)

    def test_a_rate_is_shown_with_the_unit_in_which_it_is_given(self):
        self.assertEqual(line.rate_text(100e9), "100 Gbit/s")
        self.assertEqual(line.rate_text(2.5e9), "2.5 Gbit/s")
        self.assertEqual(line.rate_text(64e3), "64 kbit/s")

    def test_a_part_of_a_core_is_one_core_and_more_than_one_are_two(self):
        self.assertEqual([line.whole_cores(n) for n in (-1, 0, 0.2, 1, 1.01)], [1, 1, 1, 1, 2])


class Costs(unittest.TestCase):
    def test_a_cost_between_two_sizes_is_between_their_costs(self):
        low, high = (
            next(
                r for r in COST["rows"] if r["scenario"] == "STR_SEARCH" and r["packet_bytes"] == n
            )
            for n in (64, 128)
        )
        one = taken_of(cost(), 96 + 4)["STR_SEARCH"]  # 96 bytes without the checksum
        self.assertAlmostEqual(one.cycles, (low["cycles"]["net"] + high["cycles"]["net"]) / 2)
        self.assertAlmostEqual(one.half, (low["cycles"]["ci95"] + high["cycles"]["ci95"]) / 2)
        self.assertTrue(one.is_at_size)

    def test_the_shortest_frame_is_the_shortest_packet(self):
        one = taken_of(cost(), 64)["STR_SEARCH"]
        self.assertEqual(one.measured, "64 bytes")
        self.assertTrue(one.is_at_size)

    def test_a_size_outside_the_measured_ones_is_not_extrapolated(self):
        one = taken_of(cost(), 9018)["STR_SEARCH"]
        self.assertEqual(one.measured, "1,500 bytes only")
        self.assertFalse(one.is_at_size)

    def test_a_cost_at_another_size_only_never_fits(self):
        document = cost()
        five = next(r for r in document["rows"] if "+ STR_SEARCH" in r["scenario"])
        five["cycles"].update(net=0.5, ci95=0.1)
        made = budget_of(document)
        verdict = {one.name: said for one, said in facts.verdicts(made)}
        self.assertEqual(verdict[five["scenario"]], facts.OTHER_SIZE)
        self.assertEqual(verdict["PKT_COUNTER"], facts.DOES_NOT)

    def test_reading_from_the_device_is_a_row_of_its_own_if_it_is_no_part_of_the_others(self):
        document = cost()
        self.assertNotIn(costs.READING, taken_of(document, 64))
        for row in document["rows"]:
            for part in row.get("parts") or []:
                part["in_cost"] = part["name"] != "driver"
        self.assertAlmostEqual(taken_of(document, 64)[costs.READING].cycles, 24.37, delta=0.4)

    def test_calls_of_clients_are_no_costs_of_packets(self):
        document = cost()
        row_of(document, "TO_BUFFER")["table"] = 3
        self.assertNotIn("TO_BUFFER", taken_of(document, 64))

    def test_without_a_clock_rate_cycles_are_no_time(self):
        document = cost()
        document["clock"]["hz"] = None
        made = costs_of(document)
        self.assertEqual(made["rows"], [])
        self.assertTrue(any("rate" in sentence for sentence in made["incomplete"]))


class Verdicts(unittest.TestCase):
    def test_a_cost_fits_if_its_whole_interval_does(self):
        def verdict(cycles, half):
            return facts.fits(costs.Taken("f", cycles, half, "", True), 100)

        self.assertEqual(verdict(90, 5), facts.FITS)
        self.assertEqual(verdict(98, 5), facts.UNSURE)
        self.assertEqual(verdict(103, 5), facts.UNSURE)
        self.assertEqual(verdict(110, 5), facts.DOES_NOT)
        self.assertEqual(verdict(99, None), facts.FITS)
        self.assertEqual(verdict(-1, 0.5), facts.FITS)

    def test_misses_are_the_packets_time_by_the_latency(self):
        header, rows = page.figures(budget_of())["misses"]
        at = dict(zip(header, next(r for r in rows if r[0] == 100e9)))
        latency = memory.best(MEMORY["levels"][-1])
        self.assertAlmostEqual(at["memory_alone"], 6.72 / latency["alone"]["ns"])
        self.assertAlmostEqual(at["memory_overlapped"], 6.72 / latency["overlapped"]["ns"])

    def test_the_chosen_rate_is_among_the_lines_of_the_picture(self):
        for rate in (100e9, 33e9):
            picture = pictures.budget(budget_of(rate=rate, size=300))
            chosen = picture.variables["chosen"]
            (point,) = picture.tables["chosen"]
            self.assertIn(point, picture.tables[f"curve_{chosen}"])

    def test_levels_too_close_for_a_label_each_share_one(self):
        times = (("L1", 1.08), ("L2", 3.8), ("L3", 135.0), ("memory", 192.0))
        levels = [(name, {"ns": ns}, None) for name, ns in times]
        texts = [text for *_, text in pictures.latency_labels(levels, 9018, 1, 100000)]
        self.assertEqual(texts, ["L1: 1.08 ns", "L2: 3.80 ns", "L3: 135 ns, memory: 192 ns"])

    def test_a_rate_close_to_the_chosen_one_is_left_out(self):
        self.assertEqual(facts.rates_of(budget_of(rate=33e9)), [1e9, 10e9, 33e9, 100e9, 2e11, 4e11])
        self.assertEqual(facts.rates_of(budget_of(rate=100e9)), sorted(line.RATES))

    def test_the_picture_has_the_largest_of_many_costs_and_the_table_all(self):
        document = cost()
        first = row_of(document, "PKT_COUNTER")
        for number in range(40):
            row = copy.deepcopy(first)
            row["scenario"] = f"function {number}"
            row["cycles"]["net"] = 1000.0 + number
            document["rows"].append(row)
        made = budget_of(document)
        picture = pictures.functions(made)
        self.assertEqual(picture.variables["rows"], pictures.MOST_ROWS)
        self.assertGreaterEqual(min(dot[0] for dot in picture.tables["dots"]), 1010)
        count = len(facts.taken(made))
        self.assertIn(f"{count - pictures.MOST_ROWS} smaller costs", " ".join(picture.notes))
        self.assertEqual(len(page.figures(made)["function_table"][1]), count)

    def test_a_cost_within_its_error_of_zero_has_no_dot_and_a_note(self):
        document = cost()
        row_of(document, "SAMPLE")["cycles"].update(net=0.1, ci95=0.4)
        picture = pictures.functions(budget_of(document))
        rows = [one.name for one in costs.taken_at(costs_of(document), 64)]
        self.assertNotIn(rows.index("SAMPLE") + 1, [row for _, row, _, _ in picture.tables["dots"]])
        self.assertTrue(any("SAMPLE" in note for note in picture.notes))


class Contents(unittest.TestCase):
    def test_names_of_functions_are_text(self):
        document = cost()
        row_of(document, "TO_BUFFER")["scenario"] = "<script>alert('`x`')</script>\n$(id)"
        made = budget_of(document)
        for _, _, html in page.tables(made):
            self.assertNotIn("<script>", html)
        self.assertIn("&lt;script&gt;", page.tables(made)[0][2])

    def test_latencies_that_must_not_be_used_make_the_page_incomplete(self):
        made = budget_of()
        self.assertEqual(page.incomplete(made), [])
        made["memory"]["trusted"] = False
        self.assertIn("must not be used", page.incomplete(made)[0])

    def test_stored_values_keep_their_line_unless_another_is_given(self):
        made = budget_of(size=512)
        for rate, size, expected in ((None, None, (100e9, 512)), (1e9, 64, (1e9, 64))):
            options = SimpleNamespace(rate=rate, frame_bytes=size)
            again = stored.shown_for(made, options)
            self.assertEqual((again["rate"], again["frame_bytes"]), expected)


class BudgetCase(ReportCase):
    def budget(self, *arguments, **options):
        return self.run_report("--budget", *arguments, "-o", self.out, **options)

    def data(self, name):
        with open(os.path.join(self.out, "data", name), encoding="utf-8") as file:
            return json.load(file) if name.endswith("json") else list(csv.DictReader(file))


class Page(BudgetCase):
    """One page, looked at from several sides."""

    def setUp(self):
        super().setUp()
        if not hasattr(Page, "made"):
            made = tempfile.TemporaryDirectory(prefix="nsreport-test-")
            self.addClassCleanup(made.cleanup)
            self.out = os.path.join(made.name, "report")
            words = (self.write("cost.json", json.dumps(COST)), "--memory", MEMORY_FILE)
            Page.made = self.budget(*words, "--rate", "100G", "--bytes", "64")
            Page.made_in = self.out
        self.out = Page.made_in
        self.assertEqual(Page.made.returncode, 0, Page.made.stderr)

    def texts(self, name):
        tree = xml.etree.ElementTree.parse(os.path.join(self.out, name + ".svg"))
        nodes = tree.iter("{http://www.w3.org/2000/svg}text")
        return " ".join("".join(node.itertext()).strip() for node in nodes)

    def test_it_shows_time_cycles_functions_and_misses(self):
        self.assertIn("6.72 ns, 17.4 cycles a packet", Page.made.stderr)
        shown = self.page()
        for words in ("148,809,524", "8 of preamble", "6.75", "STR_SEARCH", "Cache misses"):
            self.assertIn(words, shown)
        for name in ("budget", "functions", "latency", "pages"):
            for word in ("Source: ", "Samples: ", "Losses: "):
                self.assertIn(word, self.texts(name), name)
        self.assertIn("6.72 ns, 17.4 cycles", self.texts("budget"))

    def test_its_tables_are_there_as_csv_and_json_with_the_same_figures(self):
        for name in ("function_table", "cores", "levels", "misses", "published"):
            rows, objects = self.data(f"{name}.csv"), self.data(f"{name}.json")
            self.assertEqual(len(rows), len(objects), name)
            for row, one in zip(rows, objects):
                self.assertEqual(row, {k: "" if v is None else str(v) for k, v in one.items()})

    def test_costs_of_another_machine_are_a_warning(self):
        self.assertIn("different machines", self.page())

    def test_it_is_drawn_again_for_another_line_without_measuring(self):
        kept = os.path.join(self.out, "data", "results.json")
        self.out = self.path("report")
        words = ("--from", kept, "--rate", "10G", "--bytes", "1518")
        again = self.budget(*words, env={"NSCALIBRATE": "/nonexistent"})
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("10 Gbit/s, frames of 1,518 bytes: 1,230 ns", again.stderr)

    def test_damaged_results_are_refused(self):
        results = self.data("results.json")
        self.out = self.path("report")
        for change in ({"rate": 0}, {"frame_bytes": 1}, {"memory": None}, {"costs": []}):
            path = self.write("results.json", json.dumps({**results, **change}))
            done = self.budget("--from", path)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("damaged", done.stderr)


class Inputs(BudgetCase):
    def test_slices_of_a_trace_are_functions_too(self):
        path = self.write("trace.nsl", b"\x00trace")
        done = self.budget(path, "--memory", MEMORY_FILE)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [row["function"] for row in self.data("function_table.json")]
        self.assertIn("BPF_FILTER", names)

    def test_without_an_input_there_is_a_budget_and_the_page_says_what_is_missing(self):
        done = self.budget("--memory", MEMORY_FILE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("No costs were given", self.page())
        self.assertNotIn("functions.svg", os.listdir(self.out))

    def refused(self, document, code):
        text = document if isinstance(document, str) else json.dumps(document)
        with self.assertRaises(errors.ReportError) as found:
            memory.read(self.write("memory.json", text))
        self.assertEqual(found.exception.code, code, str(found.exception))
        self.assertIn("memory.json", str(found.exception))

    def test_a_file_that_is_no_latencies_is_refused(self):
        self.refused("", 3)
        self.refused("[1", 3)
        self.refused([], 4)
        self.refused({"schema": "netslice-calibration-1"}, 4)
        for key in ("clock", "levels", "small", "caches", "trusted"):
            self.refused({k: v for k, v in MEMORY.items() if k != key}, 4)
        for value in ("1", 0, -1, None, 1e31):
            broken = copy.deepcopy(MEMORY)
            broken["small"][0]["alone"]["ns"] = value
            self.refused(broken, 4)

    def test_nothing_is_left_of_a_report_without_latencies(self):
        done = self.budget("--memory", self.write("memory.json", "{}"))
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(self.leftovers(), [])

    def fake_nscalibrate(self, text):
        path = self.write("nscalibrate", f"#!/bin/sh\n{text}\n")
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return {"NSCALIBRATE": path}

    def test_latencies_are_measured_if_no_file_has_them(self):
        env = self.fake_nscalibrate(f'[ "$*" = "--memory --json" ] && cat "{MEMORY_FILE}"')
        done = self.budget(env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.data("results.json")["memory"]["clock"], MEMORY["clock"])

    def test_a_measurement_that_fails_ends_the_report_with_its_message(self):
        env = self.fake_nscalibrate('echo "nscalibrate: CPU 7: cannot bind to it" >&2; exit 3')
        done = self.budget(env=env)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("CPU 7: cannot bind to it", done.stderr)
        self.assertEqual(self.leftovers(), [])
        done = self.budget(env={"NSCALIBRATE": "/nonexistent"})
        self.assertEqual(done.returncode, 5, done.stderr)

    def test_options_without_effect_are_refused(self):
        path = self.write("cost.json", json.dumps(COST))
        for words, said in (
            ([path, "--rate", "1G"], "--rate requires --budget"),
            ([path, "--bytes", "64"], "--bytes requires --budget"),
            ([path, "--memory", MEMORY_FILE], "--memory requires --budget"),
            (["--budget", "--rate", "fast"], "is not a rate"),
            (["--budget", "--rate", "\u0661\u0660G"], "is not a rate"),
            (["--budget", "--bytes", "63"], "from 64 to 65536"),
            (["--budget", "--rounds", "3"], "--rounds cannot be combined with --budget"),
            (["--budget", "-d", "3"], "--duration cannot be combined with --budget"),
            (["--budget", "--unit", "3", path], "--unit cannot be combined with --budget"),
            (["--budget", "--calibration", path], "--calibration cannot be combined"),
            (["--budget", "--from", path, "--memory", path], "--memory cannot be combined"),
            (["--budget", "--from", path, path], "cannot be combined with --from"),
            (["--budget", "--load"], "cannot be combined"),
        ):
            stderr = io.StringIO()
            with contextlib.redirect_stderr(stderr), self.assertRaises(SystemExit) as ended:
                arguments.parse_arguments([*words, "-o", self.out], "test")
            self.assertEqual(ended.exception.code, 2, words)
            self.assertIn(said, stderr.getvalue())


if __name__ == "__main__":
    support.main()
