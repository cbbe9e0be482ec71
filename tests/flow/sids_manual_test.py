#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of sids(1) and the rules beside the program are right."""

import re
import shlex
import subprocess
import unittest

from sids_library import DEMO, SIDS, SOURCE, SidsTest, environment, packets

PAGE = SOURCE / "mapi-core/apps/sids/sids.1"
EXAMPLE = SOURCE / "mapi-core/apps/sids/example.rules"


def plain(roff):
    return roff.replace("\\e", "\\").replace("\\-", "-")


def blocks(begin, end):
    return re.findall(rf"^\.{begin}\n(.*?)^\.{end}$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def example_rules():
    return plain("".join(blocks("EX", "EE")))


class Manual(SidsTest):
    def test_every_example_of_a_rule_is_accepted_and_runs(self):
        rules = example_rules()
        self.assertGreater(rules.count("id:"), 30)
        table = self.table(rules, "-r", DEMO, "--all")
        self.assertEqual(len(packets(table)), len(re.findall(r"\bid:\d", rules)))

    def test_every_option_of_a_rule_has_an_example(self):
        rules = example_rules()
        for option in (
            "id msg rev gid classtype priority reference cooked flow flowbits threshold "
            "ssl_version ssl_state stream_size "
            "detection_filter content nocase offset depth distance within rawbytes http_uri "
            "http_header http_method http_client_body uricontent pcre byte_test byte_jump "
            "byte_extract byte_math isdataat sip_method sip_stat_code sip_header sip_body asn1 "
            "dsize urilen rpc ftpbounce flags seq ack window ttl tos ip_id "
            "fragbits fragoffset ipopts ip_proto sameip itype icode icmp_id icmp_seq"
        ).split():
            self.assertRegex(rules, rf"[; ]{option}[:;]")

    def test_the_error_of_the_example_is_what_the_program_prints(self):
        shown = next(block for block in blocks("nf", "fi") if "web.rules:" in block)
        lines = plain(shown).splitlines()
        (self.folder / "web.rules").write_text("\n\n" + lines[1].strip() + "\n")
        program = subprocess.run(
            [SIDS, "-R", "web.rules", "--check"],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env=environment(),
        )
        self.assertEqual(program.stderr.splitlines(), lines)

    def test_every_example_of_a_command_on_captures_runs(self):
        commands = [
            plain(line)
            for line in PAGE.read_text().split(".SH EXAMPLES")[1].splitlines()
            if line.startswith("sids ") and "\\-i" not in line
        ]
        self.assertGreaterEqual(len(commands), 5)
        (self.folder / "example.rules").write_text(EXAMPLE.read_text())
        (self.folder / "local.rules").write_text("count udp; id:4294967295;\n")
        (self.folder / "folder").mkdir()
        (self.folder / "packets").mkdir()
        for name in "trace.pcap", "folder/trace.pcap":
            (self.folder / name).write_bytes(DEMO.read_bytes())
        for command in commands:
            with self.subTest(command=command):
                program = subprocess.run(
                    [SIDS, *shlex.split(command)[1:]],
                    capture_output=True,
                    text=True,
                    check=False,
                    cwd=self.folder,
                    env=environment(),
                )
                self.assertEqual(program.returncode, 0, program.stderr)

    def test_the_rules_beside_the_program_match(self):
        table = self.table(EXAMPLE.read_text(), "-r", DEMO)
        self.assertNotEqual(packets(table), {})


if __name__ == "__main__":
    unittest.main()
