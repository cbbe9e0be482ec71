#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-info's commands show in their help what they accept, and refuse the rest."""

import json
import os
import subprocess
import unittest

import needs
from mapi_info_run import INFO, TRACE, Test
from mapid import BUILD

LISTS = ("devices", "flows", "functions")
COUNTER = {"mapi-count": [], "mapi-flow": ["PKT_COUNTER"]}


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
        text = self.run_info(daemon, "cost", "--help")
        for option in ("device", "--socket", "-d,--duration", "--json", "-o,--output"):
            self.assertIn(option, text)

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
        empty = "is empty (give a value or omit the option)"
        for words, reported in (
            (["record", "--json"], f"{record} --format or --json (see mapi-info record --help)"),
            (
                ["record", "--format", "text"],
                f"{record} --format or --json (see mapi-info record --help)",
            ),
            (["record", "-o", "lists"], f"{record} -o (-w names the trace)"),
            (
                ["record", "-w", "-"],
                "--write: the trace cannot be written to standard output (specify a file)",
            ),
            (["record", "-w", ""], f"--write: {empty}"),
            (["devices", "-o", ""], f"--output: {empty}"),
            (["devices", "--socket", ""], f"--socket: {empty}"),
            (["devices", "-q"], 'unknown option "-q" (see mapi-info devices --help)'),
        ):
            self.assertEqual(self.run_info(daemon, *words, code=2), f"mapi-info: {reported}\n")

    def test_a_file_in_place_of_the_socket_is_named(self):
        daemon = self.daemon()
        for place in (daemon.config, daemon.folder):
            done = subprocess.run(
                [INFO, "--socket", place], capture_output=True, text=True, timeout=60, check=False
            )
            self.assertEqual(
                (done.returncode, done.stderr),
                (
                    3,
                    f"mapi-info: {place}: is not a socket (specify mapid's socket with --socket or "
                    "MAPI_SOCKET)\n",
                ),
            )

    def test_programs_report_what_they_cannot_set_for_a_device_of_mapid(self):
        daemon = self.daemon()
        for program in ("mapi-count", "mapi-flow"):
            done = subprocess.run(
                [BUILD / "bin" / program, "-i", "tap", "-c", "3", *COUNTER[program]],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
                env=os.environ | {"MAPI_SOCKET": str(daemon.socket)},
            )
            self.assertEqual(done.returncode, 3)
            self.assertIn(
                f"{program}: --count: device tap: belongs to mapid, which sets its options in "
                "mapi.conf (set MAPI_SOCKET=none to capture in this process)",
                done.stderr,
            )


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
