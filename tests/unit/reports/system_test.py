# SPDX-License-Identifier: MIT
# nsreport --system: output of tools -> figures, page and JSON; runs the real tools over loopback
# where they are installed.
import json
import os
import shutil
import subprocess
import sys
import unittest

import support
from support import ReportCase

REPORTS = os.path.join(support.HERE, "..", "..", "..", "reports")
sys.path.insert(0, REPORTS)
from nsreport import errors  # noqa: E402
from nsreport.system import (  # noqa: E402
    figures as system_figures,
    results as system_results,
    run as system_run,
)

SOCKPERF = """sockperf: \x1b[2;35m== version #3.7-no.git == \x1b[0m
sockperf: \x1b[2;35m====> avg-rtt=17.466 (std-dev=269.319)\x1b[0m
sockperf: ---> percentile 99.000 =   29.844
sockperf: ---> percentile 50.000 =   {us}
sockperf: ---> <MIN> observation =   13.339
"""
IPERF3 = (
    '{{"start": {{}}, "end": {{"sum_sent": {{"bits_per_second": 9e9}}, "sum_received": '
    '{{"bits_per_second": {bits}}}}}}}\n'
)
HEAD = "== results netslice-system-1\n== kernel Linux 6.1 x86_64\n== seconds 1\n"


def results(rounds=6, variants=("without", "idle", "recording"), end="== end\n"):
    """Recording takes 10 % longer in each round, whatever the round takes."""
    text = HEAD + (
        "== groups net_rx,irq\n== size 200000 50000 7000 900 nsmod.ko\n"
        "== size 9 1 2 3 mapi-count, probes out\n"
    )
    for turn in range(1, rounds + 1):
        for variant in variants:
            us = (100 + 50 * turn) * (1.1 if variant == "recording" else 1.0)
            text += f"== round_trip {variant} 64 {turn}\n" + SOCKPERF.format(us=us)
            text += f"== throughput {variant} 1518 {turn}\n" + IPERF3.format(bits=2e9 / us)
    return text + end


class Parsers(unittest.TestCase):
    def test_the_median_of_sockperf_and_the_receivers_rate_of_iperf3_are_used(self):
        self.assertEqual(system_results.sockperf_us(SOCKPERF.format(us="13.610")), 13.61)
        self.assertEqual(system_results.iperf3_gbit(IPERF3.format(bits="1.5e9")), 1.5)

    def test_a_tool_that_gives_no_figure_is_quoted(self):
        for reader, text, words in (
            (system_results.sockperf_us, "sockperf: ERROR: connect: refused\n", "connect: refused"),
            (system_results.sockperf_us, "", "no output"),
            (system_results.sockperf_us, SOCKPERF.format(us="0.000"), "observation"),
            (
                system_results.iperf3_gbit,
                '{"error": "unable to connect to server"}',
                "unable to connect",
            ),
            (
                system_results.iperf3_gbit,
                '{"end": {"sum_received": {"bits_per_second": 0}}}',
                "a rate of 0",
            ),
            (system_results.iperf3_gbit, '{"end": [', "{"),
        ):
            with self.assertRaises(system_results.Unreadable) as caught:
                reader(text)
            self.assertIn(words, str(caught.exception))

    def test_damage_and_other_texts_are_refused(self):
        for text, code in (
            ("", errors.EXIT_SCHEMA),
            ("hello\n== end\n", errors.EXIT_SCHEMA),
            (HEAD + "== round_trip without 64\nx\n== end\n", errors.EXIT_INPUT),
            (HEAD + "== round_trip elsewhere 64 1\nx\n== end\n", errors.EXIT_INPUT),
            (HEAD + "== size 1 2 three 4 x\n== end\n", errors.EXIT_INPUT),
            (HEAD + "== recorded\n== end\n", errors.EXIT_INPUT),
        ):
            with self.assertRaises(errors.ReportError) as caught:
                system_results.parse(text, "x")
            self.assertEqual(caught.exception.code, code, text)

    def test_size_is_read_in_its_berkeley_form(self):
        self.assertEqual(
            system_run.size_line(
                "   text\t   data\t    bss\t    dec\t    hex\tfilename\n"
                "  13585\t   1600\t    696\t  15881\t   3e09\tx\n",
                os.devnull,
            ),
            "0 13585 1600 696",
        )


class Figures(unittest.TestCase):
    def test_ratios_within_rounds_are_not_affected_by_a_machine_that_slows_down(self):
        document = system_results.parse(results(), "x")
        for end in system_figures.ratio(document, "round_trip", 64, "recording"):
            self.assertAlmostEqual(end, 1.1)
        self.assertEqual(
            system_figures.point(document, "round_trip", 64, "without"), (275.0, 150.0, 400.0)
        )
        self.assertIsNone(
            system_figures.ratio(
                system_results.parse(results(variants=("idle",)), "x"), "round_trip", 64, "idle"
            )
        )

    def test_the_minimum_and_maximum_of_n_rounds_hold_the_median_as_often_as_stated(self):
        self.assertEqual(
            [system_figures.coverage(n) for n in (0, 1, 2, 6)], [0.0, 0.0, 0.5, 1 - 2 / 64]
        )


class Page(ReportCase):
    def report(self, text, *arguments):
        return self.run_report(
            "--system", "--from", self.write("results.txt", text), "-o", self.out, *arguments
        )

    def test_figures_ratios_sizes_and_the_papers_table_are_on_the_page_and_in_json(self):
        done = self.report(results(), "--module", os.devnull)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.page()
        for words in (
            "275",
            "150 to 400",
            "1.100 to 1.100",
            "All three variants were measured",
            "nsmod.ko",
            "200,000",
            "105.11",
            "6 rounds",
            "96.9 %",
        ):
            self.assertIn(words, page)
        with open(os.path.join(self.out, "data/system.json"), encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual(
            (document["schema"], document["rounds"], len(document["rows"])),
            ("netslice-system-1", 6, 6),
        )
        self.assertTrue(os.path.getsize(os.path.join(self.out, "round_trip.png")) > 1000)

    def test_stored_results_give_the_same_page_again(self):
        self.report(results())
        first = self.page()
        with open(os.path.join(self.out, "data/results.txt"), encoding="utf-8") as file:
            self.assertEqual(self.report(file.read()).returncode, 0)
        self.assertEqual(self.page(), first)

    def test_missing_variants_and_tools_are_named_with_the_reason(self):
        text = results(variants=("without",)).replace(
            HEAD,
            HEAD
            + (
                "== missing idle this kernel loads no modules\n== missing recording <b>why</b>\n"
                "== lacking iperf3\n"
            ),
        )
        done = self.report(text)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("this kernel loads no modules", "&lt;b&gt;why", "iperf3 is not installed"):
            self.assertIn(words, self.page())
        self.assertIn("this kernel loads no modules", done.stderr)

    def test_an_interrupted_run_a_failed_tool_and_a_recording_without_a_trace_end_with_1(self):
        for text, words in (
            (results(end=""), "was interrupted"),
            (results() + "== round_trip idle 64 7\nsockperf: ERROR\n== end\n", "sockperf: ERROR"),
            (results() + "== recorded 0 bytes\n== end\n", "produced no trace"),
            (results() + "== fault rmmod nsmod: in use\n== end\n", "in use"),
        ):
            done = self.report(text)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(words, self.page())

    def test_a_wrong_command_line_is_reported(self):
        stored = ["--system", "--from", "r.txt"]
        for arguments, words in (
            (["--system", "x.json"], "TRACE|JSON cannot be combined with --system"),
            ([], "TRACE|JSON, --system, --load, --placement, --ktime, --sids, --qos or --budget"),
            ([""], "the file name is empty"),
            (["x.json", "--nope"], 'unknown option "--nope"'),
            (["--quiet=3", "x.json"], "--quiet takes no value"),
            (["x.json", "y.json"], 'unexpected argument "y.json"'),
            (["x.json", "--unit", "z"], '--unit: "z" is not a number from 0'),
            (["x.json", "--from", "y"], "--from requires --system"),
            (["x.json", "--rounds", "6"], "--rounds requires --system"),
            (["x.json", "-d", "1"], "--duration requires --system"),
            (["x.json", "--module", "y"], "--module requires --system"),
            (["x.json", "--bare", "y"], "--bare requires --system"),
            ([*stored, "--rounds", "6"], "--rounds cannot be combined with --from"),
            ([*stored, "-d", "1"], "--duration cannot be combined with --from"),
            (["--system", "--rounds", "0"], '"0" is not a number from 1 to 1000'),
            (["--system", "--unit", "0"], "--unit cannot be combined with --system"),
        ):
            done = self.run_report(*arguments, "-o", self.out)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)
            self.assertRegex(done.stderr, r"\Ansreport: [^()]* \([^()]*\)\n\Z")


class RealTools(ReportCase):
    @unittest.skipUnless(
        shutil.which("sockperf") and shutil.which("iperf3"), "sockperf or iperf3 is not installed"
    )
    def test_the_variant_without_module_is_measured_by_the_real_tools(self):
        environment = {**os.environ, "NSREPORT_PORT": "22811"}
        done = subprocess.run(
            ["sh", os.path.join(REPORTS, "system_measure.sh"), "2", "1", "64 65536", "without"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        document = system_results.parse(done.stdout, "x")
        self.assertEqual((document["failed"], document["is_whole"]), ([], True), done.stdout)
        for kind, sizes in (("round_trip", [64, 65507]), ("throughput", [64, 65536])):
            self.assertEqual(system_figures.sizes(document, kind), sizes)
            for size in sizes:
                self.assertEqual(len(document["values"][kind][size]["without"]), 2)


if __name__ == "__main__":
    unittest.main()
