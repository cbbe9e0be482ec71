#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi.conf with the keys of MAPI 2: the effect of each, and how errors in the file are
reported."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import needs
from mapid import BUILD, DATA, Client, ClientError, Daemon, wait_until

TRACE, TRACE_PACKETS = DATA / "mapi/tracefile", 893
DEVICE = f"[driver]\ndevice=tap\npath={TRACE}\n"
COUNT = "flow = Flow.{}\npackets = flow.apply('PKT_COUNTER')\nflow.run()"


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.config = self.folder / "mapi.conf"

    def daemon(self, config="", *options, **environment):
        daemon = Daemon(config, *options, **environment)
        self.addCleanup(daemon.close)
        return daemon

    def bare_daemon(self, *options):
        """With only its configuration, in its own home directory."""
        process = subprocess.Popen(
            [Daemon.program(), "--config", self.config, *options],
            stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name != "MAPI_SOCKET"}
            | {"HOME": str(self.folder)},
        )
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        return process

    def check(self, text):
        self.config.write_text(text)
        done = subprocess.run(
            [Daemon.program(), "--check", "--config", self.config],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr


class Check(Test):
    def test_all_errors_and_keys_without_effect_are_reported_in_the_order_of_the_lines(self):
        code, shown, reported = self.check(
            "lib=x\nlocal=2\n" + DEVICE + "batch=1000\n[ipfixflib]\nidleTimeout=x\nscanCycle=1\n"
        )
        self.assertEqual(code, 1)
        self.assertIn("tap", shown)
        self.assertEqual(
            re.findall(r"(?m)^mapid: (warning: )?.*mapi.conf:(\d+): ", reported),
            [("warning: ", "1"), ("", "2"), ("", "6"), ("", "8"), ("warning: ", "9")],
            reported,
        )

    def test_a_file_with_only_warnings_is_valid(self):
        code, _, reported = self.check("lib=x\n" + DEVICE)
        self.assertEqual(
            (code, reported),
            (
                0,
                (
                    f'mapid: warning: {self.config}:1: unknown key "lib" before the first '
                    'section; did you mean "libs"?; ignored\n'
                ),
            ),
        )
        self.assertEqual(self.check(DEVICE)[0::2], (0, ""))

    def test_an_alias_that_hides_another_device_is_an_error_with_the_lines_of_both(self):
        code, _, reported = self.check(
            f"[driver]\ndevice=a\nalias=z\npath={TRACE}\n[driver]\ndevice=b\nalias=z\n"
            f"path={TRACE}\n[driver]\ndevice=z\npath={TRACE}\n"
        )
        self.assertEqual(
            (code, reported),
            (
                1,
                f"mapid: {self.config}:7: alias=z: is already the alias of device a, at "
                f"{self.config}:3\n"
                f"mapid: {self.config}:10: device=z: is already the alias of device a, at "
                f"{self.config}:3\n",
            ),
        )

    def test_a_comment_after_a_section_header_is_a_warning(self):
        code, shown, reported = self.check(DEVICE.replace("]", "] # the first"))
        self.assertEqual(
            (code, reported),
            (
                0,
                (
                    f"mapid: warning: {self.config}:1: [driver] # the first: a comment requires a "
                    "line of its own; this one is ignored\n"
                ),
            ),
        )
        self.assertIn("tap", shown)

    def test_a_line_of_neither_form_is_quoted(self):
        for line in ("xyz", "=x"):
            self.assertEqual(
                self.check(f"{DEVICE}{line}\n")[0::2],
                (
                    1,
                    f"mapid: {self.config}:4: malformed line, neither a section nor key=value: "
                    f'"{line}"\n',
                ),
            )

    def test_a_group_of_the_socket_that_does_not_exist_is_an_error_with_its_line(self):
        self.assertEqual(
            self.check("\nsocket_group=no-such-group\n" + DEVICE)[0::2],
            (
                1,
                f"mapid: {self.config}:2: socket_group=no-such-group: no such group (create it, "
                "or use another)\n",
            ),
        )

    def test_a_device_without_its_driver_is_an_error(self):
        code, shown, reported = self.check(DEVICE + "driver=cuckoo\n")
        self.assertEqual(code, 1)
        self.assertIn("(no such driver)", shown)
        self.assertIn(
            f'mapid: {self.config}:4: device tap: cannot be opened: unknown driver "cuckoo"',
            reported,
        )

    def test_a_nul_byte_is_reported_with_its_line(self):
        self.assertEqual(
            self.check(DEVICE + "\0group=root\n")[0::2],
            (1, f"mapid: {self.config}:4: the line contains a NUL byte\n"),
        )

    def test_a_plug_in_that_cannot_be_loaded_is_reported_with_line_and_loader_message(self):
        broken = self.folder / "broken.so"
        broken.write_text("x")
        words = subprocess.run(
            [
                sys.executable,
                "-c",
                (
                    f"import ctypes\ntry: ctypes.CDLL({str(broken)!r})\n"
                    "except OSError as error: print(error)"
                ),
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for line in (
            f"libs={broken}",
            f"libpath={self.folder}\nlibs=broken.so",
            f"drvpath={self.folder}\n[driver]\ndevice=a\ndriver=broken.so",
        ):
            code, _, reported = self.check(f"#\n{line}\n" + DEVICE)
            place = f"mapid: {self.config}:{len(line.splitlines()) + 1}: "
            self.assertEqual(code, 1, reported)
            self.assertEqual(
                [text for text in reported.splitlines() if text.startswith(place)],
                [place + line.splitlines()[-1] + ": " + words],
                reported,
            )
        code, _, reported = self.check("libs=missing.so:absent.so\n" + DEVICE)
        self.assertEqual((code, reported.count(f"mapid: {self.config}:1: libs=")), (1, 2), reported)
        done = subprocess.run(
            [BUILD / "bin/mapi-flow", "-r", TRACE, "OF_A_PLUG_IN"],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"MAPI_CONF": str(self.config), "MAPI_SOCKET": "none"},
        )
        self.assertEqual(done.returncode, 2)
        self.assertRegex(
            done.stderr,
            r'^mapi-flow: unknown function "OF_A_PLUG_IN": .*'
            rf"{self.config}:1: libs=missing.so: not found in libpath\n$",
        )

    def test_a_file_with_any_error_changes_nothing_at_a_reload(self):
        daemon = self.daemon(DEVICE)
        for wrong in (
            "local=x\n" + DEVICE,
            DEVICE + "[ipfixflib]\nidleTimeout=x\n",
            DEVICE + "[dag]\ndisable_dsm=7\n",
            "libs=missing.so\n" + DEVICE,
            DEVICE + "[format]\nformat=MFF_PCAP\n",
            DEVICE.replace("tap", "other") + "vlan=x\n",
        ):
            before = daemon.log().count("reload: ")
            daemon.config.write_text(wrong)
            daemon.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: daemon.log().count("reload: ") > before))
            reported = [line for line in daemon.log().splitlines() if "reload: " in line]
            self.assertRegex(reported[-1], r"reload: .*mapi.conf:\d+: .*; configuration unchanged$")
        client = daemon.client()
        client.do(COUNT.format("on_device('tap')"))
        self.assertEqual(client.get("flow.word(packets)"), TRACE_PACKETS)

    def test_mapid_logs_keys_without_effect_at_its_start_and_at_each_reload(self):
        daemon = self.daemon("dimapi_port=2233\n" + DEVICE)

        def reported():
            return daemon.log().count("mapi.conf:1: dimapi_port= has no effect: ")

        self.assertEqual(reported(), 1)
        daemon.process.send_signal(signal.SIGHUP)
        self.assertTrue(wait_until(lambda: reported() == 2), daemon.log())


class Keys(Test):
    def test_local_1_lets_mapid_and_programs_meet_in_the_users_home(self):
        self.config.write_text("local=1\n" + DEVICE)
        self.bare_daemon()
        socket = self.folder / ".mapid.sock"
        self.assertTrue(wait_until(socket.exists))
        environment = {"HOME": str(self.folder), "MAPI_CONF": str(self.config)}
        client = Client("", **environment)
        self.addCleanup(client.kill)
        client.do(COUNT.format("on_device('tap')"))
        self.assertEqual(client.get("flow.word(packets)"), TRACE_PACKETS)
        listed = subprocess.run(
            [BUILD / "bin/mapi-info", "flows"],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | environment | {"MAPI_SOCKET": ""},
        ).stdout
        self.assertIn("tap", listed)

    def test_log_level_and_logfile_are_mapids_unless_the_command_line_says_otherwise(self):
        log, other = self.folder / "mapid.log", self.folder / "other.log"
        socket = ["--socket", str(self.folder / "sock")]
        for line, options, place, is_info_reported in (
            ("log_level=1", [], log, True),
            ("syslog_level=0", [], log, False),
            ("log_level=error", [], log, False),
            ("log_level=0", ["--log-level", "info"], log, True),
            ("log_level=0", ["--verbose"], log, True),
            ("log_level=1", ["--log-file", str(other)], other, True),
        ):
            for path in (log, other):
                path.unlink(missing_ok=True)
            self.config.write_text(f"{line}\nlogfile={log}\n" + DEVICE)
            process = self.bare_daemon(*socket, *options)
            self.assertTrue(wait_until(lambda: (self.folder / "sock").exists() and place.exists()))
            process.terminate()
            self.assertEqual(process.wait(60), 0)
            self.assertEqual("listening at" in place.read_text(), is_info_reported, (line, options))
            self.assertEqual([path.exists() for path in (log, other) if path != place], [False])

    def test_a_logfile_that_cannot_be_written_is_reported(self):
        code, _, reported = self.check(f"logfile={self.folder}/none/log\n")
        self.assertEqual(
            (code, reported),
            (
                1,
                (
                    f"mapid: {self.config}:1: logfile={self.folder}/none/log: cannot write the "
                    "log: folder does not exist (create it first)\n"
                ),
            ),
        )
        done = subprocess.run(
            [Daemon.program(), "--config", self.config, "--socket", self.folder / "sock"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn(
            f"{self.folder}/none/log: cannot write the log: folder does not exist", done.stderr
        )
        self.assertFalse((self.folder / "none").exists())

    def test_a_log_level_is_applied_at_a_reload(self):
        self.config.write_text(f"log_level=0\nlogfile={self.folder / 'log'}\n" + DEVICE)
        process = self.bare_daemon("--socket", str(self.folder / "sock"))
        self.assertTrue(wait_until((self.folder / "sock").exists))
        self.config.write_text(self.config.read_text().replace("log_level=0", "log_level=2"))
        process.send_signal(signal.SIGHUP)
        self.assertTrue(wait_until(lambda: "reload: " in (self.folder / "log").read_text()))

    def test_a_format_is_read_by_the_driver_that_is_named_for_it(self):
        text = (
            f"drvpath={BUILD.resolve() / 'tests'}\n[format]\nformat=MFF_NAPATECH\n"
            "driver=mapi_example_plugin.so\n[format]\nformat=MFF_RAW\ndriver=pcap_file\n"
        )
        for client in (self.daemon(text).client(), self.daemon(text).alone()):
            client.do(COUNT.format(f"offline({str(TRACE)!r}, 1)"))
            self.assertEqual(client.get("flow.word(packets)"), TRACE_PACKETS)
            with self.assertRaises(ClientError) as caught:
                client.do(f"Flow.offline({str(TRACE)!r}, 3)")
            self.assertIn("no driver reads files of format 3", str(caught.exception))

    def test_a_driver_may_be_a_plug_in_along_drvpath(self):
        text = (
            f"drvpath=/nowhere:{BUILD.resolve() / 'tests'}\n[driver]\ndevice=made\n"
            "driver=mapi_example_plugin.so\npath=1001\n"
        )
        daemon = self.daemon(text)
        for client in (daemon.client(), daemon.alone()):
            client.do(COUNT.format("on_device('made')"))
            self.assertEqual(client.get("flow.word(packets)"), 1001)
            self.assertIn("EVERY_OTHER", client.get("function_names()"))


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
