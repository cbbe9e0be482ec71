#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-info record: the probes of a running mapid -> complete traces, of all slices or of some."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

import needs
from mapi_info_run import COUNT, NSDUMP, TAP, TRACE, Test, has_probes
from mapid import Daemon, wait_until


class Recording(Test):
    def setUp(self):
        if not has_probes():
            self.skipTest("built without probes")

    def recording(self, daemon, trace, *arguments):
        process = subprocess.Popen(
            self.command(daemon, "record", "-w", str(trace), *arguments),
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.assertTrue(wait_until(lambda: self.json(daemon)["mapid"]["is_recording"]))
        return process

    def test_a_running_mapid_is_recorded_with_a_slice_for_each_function_and_request(self):
        daemon = self.daemon()
        client = daemon.client()
        client.do(COUNT)
        trace = daemon.folder / "t.nsl"
        process = self.recording(daemon, trace, "-d", "1.5")
        client.do("size = Flow.on_device('tap')\nsize.apply('BYTE_COUNTER')\nsize.connect()")
        _, words = process.communicate(timeout=60)
        # records may be lost on a slow disk; they are counted
        self.assertIn(process.returncode, (0, 1), words)
        self.assertRegex(words, rf"{trace}: \d+ records")
        found = self.slices(trace)
        for name in (
            "driver_read",
            "dispatch",
            "publish",
            "BPF_FILTER",
            "PKT_COUNTER",
            "BYTE_COUNTER",
            "ipc_request",
            "ipc_reply",
        ):
            self.assertGreater(found.get(name, 0), 0, (name, found))
        self.assertFalse(self.json(daemon)["mapid"]["is_recording"])
        before = client.get("flow.word(packets)")
        self.assertTrue(wait_until(lambda: client.get("flow.word(packets)") > before))

    def test_only_selected_slices_are_recorded_and_the_selection_can_change(self):
        daemon = self.daemon()
        daemon.client().do(COUNT)
        trace = daemon.folder / "t.nsl"
        process = self.recording(daemon, trace, "--slices", "*_FILTER,!publish")
        time.sleep(0.3)
        subprocess.run(
            [NSDUMP, "control", "-p", str(daemon.process.pid), "--slices", "publish"], check=True
        )
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=60)
        self.assertIn(process.returncode, (0, 1), words)
        slices = self.slices(trace)
        self.assertEqual(set(slices), {"BPF_FILTER", "publish"})
        self.assertTrue(all(count > 0 for count in slices.values()), slices)
        self.assertIn(
            "slices=a,: a pattern is missing after the last comma",
            self.run_info(
                daemon, "record", "--slices", "a,", "-w", str(daemon.folder / "o.nsl"), code=3
            ),
        )

    def test_an_interrupted_recording_is_complete_and_the_next_one_may_begin(self):
        daemon = self.daemon()
        daemon.client().do(COUNT)
        trace = daemon.folder / "t.nsl"
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.recording(daemon, trace)
            time.sleep(0.2)
            process.send_signal(number)
            _, words = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 1), words)
            self.assertGreater(self.slices(trace)["driver_read"], 0)

    def test_when_mapi_info_is_killed_the_recording_is_complete(self):
        daemon = self.daemon()
        daemon.client().do(COUNT)
        trace = daemon.folder / "t.nsl"
        process = self.recording(daemon, trace)
        time.sleep(0.2)
        process.kill()
        process.wait()
        self.assertTrue(wait_until(lambda: " lost, " in daemon.log()))
        self.assertGreater(self.slices(trace)["driver_read"], 0)
        self.assertFalse(self.json(daemon)["mapid"]["is_recording"])

    def test_when_mapid_ends_the_recording_is_complete(self):
        daemon = self.daemon()
        daemon.client().do(COUNT)
        trace = daemon.folder / "t.nsl"
        process = self.recording(daemon, trace)
        time.sleep(0.2)
        daemon.terminate()
        _, words = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("mapid has exited", words)
        self.assertGreater(self.slices(trace)["driver_read"], 0)

    def test_a_second_recording_is_refused_with_a_message_and_leaves_no_file(self):
        daemon = self.daemon()
        process = self.recording(daemon, daemon.folder / "first.nsl")
        self.assertIn(
            "already being recorded",
            self.run_info(
                daemon, "record", "-d", "1", "-w", str(daemon.folder / "second.nsl"), code=3
            ),
        )
        self.assertFalse((daemon.folder / "second.nsl").exists())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    def test_only_an_empty_file_or_a_trace_is_overwritten(self):
        daemon = self.daemon()
        daemon.client().do(COUNT)
        precious = daemon.folder / "precious"
        precious.write_text("mine")
        self.assertIn(
            "is not a trace",
            self.run_info(daemon, "record", "-d", "1", "-w", str(precious), code=3),
        )
        self.assertEqual(precious.read_text(), "mine")
        pipe = daemon.folder / "pipe"
        os.mkfifo(pipe)
        self.assertIn(
            "regular file", self.run_info(daemon, "record", "-d", "1", "-w", str(pipe), code=3)
        )
        self.assertIn(
            "create its folder first",
            self.run_info(
                daemon, "record", "-d", "1", "-w", str(daemon.folder / "no/t.nsl"), code=3
            ),
        )
        trace = daemon.folder / "t.nsl"
        for _ in range(2):
            subprocess.run(
                self.command(daemon, "record", "-d", "0.2", "-w", str(trace)),
                capture_output=True,
                timeout=60,
                check=False,
            )
            self.assertGreater(self.slices(trace)["driver_read"], 0)

    def test_a_daemon_records_itself_from_its_start_until_it_ends(self):
        trace = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"mapid-{os.getpid()}.nsl"
        self.addCleanup(lambda: trace.unlink(missing_ok=True))
        daemon = self.daemon(TAP, "--record", str(trace))
        daemon.client().do(COUNT)
        self.assertIn(
            "already being recorded",
            self.run_info(
                daemon, "record", "-d", "1", "-w", str(daemon.folder / "second.nsl"), code=3
            ),
        )
        time.sleep(0.3)
        self.assertEqual(daemon.terminate(), 0, daemon.log())
        found = self.slices(trace)
        for name in (
            "driver_read",
            "dispatch",
            "publish",
            "BPF_FILTER",
            "PKT_COUNTER",
            "ipc_request",
        ):
            self.assertGreater(found.get(name, 0), 0, (name, found))
        self.assertIn("records", daemon.log())

    def test_a_trace_that_cannot_be_created_is_reported_at_the_start(self):
        done = subprocess.run(
            [
                Daemon.program(),
                "--socket",
                "/tmp/nowhere.sock",
                "--record",
                "/no/such/folder/t.nsl",
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("/no/such/folder/t.nsl", done.stderr)


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
