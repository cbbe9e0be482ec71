#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapid ends, is killed or is stopped: every call of its clients reports it, no reader takes
leftovers for new data, and flows continue with the next mapid."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

import needs
from mapid import BUILD, DATA, FLOW_GONE, ClientError, Daemon, wait_until

TRACE = DATA / "mapi/tracefile"
ENDS = {"SIGTERM": signal.SIGTERM, "SIGKILL": signal.SIGKILL, "SIGSTOP": signal.SIGSTOP}
PROMPT_S = 8  # of a stopped mapid: it has to be silent for a while

# tap never ends; no packet passes the filter.
CONFIG = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
PREPARE = f"""
import threading, select
library = Flow.library
library.mapi_get_next_pkt.restype = ctypes.c_void_p
handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda packet: None)
room = (ctypes.c_void_p * 64)()
never = 'tcp and host 255.1.2.3'
counting = Flow.on_device('tap')
packets, ranking = counting.apply('PKT_COUNTER'), counting.apply('TOP', 10, 2, 11)
expired = counting.apply('EXPIRED_FLOWS', 10, 10, 0)
counting.connect()
quiet = Flow.on_device('tap')
quiet.apply('BPF_FILTER', never)
quiet_packets, waits = quiet.apply('PKT_COUNTER'), quiet.apply('TO_BUFFER', 0)
returns, polled = quiet.apply('TO_BUFFER', 1), quiet.apply('TO_BUFFER', 1)
looped, samples = quiet.apply('TO_BUFFER', 0), quiet.apply('HASHSAMP', 1024, 1)
batched = quiet.apply('TO_BUFFER', 0)
quiet.connect()
event = library.mapi_get_poll_descriptor(quiet.fd, polled)
library.mapi_get_next_pkts(quiet.fd, polled, room, 64, 0)
finished = Flow.offline({str(TRACE)!r})
final, kept = finished.apply('PKT_COUNTER'), finished.apply('TO_BUFFER', 0)
finished.run()
seen = {{}}
def waiter(name, call):
    def run():
        started = time.monotonic()
        value = call()
        seen[name] = [value, Flow.error(), time.monotonic() - started]
    threading.Thread(target=run, daemon=True).start()
waiter('mapi_get_next_pkt', lambda: library.mapi_get_next_pkt(quiet.fd, waits))
waiter('mapi_loop', lambda: library.mapi_loop(quiet.fd, looped, 0, handler))
waiter('mapi_get_next_pkts', lambda: library.mapi_get_next_pkts(quiet.fd, batched, room, 64, -1))
waiter('mapi_wait_flow', lambda: library.mapi_wait_flow(quiet.fd, -1))
waiter('results one by one', lambda: bool(library.mapi_read_results(quiet.fd, samples)))
time.sleep(0.3)
"""
WAITERS = {
    "mapi_get_next_pkt": None,
    "mapi_loop": -1,
    "mapi_get_next_pkts": -1,
    "mapi_wait_flow": -1,
    "results one by one": False,
}


class Test(unittest.TestCase):
    def daemon(self, *options):
        daemon = Daemon(CONFIG, *options)
        self.addCleanup(self.end, daemon)
        return daemon

    @staticmethod
    def end(daemon):
        for client in daemon.clients:
            if not client.process.stdout.closed:
                client.kill()
        daemon.process.kill()
        daemon.process.wait()
        daemon.temporary.cleanup()

    @staticmethod
    def stop(daemon, how):
        daemon.process.send_signal(how)
        if how != signal.SIGSTOP:
            daemon.process.wait(60)
            return

        # The signal stops one thread after the other; the last ones may still answer.
        def states():
            return {
                status.read_text().rsplit(")", 1)[1].split()[0]
                for status in pathlib.Path(f"/proc/{daemon.process.pid}/task").glob("*/stat")
            }

        assert wait_until(lambda: states() == {"T"}), states()

    def assert_gone(self, client, call, text="mapid"):
        with self.assertRaises(ClientError) as raised:
            client.do(call)
        self.assertIn(f"{FLOW_GONE}:", str(raised.exception))
        self.assertIn(text, str(raised.exception))

    def gone_soon(self, client, call):
        end = time.monotonic() + PROMPT_S
        while time.monotonic() < end:
            try:
                client.do(call)
            except ClientError:
                return
            time.sleep(0.05)
        self.fail(f"{call} keeps succeeding")


class End(Test):
    def test_each_call_that_reads_fails_once_mapid_has_ended_has_been_killed_or_is_stopped(self):
        for name, how in ENDS.items():
            with self.subTest(end=name):
                daemon = self.daemon()
                client = daemon.client()
                client.do(PREPARE)
                self.assertTrue(wait_until(lambda: client.get("counting.word(packets)") > 0))
                self.stop(daemon, how)
                for flow, function in (
                    ("counting", "packets"),
                    ("quiet", "quiet_packets"),
                    ("counting", "ranking"),
                    ("counting", "expired"),
                ):
                    self.gone_soon(client, f"{flow}.words({function})")
                    for _ in range(3):
                        self.assert_gone(client, f"{flow}.words({function})")
                        time.sleep(0.1)

    def test_calls_that_wait_return_with_that_error(self):
        for name, how in ENDS.items():
            with self.subTest(end=name):
                daemon = self.daemon()
                client = daemon.client()
                client.do(PREPARE)
                self.assertEqual(client.get("seen"), {})
                self.stop(daemon, how)
                self.assertTrue(
                    wait_until(lambda: client.get("len(seen)") == len(WAITERS), PROMPT_S),
                    client.get("seen"),
                )
                for call, value in WAITERS.items():
                    got, error, _ = client.get(f"seen[{call!r}]")
                    self.assertEqual(got, value, call)
                    self.assertIn(f"{FLOW_GONE}:", error, call)
                if how != signal.SIGSTOP:  # polling a stopped mapid waits, as for packets
                    self.assertEqual(client.get("len(select.select([event], [], [], 5)[0])"), 1)
                self.assertEqual(
                    client.get(
                        "[library.mapi_get_next_pkts(quiet.fd, polled, room, 64, 0), "
                        "Flow.error().split(':')[0]]"
                    ),
                    [-1, str(FLOW_GONE)],
                )
                self.assertEqual(
                    client.get(
                        "[library.mapi_get_next_pkt(quiet.fd, returns), Flow.error().split(':')[0]]"
                    ),
                    [None, str(FLOW_GONE)],
                )

    def test_requests_also_fail_with_it_even_if_mapid_is_stopped(self):
        for name, how in ENDS.items():
            with self.subTest(end=name):
                daemon = self.daemon()
                client = daemon.client()
                client.do(PREPARE)
                self.stop(daemon, how)
                self.assert_gone(client, "counting.information(packets)")
                self.assert_gone(client, "counting.reset(packets)")

    def test_results_of_a_trace_that_has_ended_stay_readable_to_its_last_packet(self):
        for name, how in ENDS.items():
            with self.subTest(end=name):
                daemon = self.daemon()
                client = daemon.client()
                client.do(PREPARE)
                self.stop(daemon, how)
                time.sleep(0.5)
                self.assertEqual(client.get("finished.word(final)"), 893)
                self.assertEqual(client.get("len(list(finished.packets(kept)))"), 893)
                self.assertEqual(client.get("library.mapi_wait_flow(finished.fd, 0)"), 0)

    def test_mapi_count_and_mapi_flow_end_with_an_error_and_without_counts(self):
        for name, how in ENDS.items():
            for command in (
                ["mapi-count", "-i", "tap", "tcp"],
                ["mapi-flow", "-i", "tap", "PKT_COUNTER"],
            ):
                with self.subTest(end=name, command=command[0]):
                    daemon = self.daemon()
                    program = subprocess.Popen(
                        [BUILD / "bin" / command[0], *command[1:]],
                        env=os.environ | {"MAPI_SOCKET": str(daemon.socket)},
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        text=True,
                    )
                    self.assertTrue(
                        wait_until(
                            lambda: re.search(r"flow \d+: connect$", daemon.log(), re.MULTILINE)
                        )
                    )
                    time.sleep(0.2)
                    self.stop(daemon, how)
                    output, errors = program.communicate(timeout=PROMPT_S + 10)
                    self.assertNotEqual(program.returncode, 0)
                    self.assertIn("mapid at", errors)
                    self.assertEqual(output, "")

    def test_a_mapid_that_was_stopped_and_continues_is_read_again(self):
        daemon = self.daemon()
        client = daemon.client()
        client.do(
            "flow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\nflow.connect()"
        )
        self.stop(daemon, signal.SIGSTOP)
        self.gone_soon(client, "flow.word(packets)")
        daemon.process.send_signal(signal.SIGCONT)
        self.assertTrue(
            wait_until(
                lambda: client.get("bool(Flow.library.mapi_read_results(flow.fd, packets))"),
                PROMPT_S,
            )
        )
        before = client.get("flow.word(packets)")
        self.assertTrue(wait_until(lambda: client.get("flow.word(packets)") > before))


class Fork(Test):
    def in_child(self, client, expression):
        """Its value in a child of the client."""
        client.do(
            "import json, os, signal\nready, reported = os.pipe()\nchild = os.fork()\n"
            "if child == 0:\n    signal.alarm(20)\n"
            f"    os.write(reported, json.dumps({expression}).encode())\n    os._exit(0)\n"
            "os.close(reported)\nended = os.waitpid(child, 0)[1]\n"
            "value = os.read(ready, 65536).decode()"
        )
        self.assertEqual(client.get("ended"), 0, f"{expression} hangs in a child")
        return json.loads(client.get("value"))

    def test_a_child_takes_nothing_of_its_parents_flows_and_waits_for_none_of_its_threads(self):
        daemon = self.daemon()
        client = daemon.client()
        client.do(
            PREPARE
            + "busy = Flow.on_device('tap')\nkept = busy.apply('TO_BUFFER', 0)\nbusy.connect()\n"
            "for _ in range(3): assert library.mapi_get_next_pkt(busy.fd, kept)\n"
        )
        for call, value in {
            "library.mapi_get_next_pkt(busy.fd, kept)": None,
            "library.mapi_get_next_pkts(busy.fd, kept, room, 64, 0)": -1,
            "library.mapi_get_next_pkt(quiet.fd, waits)": None,
            "library.mapi_loop(quiet.fd, looped, 0, handler)": -1,
            "bool(library.mapi_read_results(quiet.fd, samples))": False,
            "library.mapi_close_flow(quiet.fd)": -1,
        }.items():
            with self.subTest(call=call):
                got, error = self.in_child(client, f"[{call}, Flow.error()]")
                self.assertEqual(got, value)
                self.assertIn(f"{FLOW_GONE}:", error)
                self.assertIn("was forked from", error)
        self.assertEqual(
            self.in_child(
                client,
                "[library.mapi_reconnect(busy.fd), bool(library.mapi_get_next_pkt(busy.fd, kept))]",
            ),
            [0, True],
        )
        self.assertEqual(client.get("bool(library.mapi_get_next_pkt(busy.fd, kept))"), True)


class Reconnect(Test):
    def restart(self, daemon, how=signal.SIGTERM):
        daemon.process.send_signal(how)
        daemon.process.wait(60)
        daemon.start()

    def test_a_flow_continues_with_the_next_mapid_with_functions_and_options_from_zero(self):
        for name, how in (("SIGTERM", signal.SIGTERM), ("SIGKILL", signal.SIGKILL)):
            with self.subTest(end=name):
                daemon = self.daemon()
                client = daemon.client()
                client.do(
                    "flow = Flow.on_device('tap')\nlibrary = Flow.library\n"
                    "assert library.mapi_set_flow_option(flow.fd, 2, ctypes.c_uint64(40)) == 0\n"
                    "library.mapi_get_next_pkt.restype = ctypes.c_void_p\n"
                    "every = flow.apply('PKT_COUNTER')\nremoved = flow.apply('BYTE_COUNTER')\n"
                    "flow.remove(removed)\nflow.apply('BPF_FILTER', 'tcp')\n"
                    "tcp, buffer = flow.apply('PKT_COUNTER'), flow.apply('TO_BUFFER', 0)\n"
                    "flow.connect()"
                )
                self.assertTrue(wait_until(lambda: client.get("flow.word(tcp)") > 5000))
                self.restart(daemon, how)
                self.gone_soon(client, "flow.word(tcp)")
                self.assertEqual(
                    client.get("[library.mapi_reconnect(flow.fd), Flow.error()]"), [0, "0: "]
                )
                self.assertTrue(wait_until(lambda: client.get("flow.word(every)") > 893))
                every, tcp = client.get("[flow.word(every), flow.word(tcp)]")
                self.assertAlmostEqual(tcp / every, 596 / 893, delta=0.1)
                self.assertEqual(
                    client.get(
                        "[len(packet) for packet, _ in zip(flow.packets(buffer), range(3))]"
                    ),
                    [40, 40, 40],
                )
                self.assert_refused(client, "flow.words(removed)", "6147")
                self.assertEqual(client.get("library.mapi_close_flow(flow.fd)"), 0)

    def assert_refused(self, client, call, number):
        with self.assertRaises(ClientError) as raised:
            client.do(call)
        self.assertIn(number, str(raised.exception))

    def test_flows_that_refer_to_others_continue_after_these(self):
        daemon = self.daemon()
        client = daemon.client()
        client.do(
            "one, other = Flow.on_device('tap'), Flow.on_device('tap')\nlibrary = Flow.library\n"
            "size = one.apply('PKTINFO', 1)\n"
            "stats = other.apply('STATS', one.fd, size, '0')\none.connect()\nother.connect()"
        )
        self.restart(daemon)
        self.assertEqual(client.get("library.mapi_reconnect(other.fd)"), -1)
        self.assertIn("no flow", client.get("Flow.error()"))
        self.assertEqual(
            client.get("[library.mapi_reconnect(one.fd), library.mapi_reconnect(other.fd)]"), [0, 0]
        )
        self.assertTrue(wait_until(lambda: client.get("other.words(stats)[0]") > 0))

    def test_a_flow_left_behind_does_not_appear_alive_while_another_is_read_at_the_next_mapid(self):
        daemon = self.daemon()
        client = daemon.client()
        client.do(
            "left, right = Flow.on_device('tap'), Flow.on_device('tap')\n"
            "library, read = Flow.library, Flow.library.mapi_read_results\n"
            "old, new = left.apply('PKT_COUNTER'), right.apply('PKT_COUNTER')\nleft.connect()\n"
            "right.connect()\nleft.words(old)"
        )
        self.restart(daemon, signal.SIGKILL)
        self.gone_soon(client, "right.words(new)")
        self.assertEqual(client.get("library.mapi_reconnect(right.fd)"), 0)
        client.do(
            "for _ in range(20000): read(right.fd, new)\nreads = 0\n"
            "while reads < 100 and read(left.fd, old):\n    reads += 1\n"
            "    for _ in range(100): read(right.fd, new)"
        )
        self.assertEqual(client.get("reads"), 0)

    def test_a_flow_whose_mapid_still_runs_or_that_is_captured_in_process_is_unchanged(self):
        daemon = self.daemon()
        for client in (daemon.client(), daemon.alone()):
            client.do(
                "flow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\nflow.connect()"
            )
            self.assertTrue(wait_until(lambda: client.get("flow.word(packets)") > 893))
            self.assertEqual(client.get("Flow.library.mapi_reconnect(flow.fd)"), 0)
            self.assertGreater(client.get("flow.word(packets)"), 893)

    def test_a_flow_that_cannot_continue_says_why_and_can_be_tried_again(self):
        daemon = self.daemon()
        client = daemon.client()
        client.do(
            "flow = Flow.on_device('tap')\nlibrary = Flow.library\n"
            "packets = flow.apply('PKT_COUNTER')\nflow.connect()\n"
            "writes = Flow.on_device('tap')\n"
            f"writes.apply('TO_FILE', 0, {str(daemon.folder / 'written')!r}, ctypes.c_uint64(0))\n"
            "writes.connect()"
        )
        daemon.process.send_signal(signal.SIGTERM)
        daemon.process.wait(60)
        self.assertEqual(
            client.get("[library.mapi_reconnect(flow.fd), Flow.error().split(':')[0]]"),
            [-1, "5124"],
        )
        daemon.config.write_text(CONFIG.replace("tap", "other"))
        daemon.start()
        self.assertEqual(
            client.get("[library.mapi_reconnect(flow.fd), Flow.error().split(':')[0]]"),
            [-1, "3200"],
        )
        daemon.config.write_text(CONFIG)
        self.restart(daemon)
        self.assertEqual(client.get("library.mapi_reconnect(flow.fd)"), 0)
        self.assertTrue(wait_until(lambda: client.get("flow.word(packets)") > 0))
        self.assertEqual(
            client.get("[library.mapi_reconnect(writes.fd), Flow.error().split(':')[0]]"),
            [-1, "7009"],
        )
        self.assertEqual(
            client.get("[library.mapi_reconnect(12345), Flow.error().split(':')[0]]"), [-1, "6145"]
        )

    def test_a_capture_is_read_again_from_its_start(self):
        daemon = self.daemon()
        client = daemon.client()
        client.do(
            f"flow = Flow.offline({str(TRACE)!r})\npackets = flow.apply('PKT_COUNTER')\n"
            "buffer = flow.apply('TO_BUFFER', 0)\nflow.connect()"
        )
        self.restart(daemon)
        self.assertEqual(client.get("Flow.library.mapi_reconnect(flow.fd)"), 0)
        self.assertEqual(client.get("len(list(flow.packets(buffer)))"), 893)


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
