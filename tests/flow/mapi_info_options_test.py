#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-info's commands show in their help what they accept, and refuse the rest."""

import json
import unittest

import needs
from mapi_info_test import TRACE, Test

LISTS = ("devices", "flows", "functions")


class Options(Test):
    def test_the_help_of_a_command_has_all_its_options(self):
        daemon = self.daemon()
        for command in LISTS:
            text = self.run_info(daemon, command, "--help")
            for option in ("--socket", "--format", "--json", "-o,--output"):
                self.assertIn(option, text)
        text = self.run_info(daemon, "record", "--help")
        for option in ("--socket", "-w,--write", "-d,--duration", "-q,--quiet"):
            self.assertIn(option, text)
        self.assertNotIn("--format", text)

    def test_options_of_lists_may_stand_before_or_after_the_command(self):
        daemon = self.daemon()
        listed = daemon.folder / "listed"
        for command in LISTS:
            for words in (["--json", command], [command, "--json"]):
                document = json.loads(self.run_info(daemon, *words))
                self.assertEqual(document["schema"], "netslice-mapi-info-1")
            for words in (["-o", listed, command], [command, "-o", listed]):
                self.assertEqual(self.run_info(daemon, *map(str, words)), "")
                self.assertTrue(listed.read_text())
                listed.unlink()

    def test_what_a_command_does_not_use_is_invalid_usage(self):
        daemon = self.daemon()
        record = "record cannot be combined with"
        empty = "is empty (give a name or omit the option)"
        for words, reported in (
            (["record", "--json"], f"{record} --format or --json (see mapi-info record --help)"),
            (
                ["record", "--format", "text"],
                f"{record} --format or --json (see mapi-info record --help)",
            ),
            (["record", "-o", "lists"], f"{record} -o (-w names the trace)"),
            (
                ["record", "-w", "-"],
                "--write: the trace cannot be written to standard output (name a file)",
            ),
            (["record", "-w", ""], f"--write: {empty}"),
            (["devices", "-o", ""], f"--output: {empty}"),
            (["devices", "--socket", ""], f"--socket: {empty}"),
            (["devices", "-q"], 'unknown option "-q" (see mapi-info devices --help)'),
        ):
            self.assertEqual(self.run_info(daemon, *words, code=2), f"mapi-info: {reported}\n")


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
