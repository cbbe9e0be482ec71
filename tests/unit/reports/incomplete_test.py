# SPDX-License-Identifier: MIT
# Incomplete input -> a report that says so on its page and on standard error, and exit code 1.
import json

import support
from support import ReportCase, cost, stats


class Incomplete(ReportCase):
    def check_incomplete(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        page = self.page()
        self.assertIn('class="incomplete"', page)
        self.assertNotIn("No record was lost", page)
        for word in words:
            self.assertIn(word, done.stderr)
            self.assertIn(word, page)
        self.assertNotIn("\\n", done.stderr)
        self.assertNotIn("\\n", page)
        self.assertEqual(self.leftovers(), ["report"])

    def run_document(self, document, *more):
        return self.run_report(
            self.write("input.json", json.dumps(document)), "-o", self.out, *more
        )

    def test_an_interrupted_cost_run_ends_with_1_and_names_file_cause_and_remedy(self):
        document = cost()
        document["interrupted"] = True
        document["rows"] = document["rows"][:5]
        done = self.run_document(document)
        self.check_incomplete(
            done,
            "mapi-cost was interrupted",
            "5 rows",
            "let `mapi-cost -r CAPTURE -w FILE` run to completion",
        )
        self.assertIn("input.json", done.stderr)
        self.assertIn("run interrupted", self.page())

    def test_quiet_does_not_silence_what_is_missing(self):
        document = cost()
        document["interrupted"] = True
        self.check_incomplete(self.run_document(document, "-q"), "interrupted")

    def test_a_cost_run_that_ended_in_order_ends_with_0(self):
        document = cost()
        document["interrupted"] = False
        self.assertEqual(self.run_document(document).returncode, 0)
        self.assertNotIn('class="incomplete"', self.page())

    def test_a_cost_run_without_rows_ends_with_1(self):
        document = cost()
        document["rows"] = []
        self.check_incomplete(self.run_document(document), "no row")

    def test_a_trace_without_records_ends_with_1(self):
        document = stats()
        document["trace"]["records"] = 0
        document.update(slices=[], units=[], marks=[])
        document["losses"].update(issued=0, drained=0, lost={"full": 0}, by_cpu=[])
        self.check_incomplete(self.run_document(document), "has no records", "record it again")
        self.assertIn("No records were issued", self.page())
        self.assertNotIn("Were records lost? No.", self.page())

    def test_a_missing_footer_ends_with_1(self):
        document = stats()
        document["losses"].update(
            issued=None, equation_holds=None, lost={"without_cause": 0}, by_cpu=[]
        )
        document["trace"]["end"] = "missing"
        self.check_incomplete(self.run_document(document), "has no footer")
        self.assertIn("issued unknown, drained 9,600, known lost 0.", self.page())
        self.assertNotIn("Were records lost? No.", self.page())

    def test_missing_totals_of_the_kernel_end_with_1(self):
        document = stats()
        document["losses"].update(issued=None, equation_holds=None, kernel_totals_missing=True)
        self.check_incomplete(
            self.run_document(document),
            "totals are missing, so the loss equation cannot be checked",
        )
        self.assertIn("issued unknown", self.page())

    def test_damage_and_records_missing_without_a_cause_end_with_1(self):
        document = stats()
        document["losses"].update(equation_holds=False, damaged_bytes=64, damaged_chunks=1)
        self.check_incomplete(
            self.run_document(document),
            "64 damaged bytes",
            "nsdump check mapid.nsl",
            "does not equal drained + lost",
        )

    def test_a_write_error_and_an_interrupted_nsdump_end_with_1(self):
        document = stats()
        document["trace"].update(end="write-error", interrupted=True)
        self.check_incomplete(self.run_document(document), "write error", "nsdump was interrupted")

    def test_records_that_are_lost_and_counted_are_a_warning_and_end_with_0(self):
        done = self.run_document(stats())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1,204 records lost", done.stderr)

    def test_a_message_of_nsdump_over_several_lines_is_one_sentence(self):
        trace = self.write("t.nsl", b"NSL")
        said = f"nsdump: {trace}: no footer\nnsdump: {trace}: 1 damaged places, 64 bytes not read"
        done = self.run_report(trace, "-o", self.out, env={"FAKE_EXIT": "1", "FAKE_SAYS": said})
        self.check_incomplete(
            done,
            "no footer; 1 damaged places, 64 bytes not read. The figures cover the part that it "
            "could read.",
        )

    def test_a_finding_of_several_exports_and_of_the_json_is_reported_once(self):
        document = stats()
        reason = "24 records can be read, but 32 were written"
        document["losses"].update(damaged_bytes=64, damaged_chunks=1, equation_holds=False)
        document.update(incomplete=[reason], warnings=["no end calibration"])
        trace = self.write("t.nsl", b"NSL")
        said = "".join(
            f"nsdump: {trace}: {line}\n"
            for line in (
                f"incomplete: {reason}",
                "1 damaged place, 64 bytes not read",
                "at byte 824: wrong payload checksum, 64 bytes skipped",
                "the loss equation does not hold (run `nsdump check`)",
                "no end calibration",
                "a slice crosses another",
            )
        )
        env = {
            "FAKE_EXIT": "1",
            "FAKE_SAYS": said,
            "FAKE_STATS": self.write("stats.json", json.dumps(document)),
        }
        done = self.run_report(trace, "-o", self.out, env=env)
        self.check_incomplete(done, f"Figures marked with ? may be wrong: {reason}.")
        output = done.stderr.replace(self.folder, "")  # whose name is random
        for words in (reason, "64", "equation", "does not equal", "no end", "a slice crosses"):
            self.assertLessEqual(output.count(words), 1, output)
        for words in ("64 damaged bytes", "warning: nsdump reported: no end calibration."):
            self.assertIn(words, done.stderr)

    def test_what_nsdump_says_about_a_whole_trace_is_a_warning(self):
        done = self.run_report(
            self.write("t.nsl", b"NSL"),
            "-o",
            self.out,
            env={"FAKE_SAYS": "nsdump: the trace has no calibration: raw values only"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(
            "nsdump reported: the trace has no calibration: raw values only.", self.page()
        )

    def test_a_damaged_capture_is_reported_on_the_page(self):
        document = cost()
        document["capture"].update(damage="packet 12 is cut", unread_bytes=77)
        done = self.run_document(document)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("The capture is damaged: packet 12 is cut, 77 bytes not read.", self.page())


if __name__ == "__main__":
    support.main()
