# SPDX-License-Identifier: MIT
# nsreport --placement: stored values -> page with figures 2.1 to 2.10.
import contextlib
import json
import os
import sys
import unittest
import unittest.mock

import support
from support import ReportCase

sys.path.insert(0, os.path.join(support.HERE, "..", "..", "..", "reports"))
import traffic_support  # noqa: E402
from nsreport.placement import plan, run, words  # noqa: E402


class Plan(unittest.TestCase):
    def test_filters_and_strings_differ_and_have_the_form_of_their_reader(self):
        for work, mapi, pcap in (
            ("filters", "BPF_FILTER 'port 8081' | PKT_COUNTER", "filter:port 8081"),
            ("strings", "STR_SEARCH 'SIGNATURE-0001/07919' 0 0 | PKT_COUNTER", "string:SIGNATURE"),
        ):
            for system, shape in (("kernel", mapi), ("user", mapi), ("read", pcap), ("mmap", pcap)):
                made = plan.words_of(system, work, 512)
                self.assertEqual(len(set(made)), 2 + 512)
                self.assertTrue(made[3].startswith(shape), made[3])
        self.assertEqual(plan.words_of("kernel", "filters", 2, True)[0], "grow")

    def test_the_numbers_double_up_to_those_of_2004(self):
        self.assertEqual((plan.FILTERS[0], plan.FILTERS[-1]), (1, 512))
        self.assertEqual((plan.STRINGS[0], plan.STRINGS[-1]), (1, 1024))


class Growing:
    """A reader whose flows take so many seconds to connect, by their number."""

    def __init__(self, took):
        self.took, self.connected = took, []

    def measure_idle(self):
        pass

    def skip(self, _steps):
        pass

    def measure(self, *_arguments, **_about):
        pass

    def reading(self, *_words):
        return contextlib.nullcontext(self)


class Run(unittest.TestCase):
    def test_numbers_are_skipped_only_if_their_estimate_is_too_long(self):
        one = Growing({64: 3, 128: 12, 256: 48})
        one.document = {}

        def connected(reader, number):
            reader.connected.append(number)
            return reader.took.get(number, 0)

        with unittest.mock.patch.object(run, "_connected", connected):
            run._growing(one, {plan.MIXED: "mixed"}, "filters", 1)
        self.assertEqual(one.connected, list(plan.FILTERS[:-1]))
        self.assertEqual(one.document["too_long"], [["filters", 512, 192]])
        one.took, one.document, one.connected = {64: 40}, {}, []
        with unittest.mock.patch.object(run, "_connected", connected):
            run._growing(one, {plan.MIXED: "mixed"}, "filters", 1)
        self.assertEqual([row[2] for row in one.document["too_long"]], [160, 640, 2560])


class Page(ReportCase):
    def report(self, document):
        path = self.write("results.json", json.dumps(document))
        return self.run_report("--placement", "--from", path, "-o", self.out)

    def test_each_figure_has_a_picture_and_a_sentence_that_answers_its_question(self):
        done = self.report(traffic_support.placement())
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.page()
        for figure in words.FIGURES:
            self.assertIn(f"(figure {figure.number})", page)
            self.assertGreater(os.path.getsize(os.path.join(self.out, f"{figure.name}.png")), 1000)
        for text in (
            "At 800,000 packets/s, MAPI on xdp:IFACE takes 5.6 % of a CPU; MAPI on IFACE takes",
            "libpcap by read() takes 4.2 % of a CPU and is late with 50 % of the packets",
            "Functions ran in: MAPI on xdp:IFACE: engine.",
        ):
            self.assertIn(text, page)

    def test_measurements_that_other_programs_disturbed_are_a_warning(self):
        document = traffic_support.placement()
        document["points"][5]["waited_ns"] = 1e8
        done = self.report(document)
        self.assertIn("steal), for more than 5 % of the time in 1 meas", done.stderr)

    def test_a_share_below_that_of_unwatched_traffic_is_unknown(self):
        document = traffic_support.placement()
        for row in document["points"]:
            if row["rate"] == 800000 and row["packets"] == 1500:
                times = {"none": 900, "kernel": 879, "user": 870}
                row["softirq_ns"] = row["sent"] * times.get(row["system"], 1000)
        done = self.report(document)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("The same traffic unwatched took more time in ", done.stderr)
        for text in (
            "MAPI on xdp:IFACE takes less than 0.1 % of a CPU",
            "MAPI on IFACE takes an unknown share (unwatched traffic took 0.8 % of a CPU more)",
        ):
            self.assertIn(text, self.page())
        self.assertNotIn("takes -", self.page())

    def test_a_number_that_would_take_too_long_is_missing_with_the_reason(self):
        document = traffic_support.placement()
        document["too_long"] = [["filters", 512, 300]]
        document["points"] = [
            row
            for row in document["points"]
            if (row["system"], row["part"], row.get("number")) != ("kernel", "filters", 512)
        ]
        done = self.report(document)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("was not measured with 512 filters", self.page())
        self.assertIn("Not measured there: MAPI on xdp:IFACE.", self.page())


if __name__ == "__main__":
    support.main()
