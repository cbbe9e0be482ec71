#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""snort2sids on the command line: what it writes and refuses, and how much of two rule sets it
converts."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["NETSLICE_BIN"]) / "snort2sids"
SIDS = PROGRAM.with_name("sids")
DATA = pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data/rules"
RULE = 'alert tcp any any -> any 80 (msg:"m"; content:"x"; sid:7;)\n'
CONVERTED = (
    "count tcp and not ip[6:2] & 0x3fff > 0 and not ip6[6] = 44 and tcp dst port 80; "
    'content: "x"; id: 7; msg: "m";\n'
)
REFUSED = "alert udp any any -> any any (dce_opnum:1; sid:8;)\n"
REASON = "dce_opnum: contexts and fragments of DCE/RPC are not followed"


def convert(*arguments, rules=None):
    return subprocess.run(
        [PROGRAM, *arguments], input=rules, capture_output=True, text=True, check=False
    )


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text.encode())
        return path

    def test_rules_go_to_standard_output_and_the_summary_to_standard_error(self):
        done = convert("-", rules=RULE)
        self.assertEqual(done.stdout, CONVERTED)
        self.assertEqual(done.stderr, "snort2sids: 1 of 1 rule converted, 0 refused\n")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(convert("-q", "-", rules=RULE).stderr, "")

    def test_a_refused_rule_is_counted_listed_and_explained(self):
        rules = self.write("a.rules", RULE + REFUSED)
        done = convert("--refused", rules)
        self.assertEqual(done.stdout, CONVERTED)
        self.assertIn(f"{rules}:2:31: sid 8: {REASON}\n", done.stderr)
        self.assertIn("1 of 2 rules converted, 1 refused\n", done.stderr)
        self.assertEqual(done.returncode, 1)
        explained = convert("--explain", "8", rules)
        self.assertEqual(explained.returncode, 1)
        message, line, caret = explained.stdout.splitlines()
        self.assertEqual(message, f"{rules}:2:31: sid 8 is refused: {REASON}")
        self.assertEqual(line[caret.index("^") :], "dce_opnum:1; sid:8;)")
        self.assertEqual(convert("--explain", "7", rules).returncode, 0)
        self.assertIn(CONVERTED, convert("--explain", "7", rules).stdout)
        unknown = convert("--explain", "9", rules)
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("no rule has sid 9", unknown.stderr)

    def test_what_sids_would_not_accept_is_refused(self):
        wrong = (
            'content:"x"; depth:-1;',
            "byte_jump:99,0;",
            "dsize:>99999;",
            'pcre:"/(/";',
            f'content:"{"x" * 65000}"; content:"{"y" * 1000}";',
        )
        rules = self.write(
            "a.rules",
            RULE
            + "".join(
                f"alert tcp any any -> any any ({body} sid:{number};)\n"
                for number, body in enumerate(wrong, start=100)
            ),
        )
        done = convert("--refused", rules)
        self.assertEqual(done.stdout, CONVERTED)
        self.assertEqual(done.stderr.count("sids does not accept it: "), len(wrong), done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_a_file_is_whole_or_as_it_was(self):
        rules = self.write("a.rules", RULE)
        output = self.write("out.sids", "before\n")
        broken = self.write("broken.rules", RULE + "allert tcp\n")
        done = convert("-o", output, broken)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f'{broken}:2:1: "allert" begins neither', done.stderr)
        self.assertIn("  allert tcp\n  ^\n", done.stderr)
        self.assertIn("nothing is written because of 1 error", done.stderr)
        self.assertEqual(output.read_text(), "before\n")
        self.assertEqual(convert("-o", output, rules).returncode, 0)
        self.assertEqual(output.read_text(), CONVERTED)
        self.assertEqual(
            sorted(path.name for path in self.folder.iterdir()),
            ["a.rules", "broken.rules", "out.sids"],
        )

    def test_the_rules_are_never_overwritten(self):
        rules = self.write("a.rules", RULE)
        done = convert("-o", rules, rules)
        self.assertEqual(done.returncode, 2)
        self.assertIn("same file as the input", done.stderr)
        self.assertEqual(rules.read_text(), RULE)

    def test_variables_come_from_the_command_line_or_a_configuration(self):
        rules = "alert tcp $EXT any -> $HOME 80 (sid:1;)\n"
        config = self.write("snort.conf", "ipvar HOME 10.0.0.0/8\r\nvar EXT !$HOME\r\n")
        missing = convert("-", rules=rules)
        self.assertEqual(missing.returncode, 2)
        self.assertIn("variable EXT is not defined (give --var EXT=VALUE", missing.stderr)
        self.assertEqual(missing.stdout, "")
        read = convert("--config", config, "-", rules=rules)
        self.assertIn("ip and not ip src net 10.0.0.0/8 and ip dst net 10.0.0.0/8", read.stdout)
        given = convert("--var", "HOME=10.1.2.3", "--config", config, "-", rules=rules)
        self.assertIn("ip dst host 10.1.2.3", given.stdout)
        self.assertNotIn("10.0.0.0/8", given.stdout)

    def test_a_wrong_variable_is_one_error_however_many_rules_use_it(self):
        rules = "".join(
            f"alert tcp any any -> {'!' * (i % 2)}$HOME $PORTS (sid:{i + 1};)\n"
            for i in range(1500)
        )
        done = convert("--var", "HOME=ten", "--var", "PORTS=80", "-", rules=rules)
        self.assertEqual(done.returncode, 2)
        self.assertIn(
            '1:22: variable HOME: "ten" is not an IP address, in "ten", also in 1499 other lines\n',
            done.stderr,
        )
        self.assertEqual(done.stderr.count("variable HOME"), 1)
        self.assertIn("nothing is written because of 1 error in 1500 lines\n", done.stderr)

    def test_usage_errors_are_2_and_say_what_to_do(self):
        for arguments, message in (
            ((), "a rule file is required"),
            (("--var", "x", "a.rules"), "is not NAME=VALUE"),
            (("--var", "X=$Y", "a.rules"), "variable Y is not defined"),
            (("/nowhere/a.rules",), "/nowhere/a.rules: No such file"),
            (("--config", "/nowhere/snort.conf", "-"), "/nowhere/snort.conf: No such file"),
            (("-o", "/nowhere/x", "-"), "/nowhere/x: cannot write"),
        ):
            with self.subTest(arguments=arguments):
                done = convert(*arguments, rules=RULE)
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_a_reader_that_closes_the_pipe_is_no_error(self):
        rules = self.write("a.rules", "".join(RULE.replace("7", str(i)) for i in range(1, 20000)))
        shown = subprocess.run(
            f"{PROGRAM} -q {rules} | head -1; exit ${{PIPESTATUS[0]}}",
            shell=True,
            executable="/bin/bash",
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    def test_help_names_each_option_of_the_manual(self):
        page = (
            (pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "mapi-core/apps/snort2sids/snort2sids.1")
            .read_text()
            .replace("\\-", "-")
        )
        shown = convert("--help").stdout
        options = set(re.findall(r"--[a-z]+", shown))
        self.assertGreater(len(options), 8)
        self.assertEqual(options - set(re.findall(r"--[a-z]+", page)), set())


def figures(*arguments):
    done = convert("--commented", *arguments)
    match = re.search(r"(\d+) of (\d+) rules converted", done.stderr)
    return done, int(match[1]), int(match[2])


@unittest.skipUnless(DATA.exists(), f"not there: {DATA}")
class RuleSets(unittest.TestCase):
    CONFIG = ("--config", DATA / "snort-2.2.0/snort.conf")
    NETWORKS = ("--var", "HOME_NET=10.0.0.0/8", "--var", "EXTERNAL_NET=!$HOME_NET")

    def convert_snort_2_2_0(self):
        return figures(*self.CONFIG, *sorted((DATA / "snort-2.2.0").glob("*.rules")))

    def convert_et_open_2017(self):
        rules = sorted((DATA / "et-open-2017").glob("*.rules"))
        return figures(*self.CONFIG, *self.NETWORKS, "--var", "SSH_PORTS=22", "--cooked", *rules)

    def test_97_percent_of_snort_2_2_0_are_converted(self):
        done, converted, _ = self.convert_snort_2_2_0()
        text = "".join(
            path.read_text(errors="replace") for path in (DATA / "snort-2.2.0").glob("*.rules")
        )
        numbered = len(re.findall(r"^[# ]*alert .*\bsid:", text, re.MULTILINE))
        print(f"Snort 2.2.0: {converted} of {numbered} rules, {converted / numbered:.2%}")
        self.assertEqual(numbered, 2505)
        self.assertGreaterEqual(converted / numbered, 0.97)
        self.assertEqual(done.stdout.count("\n"), converted)

    def test_90_percent_of_et_open_2017_are_converted(self):
        done, converted, count = self.convert_et_open_2017()
        print(f"ET Open 2017: {converted} of {count} rules, {converted / count:.2%}")
        self.assertEqual(count, 2266)
        self.assertGreaterEqual(converted / count, 0.90)
        self.assertEqual(count, converted, done.stderr)

    @unittest.skipUnless(SIDS.exists(), "sids is not built")
    def test_sids_accepts_each_converted_rule(self):
        for done, converted, _ in (self.convert_snort_2_2_0(), self.convert_et_open_2017()):
            with tempfile.NamedTemporaryFile("w", suffix=".sids") as file:
                file.write(done.stdout)
                file.flush()
                checked = subprocess.run(
                    [SIDS, "--check", "-R", file.name],
                    capture_output=True,
                    text=True,
                    check=False,
                )
            self.assertEqual(checked.returncode, 0, checked.stderr[:2000])
            self.assertGreater(converted, 2000)


if __name__ == "__main__":
    unittest.main()
