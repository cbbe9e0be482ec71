#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How mapi-flow ends: with an error, by a signal, without a reader, on a full disk."""

import os
import signal
import subprocess
import unittest

import needs
from mapi_flow_library import DEMO, FLOW, TRACE, run, tcpdump
from mapid import Daemon, wait_until


class Ends(unittest.TestCase):
    def test_an_invalid_word_is_named(self):
        for flow, why in (
            ("NO_SUCH", 'unknown function "NO_SUCH"'),
            ("STR_SEARCH a", "missing argument"),
            ("STATS @1 0", '"@1" does not refer to'),
            ("|", "a function is missing"),
            ("STR_SEARCH a 0 x", 'STR_SEARCH: "x" is not an int'),
        ):
            program = run("-r", TRACE, flow)
            self.assertEqual((program.returncode, program.stdout), (2, ""), flow)
            self.assertIn(why, program.stderr)
        for arguments in (
            (),
            ("-r", TRACE),
            (TRACE, "PKT_COUNTER"),
            ("PKT_COUNTER",),
            ("-r", TRACE, "-i", "lo", "PKT_COUNTER"),
            ("--erf", "-i", "lo", "PKT_COUNTER"),
            ("--interval", "0", "-r", TRACE, "PKT_COUNTER"),
            ("-c", "0", "-r", TRACE, "PKT_COUNTER"),
            ("-r", "", "PKT_COUNTER"),
        ):
            program = run(*arguments)
            self.assertEqual(program.returncode, 2, arguments)
            self.assertRegex(program.stderr, r"^mapi-flow: .+\n$")

    def test_a_refused_source_or_function_is_reported_with_the_library_s_message(self):
        for arguments, why in (
            (("-r", "/nonexistent", "PKT_COUNTER"), "/nonexistent: No such file"),
            (("-r", TRACE, "BPF_FILTER 'no such'"), "BPF_FILTER"),
            (("-i", "nosuch0", "PKT_COUNTER"), "nosuch0"),
            (
                ("-r", TRACE, "TOP 0 1 9"),
                "TOP: the number of values: 0 is out of range (1 to 1000) (error 7001)",
            ),
        ):
            program = run(*arguments)
            self.assertEqual((program.returncode, program.stdout), (3, ""), arguments)
            self.assertIn(why, program.stderr)

    def test_a_device_is_read_until_ctrl_c_and_its_results_are_printed_at_intervals(self):
        daemon = Daemon(f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n")
        self.addCleanup(daemon.close)
        with open(daemon.folder / "lines", "w+") as lines:
            program = subprocess.Popen(
                [FLOW, "-i", "tap", "--interval", "0.2", "PKT_COUNTER"],
                stdout=lines,
                env=os.environ | {"MAPI_SOCKET": str(daemon.socket)},
            )
            self.addCleanup(program.kill)
            self.assertTrue(
                wait_until(lambda: (daemon.folder / "lines").read_text().count("PKT_COUNTER") >= 3)
            )
            program.send_signal(signal.SIGINT)
            self.assertEqual(program.wait(20), 0)
        counts = [
            int(line.split("\t")[5])
            for line in (daemon.folder / "lines").read_text().splitlines()
            if "PKT_COUNTER" in line
        ]
        self.assertEqual(counts, sorted(counts))
        self.assertGreater(counts[-1], counts[0])

    def test_it_ends_when_the_reader_of_its_lines_has_gone_and_its_files_are_complete(self):
        daemon = Daemon(f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n")
        self.addCleanup(daemon.close)
        dump = daemon.folder / "dump.pcap"
        for source, socket in (("-i", "tap"), daemon.socket), (("-r", DEMO), "none"):
            program = subprocess.Popen(
                [FLOW, *source, f"TO_FILE 0 {dump} 0 | TO_BUFFER 0"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ | {"MAPI_SOCKET": str(socket)},
            )
            self.addCleanup(program.kill)
            self.assertIn("TO_BUFFER", program.stdout.readline())
            program.stdout.close()
            self.assertEqual(program.wait(20), 3)
            self.assertIn("standard output: cannot write", program.stderr.read())
            program.stderr.close()
            self.assertGreater(int(tcpdump(dump, "--count").split()[0]), 0)
            dump.unlink()

    def test_ctrl_c_also_ends_it_while_it_prints(self):
        program = subprocess.Popen(
            [FLOW, "-r", DEMO, *["TO_BUFFER 0"] * 100],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"MAPI_SOCKET": "none"},
        )
        self.addCleanup(program.kill)
        self.assertIn("TO_BUFFER", program.stdout.readline())
        program.send_signal(signal.SIGINT)
        lines = program.communicate(timeout=20)[0].splitlines()
        self.assertEqual(program.returncode, 130)
        self.assertLess(len(lines), 100 * 4827)

    def test_a_full_disk_is_reported(self):
        with open("/dev/full", "w") as full:
            program = subprocess.run(
                [FLOW, "-r", DEMO, "PKT_COUNTER"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                env=os.environ | {"MAPI_SOCKET": "none"},
            )
        self.assertEqual(program.returncode, 3)
        self.assertIn("standard output: cannot write: No space left", program.stderr)


if __name__ == "__main__":
    needs.tools("tcpdump")
    needs.captures(TRACE)
    unittest.main()
