#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Start, signals, log and end of mapid."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

import needs
from mapi_daemon_library import REPEATED, TRACE, Test, offline
from mapid import FLOW_GONE, Daemon, wait_until


class Life(Test):
    def test_a_second_one_at_the_same_place_does_not_start_and_does_no_harm(self):
        daemon = self.daemon(REPEATED)
        done = subprocess.run(
            daemon.command(), capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("another mapid is running or starting there", done.stderr)
        daemon.client().do("flow = Flow.on_device('tap')")

    def test_a_place_in_a_missing_folder_is_reported(self):
        daemon = self.daemon()
        done = subprocess.run(
            [*daemon.command()[:1], "--socket", daemon.folder / "not/there/socket"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("No such file or directory", done.stderr)

    def test_of_many_that_start_at_the_same_time_one_serves(self):
        daemon = self.daemon(REPEATED)
        daemon.terminate()
        for _ in range(5):
            many = [
                subprocess.Popen(daemon.command(), stderr=subprocess.PIPE, text=True)
                for _ in range(8)
            ]
            self.assertTrue(wait_until(lambda: sum(one.poll() is None for one in many) == 1))  # pylint: disable=cell-var-from-loop
            self.assertTrue(wait_until(daemon.answers))
            daemon.client().do("flow = Flow.on_device('tap')")
            for one in many:
                if one.poll() is None:
                    one.kill()  # its socket file remains
                one.communicate()

    def test_the_socket_of_a_killed_one_is_replaced(self):
        daemon = self.daemon(REPEATED)
        daemon.process.kill()
        daemon.process.wait()
        self.assertTrue(daemon.socket.exists())
        daemon.start()
        daemon.client().do("flow = Flow.on_device('tap')")

    def test_a_file_of_another_kind_at_its_place_stays(self):
        daemon = self.daemon()
        other = daemon.folder / "other"
        other.write_text("mine")
        done = subprocess.run(
            [*daemon.command()[:1], "--socket", other],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual((done.returncode, other.read_text()), (1, "mine"))
        self.assertIn(
            f"mapid: {other}: exists and is not a socket (remove it, or use another --socket)\n",
            done.stderr,
        )

    def test_its_end_ends_waiting_calls_with_an_error_and_the_next_one_serves_again(self):
        daemon = self.daemon(REPEATED)
        clients = [daemon.client() for _ in range(3)]
        clients[0].do(
            "flow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\nflow.connect()"
        )
        clients[1].do(
            "flow = Flow.on_device('tap')\nflow.apply('BPF_FILTER', 'tcp and host 255.1.2.3')\n"
            "buffer = flow.apply('TO_BUFFER', 0)\nflow.connect()\nimport threading\n"
            "seen = []\nFlow.library.mapi_get_next_pkt.restype = ctypes.c_void_p\n"
            "waiter = threading.Thread(target=lambda flow=flow, buffer=buffer, Flow=Flow, "
            "seen=seen: seen.append(Flow.library.mapi_get_next_pkt(flow.fd, buffer)))\n"
            "waiter.start()"
        )
        clients[2].do(
            "flow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\nflow.connect()\n"
            "import threading\nseen = []\n"
            "waiter = threading.Thread(target=lambda flow=flow, Flow=Flow, seen=seen: "
            "seen.append(Flow.library.mapi_wait_flow(flow.fd, -1)))\nwaiter.start()"
        )
        self.assertEqual(daemon.terminate(), 0)
        self.assertFalse(daemon.socket.exists())
        clients[1].do("waiter.join(20)\nassert not waiter.is_alive()")
        self.assertEqual(clients[1].get("seen"), [None])
        clients[2].do("waiter.join(20)\nassert not waiter.is_alive()")
        for client in clients:
            self.assert_refused([str(FLOW_GONE), "mapid"], client.do, "flow.information(1)")
            self.assert_refused(
                ["5124", "mapid does not answer"], client.do, "Flow.on_device('tap')"
            )
        daemon.start()
        for client in clients:
            client.do(
                "again = Flow.on_device('tap')\npackets = again.apply('PKT_COUNTER')\n"
                "again.connect()"
            )
            self.assertTrue(wait_until(lambda: client.get("again.word(packets)") > 0))

    def test_a_hang_up_signal_harms_no_flow_and_applies_an_edited_configuration(self):
        daemon = self.daemon(REPEATED)
        client = daemon.client()
        client.do(
            "flow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\nflow.connect()"
        )
        daemon.config.write_text(REPEATED + REPEATED.replace("tap", "other"))
        daemon.process.send_signal(signal.SIGHUP)
        self.assertTrue(wait_until(lambda: "reload" in daemon.log()))
        before = client.get("flow.word(packets)")
        client.do("Flow.on_device('other')")
        self.assertTrue(wait_until(lambda: client.get("flow.word(packets)") > before))

    def test_lines_for_the_journal_begin_with_their_priority(self):
        daemon = self.daemon("", JOURNAL_STREAM="1:1")
        self.assertTrue(
            wait_until(lambda: re.search(r"(?m)^<6>listening at ", daemon.log())), daemon.log()
        )
        self.assertTrue(daemon.answers())
        self.assertTrue(
            wait_until(
                lambda: re.search(
                    r"(?m)^<7>client \d+ of user \d+: disconnected before the handshake$",
                    daemon.log(),
                )
            ),
            daemon.log(),
        )

    def test_requests_and_plans_are_logged_at_debug_and_queries_at_trace(self):
        lines = {}
        for level in "info", "debug", "trace":
            daemon = self.daemon("", "--log-level", level)
            client = daemon.client()
            client.do(
                f"flow = {offline(TRACE)}\nflow.apply('BPF_FILTER', 'tcp')\n"
                "packets = flow.apply('PKT_COUNTER')\n"
                "refused = flow.try_apply('BPF_FILTER', 'no\\nsuch\\x1b[2J')\nflow.run()\n"
                "flow.information(packets)\nflow.close()"
            )
            client.kill()
            self.assertTrue(wait_until(lambda: ": disconnected" in daemon.log()))
            lines[level] = daemon.log()
        for words in (
            f"flow 1: on capture {TRACE}, format 0",
            'flow 1: BPF_FILTER "tcp"',
            "flow 1: connect",
            f"device {TRACE}@1048576: new plan: 1 flows, 2 distinct functions, 0 node groups",
            "flow 1: close",
            'flow 1: BPF_FILTER "no?such?[2J": refused: 1025 ',
        ):
            self.assertEqual(
                [words in lines[level] for level in ("info", "debug", "trace")],
                [False, True, True],
                (words, lines),
            )
        self.assertEqual(
            [": query " in lines[level] for level in ("info", "debug", "trace")],
            [False, False, True],
            lines,
        )
        self.assertNotIn("\x1b", lines["trace"])

    def test_captures_of_clients_have_a_lower_priority_than_devices_that_all_share(self):
        daemon = Daemon(f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n")
        self.addCleanup(daemon.close)
        client = daemon.client()
        client.do("shared = Flow.on_device('tap')\nshared.apply('PKT_COUNTER')\nshared.connect()")
        own = os.getpriority(os.PRIO_PROCESS, 0)  # which mapid inherits
        self.assertEqual(set(daemon.priorities()), {own})
        client.do(
            f"own = {offline(TRACE)}\n"
            # it waits
            "assert Flow.library.mapi_set_flow_option(own.fd, 1, ctypes.c_uint64(65536)) == 0\n"
            "own.apply('TO_BUFFER', 0)\nown.connect()"
        )
        self.assertTrue(wait_until(lambda: 10 in daemon.priorities()))
        self.assertEqual(set(daemon.priorities()), {own, 10})

    def test_it_prints_its_version(self):
        done = subprocess.run(
            [Daemon.program(), "--version"], capture_output=True, text=True, timeout=60, check=True
        )
        self.assertRegex(done.stdout, r"^mapid \d+\.\d+\.\d+\n$")

    def test_help_that_cannot_be_printed_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [Daemon.program(), "--help"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
                check=False,
            )
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^mapid: standard output: cannot write: No space left")

    def test_a_group_that_does_not_exist_is_reported_if_it_was_named(self):
        words = 'group: no such group "no-such-group"; only root and the user of mapid'
        self.assertIn(words, self.daemon("", "--group", "no-such-group").log())
        self.assertNotIn("no such group", self.daemon("").log())

    def test_invalid_options_and_options_without_effect_are_invalid_usage(self):
        for options, words in (
            (("--config", ""), "--config: is empty (give a value or omit the option)"),
            (("--socket", ""), "--socket: is empty (give a value or omit the option)"),
            (
                ("--socket", "/tmp/" + "x" * 103),
                "--socket: is longer than 107 bytes (use a shorter path)",
            ),
            (("--group", ""), "--group: is empty (give a value or omit the option)"),
            (("--log-file", ""), "--log-file: is empty (give a value or omit the option)"),
            (("--metrics", ""), "--metrics: is empty (give a value or omit the option)"),
            (("--record", ""), "--record: is empty (give a value or omit the option)"),
            (
                ("--record", "-"),
                "--record: the trace cannot be written to standard output (specify a file)",
            ),
            (("--max-clients", "0"), "--max-clients: 0 is out of range (1 to 10000)"),
            (("--metrics-public",), "--metrics-public requires --metrics (see mapid --help)"),
            (
                ("-v", "--log-level", "info"),
                "-v cannot be combined with --log-level (see mapid --help)",
            ),
            (
                ("--check", "--socket", "/tmp/x"),
                "--check cannot be combined with --socket (see mapid --help)",
            ),
            (("--check", "-v"), "--check cannot be combined with -v (see mapid --help)"),
        ):
            done = subprocess.run(
                [Daemon.program(), *options],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertEqual((done.returncode, done.stderr), (2, f"mapid: {words}\n"))

    def test_a_check_of_the_configuration_names_line_and_key(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "mapi.conf"

            def check(text, *options):
                config.write_text(text)
                done = subprocess.run(
                    [Daemon.program(), "--check", "--config", config, *options],
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                return done.returncode, done.stdout, done.stderr

            self.assertEqual(check(REPEATED)[0], 0)
            self.assertIn("tap", check(REPEATED)[1])
            code, _, words = check(REPEATED + "batch=1000\n")
            self.assertEqual(code, 1)
            self.assertIn(f"{config}:5: batch=1000", words)
            code, _, words = check(REPEATED.replace("forever", "ever"))
            self.assertIn("repeat=ever: must be a number from 1 to 4294967295, or forever\n", words)
            code, _, words = check(REPEATED + "\x00\xff=\n[driver\n")
            self.assertEqual(code, 1)
            self.assertRegex(words, f"{config}:[56]: ")
            self.assertEqual(check(REPEATED.replace("path", "driver=cuckoo\npath"))[0], 1)
            self.assertEqual(check(REPEATED, "--no-such-option")[0], 2)
            config.unlink()
            done = subprocess.run(
                [Daemon.program(), "--check", "--config", config],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            self.assertEqual(done.returncode, 1)
            self.assertIn(str(config), done.stderr)


if __name__ == "__main__":
    needs.tools("tcpdump", "tshark")
    needs.captures(TRACE)
    unittest.main()
