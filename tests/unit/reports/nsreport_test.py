# SPDX-License-Identifier: MIT
# Tests of nsreport as a program: recorded JSON -> report folder; invalid input -> exit code and
# nothing left behind.
import json
import os
import re
import xml.etree.ElementTree
from html.parser import HTMLParser

import support
from support import ReportCase, cost, stats

TRACE_PICTURES = [
    "function_cost",
    "latency_hist",
    "latency_hist_INSTRUCTIONS",
    "latency_cdf",
    "timeline",
    "packet_size",
    "overhead",
    "loss",
]
COST_PICTURES = [
    "function_cost",
    "flow_cost",
    "paper",
    "packet_size",
    "line_rate",
    "overhead",
    "loss",
]
HOSTILE = "<script>alert(1)</script>'\"`touch pwned`\\n%s%n\u202e\x1b[31m @x {/=99 y}"


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.tags = [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.found += [v for k, v in attrs if k in ("href", "src", "data")]


class WholeReport(ReportCase):
    def check_pictures(self, names):
        for name in names:
            with open(os.path.join(self.out, name + ".png"), "rb") as file:
                data = file.read()
            self.assertTrue(data.startswith(b"\x89PNG") and data.endswith(b"IEND\xaeB`\x82"), name)
            xml.etree.ElementTree.parse(os.path.join(self.out, name + ".svg"))
            self.assertTrue(
                os.path.getsize(os.path.join(self.out, "data", name + ".tsv")) > 10, name
            )

    def check_links(self):
        links = Links()
        links.feed(self.page())
        self.assertNotIn("script", links.tags)
        for link in links.found:
            self.assertNotRegex(link, "^[a-z]+:|^/")
            if not link.startswith("#"):
                self.assertTrue(os.path.exists(os.path.join(self.out, link)), link)
        for anchor in (x[1:] for x in links.found if x.startswith("#")):
            self.assertIn(f'id="{anchor}"', self.page())

    def test_a_trace_gives_every_picture_and_a_page_whose_links_lead_somewhere(self):
        done = self.run_report(self.write("t.nsl", b"NSL\0\1"), "-o", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_pictures(TRACE_PICTURES)
        self.check_links()
        self.assertEqual(self.leftovers(), ["report"])

    def test_the_page_of_a_trace_has_its_flame_graph_and_what_nsdump_says_of_it(self):
        said = "3 slices are in no stack: 3 migrated"
        trace = self.write("t.nsl", b"NSL\0\1")
        for failed in ("", "yes"):
            done = self.run_report(
                trace,
                "-o",
                self.out,
                env={"FAKE_STACKS_SAYS": f"nsdump: {trace}: {said}", "FAKE_NO_STACKS": failed},
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(said, self.page())
            self.assertIn('<section class="tables" id="flame_graph">', self.page())
            self.assertEqual('data="flame_graph.svg"' in self.page(), not failed)
            self.check_links()

    def test_the_page_of_a_cost_run_holds_the_additive_model_and_marks_what_it_misses(self):
        document = cost()
        for i, row in enumerate(document["rows"]):
            row["id"] = f"row-{i}"
        estimate = {"value": 41.25, "ci95": 0.5}
        model = {
            "terms": [
                {"id": "filter", "name": "BPF_FILTER", "cost": estimate},
                {"id": "buffer", "name": "TO_BUFFER", "cost": None},
            ],
            "holds": False,
            "scenarios": [
                {
                    "id": "row-1",
                    "net": 99.5,
                    "model": estimate,
                    "residual": 58.25,
                    "residual_ci95": 0.75,
                    "verdict": "missed",
                }
            ],
        }
        document["additive"] = {
            "instructions": None,
            "cycles": model,
            "paper": {
                "scampi_instructions": [
                    {"id": "filter", "name": "", "cost": {"value": 280.0, "ci95": 3.0}}
                ]
            },
        }
        page = self.report_of(document)
        for text in (
            'id="additive"',
            'id="additive-scenarios"',
            "41.25 \u00b1 0.50",
            "58.25 \u00b1 0.75",
            "MISSED by more than the error",
            "does not hold for cycles",
            ">280<",
        ):
            self.assertIn(text, page)
        self.assertEqual(page.count("MISSED"), 1)
        self.check_links()

    def test_a_cost_run_from_before_the_model_has_a_page_without_it(self):
        self.assertNotIn("Additive", self.report_of(cost()))

    def test_a_run_on_a_live_device_says_what_came_and_what_was_dropped(self):
        arrivals = {
            "seconds": 5.0,
            "packets": 1234,
            "bytes": 70000,
            "batches": 617,
            "packets_per_batch": 2.0,
            "drops": {"kernel": 77, "buffer_full": 0},
        }
        document = cost()
        document["capture"] |= {"path": "eth7", "damage": None}
        document["live"] = {
            "interface": "eth7",
            "seconds_per_pass": 5,
            "timed": arrivals,
            "counted": None,
        }
        for row in document["rows"]:
            row["live"] = {"timed": arrivals, "counted": None}
        document["rows"].append(document["rows"][0] | {"table": 0, "scenario": "TOP + TO_FILE"})
        page = self.report_of(document)
        for text in (
            "Live device",
            "eth7",
            "1,234 packets in 5 s, 2 per batch on average",
            "the kernel&#x27;s buffer was full: 77",
            "Packets from the live device",
            "batch of up to 64 packets, 2 on average",
        ):
            self.assertIn(text, page)
        with open(os.path.join(self.out, "data", "function_cost.tsv"), encoding="utf-8") as file:
            self.assertIn("TOP + TO_FILE", file.read())

    def test_the_page_of_a_trace_holds_machine_losses_drift_and_the_figures(self):
        page = self.report_of(stats())
        for text in (
            "AMD EPYC 9B45",
            "6.18.0",
            "KVM",
            "2.596 GHz",
            "step: INSTRUCTIONS",
            "1,204 records lost = 11.1 % (ring full 1,204)",
            "Calibration drift: inner cost of START",
            "mapi-core/engine/packet_path/chain.cpp:41",
        ):
            self.assertIn(text, page)
        self.assertEqual(page.count("Calibration drift"), 1)  # all constants in one warning
        value = support.STATS["slices"][0]["values"][0]
        self.assertIn(f"{value['raw']['mean']:.0f}", page)
        self.assertIn("46.2 \u00b1 2.7", page)

    def test_the_table_has_trimmed_means_sorted_by_cost_and_a_dash_for_an_unknown_percentile(self):
        document = stats()
        ticks = document["slices"][0]["values"][0]
        ticks["net"].update(trimmed_mean=1280.25, trimmed_ci95=3.5, p99=None, p999=None)
        ticks["raw"].update(trimmed_mean=1303)
        page = self.report_of(document)
        table = page[page.index('<section class="tables" id="figures">') :]
        row = re.search(r"<tr>(?:(?!</tr>).)*driver_read.*?</tr>", table, re.S).group(0)
        cells = re.findall(r'<td class="n">(.*?)</td>', row)
        self.assertEqual(
            cells[:8],
            ["600", "1,303", "1,280.2 \u00b1 3.5", "362", "287", "392", "\u2013", "\u2013"],
        )
        self.assertIn("without up to 5 % of the slices at either end", table)
        self.assertNotIn("reads of a slice overlap", table)
        for section in ("figures", "classes"):
            rows = page[page.index(f'id="{section}">') :]
            self.assertLess(rows.index("dispatch"), rows.index("STR_SEARCH"))
            self.assertLess(rows.index("STR_SEARCH"), rows.index("driver_read"))

    def test_a_page_with_net_beyond_raw_says_why(self):
        document = stats()
        document["slices"][0]["values"][0]["net"]["trimmed_mean"] = 500
        page = self.report_of(document)
        self.assertEqual(page.count("Net exceeds raw where the two clock reads"), 2)

    def test_a_cost_run_gives_every_picture_and_the_figures_of_2004_net_of_papi(self):
        page = self.report_of(cost())
        self.check_pictures(COST_PICTURES)
        self.check_links()
        row = re.search(r"<tr>(?:(?!</tr>).)*STR_SEARCH, 64 bytes.*?</tr>", page, re.S).group(0)
        self.assertIn(">1,128<", row)  # 1393 - 265
        self.assertIn(">3,200<", row)  # 3900 - 700
        self.assertIn("PKT_COUNTER, Intel 2004: 0 TSC cycles", page)
        with open(os.path.join(self.out, "data", "paper.tsv"), encoding="utf-8") as file:
            extra = [line.split("\t") for line in file if line.startswith("4\tTO_BUFFER")]
        self.assertEqual(float(extra[0][6]), 237)  # a difference: PAPI cancels

    def test_stats_json_says_why_single_slices_are_missing(self):
        page = self.report_of(stats())
        self.assertIn("stats JSON, which has no individual slices", page)
        self.assertFalse(os.path.exists(os.path.join(self.out, "timeline.png")))

    def test_without_counters_the_instruction_panels_are_absent_with_a_sentence(self):
        document = stats()
        document["counters"] = {"source": "none", "names": []}
        for entry in document["slices"]:
            entry["values"] = entry["values"][:1]
        page = self.report_of(document)
        self.assertIn("No instruction panel", page)
        self.assertFalse(os.path.exists(os.path.join(self.out, "latency_hist_INSTRUCTIONS.png")))
        with open(os.path.join(self.out, "function_cost.svg"), encoding="utf-8") as file:
            self.assertNotIn("instructions per packet", file.read())

    def test_a_counter_without_calibration_is_left_out_with_a_warning(self):
        document = stats()
        for entry in document["slices"]:
            entry["values"][1]["net"] = None
        done = self.run_report(self.write("input.json", json.dumps(document)), "-o", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("INSTRUCTIONS (instructions) was not calibrated", done.stderr)
        self.assertIn("INSTRUCTIONS (instructions) was not calibrated", self.page())
        self.assertFalse(os.path.exists(os.path.join(self.out, "latency_hist_INSTRUCTIONS.png")))

    def test_a_calibration_with_json_is_refused(self):
        done = self.run_report(
            self.write("input.json", json.dumps(stats())), "-o", self.out, "--calibration", "c.json"
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("--calibration requires a trace", done.stderr)

    def test_a_cost_run_without_instructions_says_so(self):
        document = cost()
        document["sources"]["instructions"] = None
        for row in document["rows"]:
            row["instructions"] = None
            for part in row["parts"]:
                part["instructions"] = None
        self.assertIn("No instruction panel", self.report_of(document))

    def test_the_requested_unit_is_drawn(self):
        done = self.run_report(self.write("t.nsl", b"NSL"), "-o", self.out, "--unit", "7")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("What happens inside batch 7, and when?", self.page())

    def test_an_older_report_is_replaced_as_a_whole(self):
        self.report_of(stats())
        self.report_of(cost())
        self.assertFalse(os.path.exists(os.path.join(self.out, "latency_cdf.png")))
        self.assertEqual(self.leftovers(), ["report"])


class OddShapes(ReportCase):
    def svg_texts(self, name):
        tree = xml.etree.ElementTree.parse(os.path.join(self.out, name + ".svg"))
        return " ".join(
            "".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text")
        )

    def test_hostile_names_are_text_everywhere_and_run_nothing(self):
        document = stats()
        for entry in document["slices"][:3]:
            entry["name"] = HOSTILE + entry["name"]
            entry["file"] = HOSTILE
        document["trace"]["path"] = HOSTILE
        document["units"][0]["name"] = HOSTILE
        document["info"]["machine.cpu"] = HOSTILE
        page = self.report_of(document)
        self.assertNotIn("<script", page)
        self.assertIn("&lt;script&gt;", page)
        self.assertNotIn("\u202e", page)
        self.assertNotIn("\x1b", page)
        self.assertIn("<script>", self.svg_texts("function_cost"))
        for folder, _, files in os.walk(self.folder):
            self.assertNotIn("pwned", files, folder)

    def test_hostile_scenarios_of_a_cost_run_are_text(self):
        document = cost()
        for row in document["rows"]:
            row["scenario"] += HOSTILE
            for part in row["parts"]:
                part["name"] += HOSTILE
        self.assertNotIn("<script", self.report_of(document))

    def test_one_slice_with_one_value_is_drawn(self):
        document = stats()
        document["slices"] = document["slices"][:1]
        entry = document["slices"][0]
        entry["values"] = entry["values"][:1]
        entry["count"] = entry["values"][0]["count"] = 1
        for part in ("raw", "net"):
            entry["values"][0][part].update(
                {k: 100.0 for k in ("mean", "min", "max", "p50", "p90", "p99", "p999", "total")},
                sd=None,
            )
        entry["values"][0]["net"]["ci95"] = None
        entry["values"][0]["histogram"] = [[100, 100, 1]]
        self.report_of(document)
        self.assertIn("1 slice", self.svg_texts("latency_hist"))

    def test_many_slices_are_drawn_in_part_and_the_page_says_so(self):
        document = stats()
        model = document["slices"][1]
        document["slices"] = [
            {
                **json.loads(json.dumps(model)),
                "name": f"namespace::very_long_class_name::method_number_{i}",
            }
            for i in range(200)
        ]
        page = self.report_of(document)
        self.assertIn("176 other slices", self.svg_texts("function_cost"))
        self.assertIn("12 of 200 slices are drawn", page)
        self.assertEqual(page.count("method_number_199<"), 2)  # both tables have all

    def test_huge_ranges_and_values_below_zero_are_drawn(self):
        document = stats()
        value = document["slices"][0]["values"][0]
        value["histogram"] = [
            [-40, -20, 5],
            [-1, 1, 3],
            [10, 20, 500],
            [1e9, 2e9, 1],
            [1e14, 2e14, 1],
        ]
        value["net"].update(min=-40, max=2e14, p50=15, total=3e14)
        value["per_packet"].update(self=-3.5, net=-3.5)
        page = self.report_of(document)
        self.assertIn("left of the range shown", page)

    def test_a_trace_without_units_or_slices_still_gives_a_page(self):
        document = stats()
        document["units"] = []
        for entry in document["slices"]:
            for value in entry["values"]:
                value["per_packet"] = None
        self.assertIn("cost per packet is unknown", self.report_of(document))
        document["slices"] = []
        self.assertIn("No picture", self.report_of(document))


class BadInput(ReportCase):
    def check_refused(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(self.leftovers(), [])

    def refuse(self, content, code, *words):
        self.check_refused(
            self.run_report(self.write("input.json", content), "-o", self.out), code, *words
        )

    def test_a_missing_file_is_named(self):
        self.check_refused(self.run_report(self.path("no.nsl"), "-o", self.out), 3, "no.nsl")

    def test_an_empty_file_a_folder_and_truncated_json_end_with_3(self):
        self.refuse(b"", 3, "empty")
        self.check_refused(self.run_report(self.folder, "-o", self.out), 3, "directory")
        self.refuse(json.dumps(stats())[:3000], 3, "line 1, column")
        self.refuse(b'{"schema": "\xff"}', 3, "UTF-8")
        self.refuse(b'{"schema":"netslice-stats-1","x":NaN}', 3, "NaN")
        self.refuse(b'{"a":' + b"[" * 100000, 3)
        self.refuse(b'{"schema":' + b"9" * 10000 + b"}", 3)

    def test_another_schema_ends_with_4_and_names_what_is_read(self):
        self.refuse(
            '{"schema":"netslice-calibration-1"}', 4, "netslice-calibration-1", "netslice-stats-1"
        )
        self.refuse("[1, 2]", 4, "no schema")
        self.refuse('{"schema":["netslice-stats-1"]}', 4)

    def test_a_wrong_shape_ends_with_4_and_names_the_place(self):
        document = stats()
        document["slices"][2]["values"][0]["net"]["mean"] = "fast"
        self.refuse(json.dumps(document), 4, "$.slices[2].values[0].net.mean")
        document = stats()
        del document["losses"]
        self.refuse(json.dumps(document), 4, "$.losses: missing")
        document = cost()
        document["rows"][0]["table"] = -1
        self.refuse(json.dumps(document), 4, "$.rows[0].table")

    def test_a_trace_that_nsdump_refuses_ends_with_3_and_nsdumps_words(self):
        done = self.run_report(
            self.write("t.nsl", b"garbage"),
            "-o",
            self.out,
            env={"FAKE_EXIT": "4", "FAKE_SAYS": "no magic at byte 0", "FAKE_STATS": ""},
        )
        self.check_refused(done, 3, "t.nsl", "no magic at byte 0")

    def test_missing_programs_end_with_5_and_name_the_remedy(self):
        trace = self.write("t.nsl", b"NSL")
        self.check_refused(
            self.run_report(trace, "-o", self.out, env={"NSDUMP": "/nonexistent/nsdump"}),
            5,
            "/nonexistent/nsdump",
            "NSDUMP",
        )
        self.check_refused(
            self.run_report(trace, "-o", self.out, env={"PATH": self.folder}),
            5,
            "gnuplot",
            "install",
        )

    def test_an_unknown_unit_ends_with_2_and_names_the_known_ones(self):
        trace = self.write("t.nsl", b"NSL")
        self.check_refused(
            self.run_report(trace, "-o", self.out, "--unit", "999999"),
            2,
            "t.nsl",
            "no unit 999999",
            "0 to ",
        )
        none = self.write(
            "none.csv",
            "name,cpu,thread,unit,unit_number,depth,start_ticks,stop_ticks,raw_ticks,net_ticks,"
            "class\n",
        )
        done = self.run_report(trace, "-o", self.out, "--unit", "7", env={"FAKE_SLICES": none})
        self.check_refused(done, 2, "no unit 7", "omit --unit")

    def test_a_unit_of_json_ends_with_2_as_json_has_no_slices(self):
        for document in (stats(), cost()):
            done = self.run_report(
                self.write("input.json", json.dumps(document)), "-o", self.out, "--unit", "7"
            )
            self.check_refused(done, 2, "--unit requires a trace")

    def test_a_wrong_command_line_ends_with_2(self):
        for arguments in (
            [],
            ["x"],
            ["x", "-o", self.out, "--unit", "-3"],
            ["x", "-o", self.out, "--unit", "many"],
            ["x", "-r", "x", "-o", self.out],
            ["x", "-o", self.out, "--no-such-option"],
        ):
            done = self.run_report(*arguments)
            self.check_refused(done, 2)
            self.assertRegex(done.stderr, r"^nsreport: .* \(see nsreport --help\)\n$")

    def test_an_unknown_option_is_named_although_the_output_is_missing(self):
        for arguments, words in (
            (["--foo"], 'unknown option "--foo"'),
            (["x"], "--output is required"),
        ):
            done = self.run_report(*arguments)
            self.assertEqual(done.stderr, f"nsreport: {words} (see nsreport --help)\n")

    def test_an_unreadable_input_has_the_remedy_of_its_cause(self):
        for name, words in (
            ("absent.nsl", "No such file or directory (check the name)"),
            (".", "Is a directory (specify a file in it)"),
        ):
            done = self.run_report(name, "-o", self.out)
            self.check_refused(done, 3, f"nsreport: {name}: cannot read: {words}")

    def test_the_input_may_follow_r(self):
        document = self.write("input.json", json.dumps(cost()))
        done = self.run_report("-r", document, "-o", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    support.main()
