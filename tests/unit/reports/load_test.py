# SPDX-License-Identifier: MIT
# nsreport --load: stored values -> page, beside the figures of 2004.
import json
import os
import sys

import support
from support import ReportCase

sys.path.insert(0, os.path.join(support.HERE, "..", "..", "..", "reports"))
import traffic_support  # noqa: E402
from nsreport.load import loss  # noqa: E402


class Page(ReportCase):
    def report(self, document, *arguments):
        path = self.write("results.json", json.dumps(document))
        return self.run_report("--load", "--from", path, "-o", self.out, *arguments)

    def test_losses_costs_and_the_tables_of_2004_are_on_the_page(self):
        done = self.report(traffic_support.load())
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.page()
        for words in (
            "at least 2,000,000",
            "40,002 (40,001 to 40,003)",
            "39.4 %",
            "37,500",
            "18,194",
            "unavailable: no PMU",
            '<td class="n">77</td>',
            "TSC, 2.000 GHz",
            "softirq_entry",
            "MAPI on xdp:IFACE,drop",
            "Counting a packet of 64 bytes takes least time with MAPI on xdp:IFACE,drop: 30 ns",
        ):
            self.assertIn(words, page)
        for name in ("loss_rate", "cpu_time", "function_cost"):
            self.assertGreater(os.path.getsize(os.path.join(self.out, f"{name}.png")), 1000)
            self.assertTrue(os.path.exists(os.path.join(self.out, f"data/{name}.tsv")))

    def free(self, *rounds):
        kept = [
            {"system": "xdp", "size": 64, "round": i, "rate": rate, "lossy": lossy}
            | {"is_sender_limit": is_limit}
            for i, (rate, lossy, is_limit) in enumerate(rounds, 1)
        ]
        return loss.free_text({"loss_free": kept}, "xdp", 64)

    def test_the_highest_rate_without_loss_says_what_limited_it(self):
        self.assertEqual(
            self.free((10, 11, False), (30, None, True), (20, 22, False)), "20 (10 to 30)"
        )
        self.assertEqual(
            self.free((10, None, True), (30, None, True), (20, 22, False)), "at least 20 (10 to 30)"
        )
        self.assertEqual(self.free((None, 4000, False), (None, 4000.0, False)), "below 4,000")
        self.assertEqual(
            self.free((None, 4000, False), (9000, 9500, False), (9000, 9500, False)),
            "9,000 (below 4,000 to 9,000)",
        )

    def test_a_packet_that_costs_less_than_unwatched_is_said_to_save_time(self):
        document = traffic_support.load()
        for row in document["points"]:
            if row["system"] == "xdp, drop":
                row["softirq_ns"] = 0
        self.assertEqual(self.report(document).returncode, 0)
        self.assertIn("takes 80 ns less than without any reader", self.page())

    def test_stored_values_give_the_same_page_again(self):
        self.report(traffic_support.load())
        first = self.page()
        with open(os.path.join(self.out, "data/results.json"), encoding="utf-8") as file:
            self.assertEqual(self.report(json.load(file)).returncode, 0)
        self.assertEqual(self.page(), first)

    def test_a_device_that_does_not_open_is_missing_with_the_reason(self):
        document = traffic_support.load()
        document["unavailable"] = {"xdp, drop": "no such mode"}
        for key in ("points", "loss_free"):
            document[key] = [one for one in document[key] if one["system"] != "xdp, drop"]
        done = self.report(document)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("MAPI on xdp:IFACE,drop\u201d is missing: no such mode", self.page())

    def test_without_softirq_times_the_page_says_so_and_has_no_sums(self):
        document = traffic_support.load()
        document["no_softirq"] = "BPF program: Operation not permitted"
        for row in document["points"]:
            row["softirq_ns"] = None
        done = self.report(document)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Time in softirq is unavailable", self.page())
        self.assertIn("No picture: Time in softirq was not measured.", self.page())

    def test_options_without_effect_are_refused(self):
        for arguments, words in (
            (["--load", "--system"], "--load cannot be combined with --system"),
            (["--load", "--placement"], "--placement cannot be combined with --load"),
            (["--load", "x.json"], "TRACE|JSON cannot be combined with --load"),
            (["--load", "--module", "x"], "--module requires --system"),
            (["--load", "--from", "x", "-d", "1"], "--duration cannot be combined with --from"),
            (["--load", "-d", "0.01"], "is not a number from 0.1"),
            (["--system", "-d", "0.5"], "--system requires whole seconds"),
        ):
            done = self.run_report(*arguments, "-o", self.out)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    support.main()
