#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sids: what is wrong on the command line, in rules and in captures, with exit codes."""

import subprocess
import unittest

from sids_library import DEMO, SIDS, SidsTest, packets


class Errors(SidsTest):
    def test_an_error_in_a_filter_has_its_place(self):
        program = self.sids("count tcp; id:1;\n  count tcp port port; id:2;\n", "-r", DEMO)
        self.assertEqual((program.stdout, program.returncode), ("", 2))
        message, line, caret = program.stderr.splitlines()
        self.assertRegex(message, rf"^{self.rules}:2:9: filter .*syntax error")
        self.assertEqual((line, caret), ("  count tcp port port; id:2;", " " * 8 + "^"))

    def test_an_error_of_a_match_option_has_its_place(self):
        program = self.sids(
            'count tcp; content:"a"; id:1; msg:"x"; \\\n  no_such:1; id_too:2;\n', "--check"
        )
        self.assertEqual(program.returncode, 2)
        self.assertRegex(program.stderr, rf"^{self.rules}:2:3: .*no_such")

    def test_all_rules_are_checked(self):
        program = self.sids("count port port; id:1;\ncount x y; id:2;\ncount; id:3;\n", "--check")
        self.assertEqual(program.returncode, 2)
        self.assertEqual(program.stderr.count("^"), 2)
        program = self.sids("count; id:3;\n", "--check")
        self.assertEqual((program.stderr, program.returncode), ("sids: 1 rule, no error\n", 0))

    def test_the_check_counts_the_flow_bits_of_all_rules(self):
        rules = "".join(f"count; flowbits:set,b{i}; id:{i + 1};\n" for i in range(1025))
        done = self.sids(rules, "--check")
        self.assertEqual(done.returncode, 2)
        self.assertIn(":1025:21: there are already 1024 flow bits", done.stderr)

    def test_wrong_usage_exits_with_2(self):
        for arguments in (
            [],
            ["-R", "a.rules"],
            ["-r", DEMO],
            ["-R", "a.rules", "-r", DEMO, "-i", "x"],
            ["-R", "a.rules", "-r", DEMO, "-d", "1"],
            ["-R", "a.rules", "-r", DEMO, "--wait"],
            ["-R", "a.rules", "-r", DEMO, "--check"],
            ["-R", "a.rules", "-r", DEMO, "--json", "--alerts", "x"],
            ["-R", "a.rules", "-r", DEMO, "-o", "a.rules"],
            ["-R", "a.rules", "-r", DEMO, "--alerts", "a.rules"],
            ["-R", "none.rules", "-r", DEMO],
        ):
            with self.subTest(arguments=arguments):
                self.rules.write_text("count; id:1;\n")
                program = subprocess.run(
                    [SIDS, *arguments], capture_output=True, text=True, check=False, cwd=self.folder
                )
                self.assertEqual((program.stdout, program.returncode), ("", 2))
                self.assertNotEqual(program.stderr, "")
                self.assertEqual(self.rules.read_text(), "count; id:1;\n")

    def test_a_source_that_cannot_be_read_exits_with_3(self):
        for arguments in (["-r", "none.pcap"], ["-i", "none0"], ["-r", "a.rules"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.sids("count; id:1;\n", *arguments).returncode, 3)

    def test_a_damaged_capture_exits_with_1_and_counts_what_is_before_the_damage(self):
        cut = self.folder / "cut.pcap"
        cut.write_bytes(DEMO.read_bytes()[:-5])
        program = self.sids("count; id:1;\n", "-r", cut)
        self.assertEqual(program.returncode, 1)
        self.assertEqual(packets(program.stdout)[1], self.count_of(DEMO) - 1)
        self.assertIn("cut.pcap", program.stderr)

    def count_of(self, capture):
        return packets(self.table("count; id:1;\n", "-r", capture))[1]

    def test_exit_matched_tells_whether_a_rule_matched(self):
        for rules, code in ("count tcp; id:1;\n", 0), ("count tcp port 1; id:1;\n", 4):
            self.assertEqual(self.sids(rules, "-r", DEMO, "--exit-matched").returncode, code)
        self.assertEqual(self.sids("count tcp port 1; id:1;\n", "-r", DEMO).returncode, 0)

    def test_a_full_output_exits_with_3(self):
        with open("/dev/full", "w") as full:
            for arguments in [], ["--json"]:
                self.rules.write_text("count; id:1;\n")
                program = subprocess.run(
                    [SIDS, "-R", self.rules, "-r", DEMO, *arguments],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                )
                self.assertEqual(program.returncode, 3)
                self.assertIn("No space left", program.stderr)


if __name__ == "__main__":
    unittest.main()
