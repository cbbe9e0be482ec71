#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Closed flows, and clients that have gone in any way, leave nothing in mapid: no file, no thread,
no memory; and what all clients of a user hold together is limited."""

import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time
import unittest

import needs
from capture_files import ipv4, pcap, tcp
from mapi_metrics_test import parse
from mapi_raw import CONNECT, CREATE_FLOW, DESCRIBE_NAME, HELLO, VERSION, Raw, call
from mapid import BUILD, DATA, SANITIZER, ClientError, Daemon, free_port, wait_until

TRACE = DATA / "mapi/tracefile"
CONFIG = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
ROUNDS, CLIENTS = 3, 6
# live threads keep some hundred small pieces each (glibc's tcache), and each piece keeps a page
LEFT_MIB = 8
RAW_IP = 101
ADDRESSES = 60000
HANDSHAKE = call(HELLO, (1, VERSION))
LIVING = """
import random
generator = random.Random({seed})
flows = [Flow.on_device('tap') for _ in range(10)]
for number, flow in enumerate(flows[:5]):
    flow.apply('BPF_FILTER', 'tcp or port %d' % generator.randrange(1, 60000))
    for _ in range(150):
        flow.apply('STR_SEARCH', 'x%08x' % generator.randrange(2**32), 0, 0)
functions = (('TO_BUFFER', 0), ('TOP', 10, 1, 8), ('COOKING', -1, 30, 0, 3),
             ('EXPIRED_FLOWS', 10, 10, 0), ('REGEXP', 'a[0-9]+b.*c'))
for flow, (name, *arguments) in zip(flows[5:], functions):
    flow.apply(name, *arguments)
for flow in flows:
    flow.connect()
"""

BUSY = """
import random
generator = random.Random({seed})
while True:
    flows = [Flow.on_device('tap') for _ in range(3)]
    for flow in flows:
        flow.apply('BPF_FILTER', 'port %d' % generator.randrange(1, 60000))
        for _ in range(20):
            flow.apply('STR_SEARCH', 'x%08x' % generator.randrange(2**32), 0, 0)
        flow.apply(*generator.choice((
            ('TO_BUFFER', 0), ('TOP', 10, 1, 8), ('HASHSAMP', 50, 0),
            ('EXPIRED_FLOWS', 10, 10, 0), ('HASH', 3), ('PKT_COUNTER',))))
        flow.connect()
    for flow in flows[:2]:
        flow.close()
"""


def many_addresses(path):
    generator = random.Random(1)
    packet = ipv4(6, tcp(1, 80))
    path.write_bytes(
        pcap(RAW_IP, [packet[:12] + generator.randbytes(8) + packet[20:] for _ in range(ADDRESSES)])
    )


class Churn(unittest.TestCase):
    def start(self, *options, config=CONFIG):
        self.daemon = Daemon(config, "--log-level", "warning", *options)
        self.addCleanup(self.daemon.close)

    def start_with_many_addresses(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        trace = pathlib.Path(folder.name) / "many.pcap"
        many_addresses(trace)
        self.start(config=f"[driver]\ndevice=tap\npath={trace}\nrepeat=forever\n")

    def anonymous_mib(self):
        return (
            int(
                re.search(
                    r"RssAnon:\s+(\d+)",
                    pathlib.Path(f"/proc/{self.daemon.process.pid}/status").read_text(),
                )[1]
            )
            / 1024
        )

    def state(self):
        return self.daemon.threads(), self.daemon.descriptors(), self.daemon.memories()

    def test_killed_clients_leave_no_memory_file_or_thread(self):
        self.start()
        before, before_mib, living_mib = self.state(), self.anonymous_mib(), []
        for number in range(ROUNDS):
            clients = [self.daemon.client() for _ in range(CLIENTS)]
            with contextlib.ExitStack() as at_end:
                for client in clients:
                    at_end.callback(client.kill)
                for place, client in enumerate(clients):
                    client.do(LIVING.format(seed=number * CLIENTS + place))
                living_mib.append(self.anonymous_mib())
            self.daemon.clients.clear()
            self.assertTrue(
                wait_until(lambda: all(now <= was for now, was in zip(self.state(), before)), 60),
                (before, self.state()),
            )
        if SANITIZER:  # it keeps what is freed
            return
        self.assertTrue(
            wait_until(lambda: self.anonymous_mib() - before_mib < LEFT_MIB, 10),
            (before_mib, living_mib, self.anonymous_mib()),
        )
        self.assertLess(
            living_mib[-1], living_mib[0] * 1.5 + LEFT_MIB, "it grows from round to round"
        )

    def test_flows_that_are_closed_leave_no_memory_while_their_client_lives(self):
        self.start_with_many_addresses()
        client = self.daemon.client()
        client.do("Flow.on_device('tap').close()")
        before_mib = self.anonymous_mib()
        client.do(
            "flows = [Flow.on_device('tap') for _ in range(8)]\nfor flow in flows:\n"
            "    flow.apply('TOP', 10, 1, 8)\n    flow.connect()"
        )
        self.assertTrue(
            wait_until(lambda: self.anonymous_mib() - before_mib > 3 * LEFT_MIB, 60),
            self.anonymous_mib(),
        )
        client.do("for flow in flows: flow.close()")
        if not SANITIZER:
            self.assertTrue(
                wait_until(lambda: self.anonymous_mib() - before_mib < LEFT_MIB, 20),
                (before_mib, self.anonymous_mib()),
            )

    def test_small_pieces_of_memory_of_killed_clients_are_returned_to_the_system(self):
        self.start_with_many_addresses()
        before, before_mib = self.state(), self.anonymous_mib()
        for _ in range(2):
            clients = [self.daemon.client() for _ in range(4)]
            for client in clients:
                client.do(
                    "for _ in range(2):\n    flow = Flow.on_device('tap')\n"
                    "    flow.apply('TOP', 10, 1, 8)\n    flow.connect()"
                )
            self.assertTrue(
                wait_until(lambda: self.anonymous_mib() - before_mib > 3 * LEFT_MIB, 60),
                self.anonymous_mib(),
            )
            for client in clients:
                client.kill()
            self.assertTrue(wait_until(lambda: self.state() == before, 60), (before, self.state()))
            if not SANITIZER:
                self.assertTrue(
                    wait_until(lambda: self.anonymous_mib() - before_mib < LEFT_MIB, 20),
                    (before_mib, self.anonymous_mib()),
                )

    def test_a_client_killed_while_the_packet_thread_is_busy_leaves_nothing_without_a_request(self):
        self.start(config=f"libs={BUILD.resolve()}/tests/slow_plugin.so\n" + CONFIG)
        slow, killed = self.daemon.client(), self.daemon.client()
        slow.do("flow = Flow.on_device('tap')\nflow.apply('SLOW', 300)\nflow.connect()")
        before, before_mib = self.state(), self.anonymous_mib()
        killed.do(
            "flow = Flow.on_device('tap')\nflow.apply('TO_BUFFER', 0)\n"
            "flow.apply('TOP', 10, 1, 8)\nflow.connect()"
        )
        time.sleep(3)  # the packet thread has its flow
        killed.kill()
        self.assertTrue(wait_until(lambda: self.daemon.memories() == 1, 20), (before, self.state()))
        if not SANITIZER:
            self.assertTrue(
                wait_until(lambda: self.anonymous_mib() - before_mib < LEFT_MIB, 20),
                (before_mib, self.anonymous_mib()),
            )

    def test_silent_incomplete_unread_and_killed_clients_leave_nothing_next_to_a_live_one(self):
        self.start()
        living = self.daemon.client()
        living.do(
            "flow = Flow.on_device('tap')\nflow.apply('BPF_FILTER', 'tcp')\n"
            "packets = flow.apply('PKT_COUNTER')\nflow.connect()"
        )
        threads, files, memories = self.state()
        # the device keeps the thread that builds node groups
        before, before_mib = (threads + 1, files, memories), self.anonymous_mib()
        for number in range(ROUNDS):
            with contextlib.ExitStack() as at_end:
                # before the handshake
                for data in [None] * 8 + [HANDSHAKE[:1]] * 4 + [b"", b"\xff"]:
                    client = Raw(self.daemon.socket, is_greeted=False)
                    at_end.callback(client.close)
                    if data is not None:
                        client.send(data)
                # after it: silent, with flows that are not connected, with replies that are never
                # read
                for place in range(8):
                    client = Raw(self.daemon.socket)
                    at_end.callback(client.close)
                    for flow in range(1, 100 if place % 4 else 1):
                        client.send(call(CREATE_FLOW, (1, flow), (2, "tap")))
                        client.send(
                            call(
                                *(
                                    (DESCRIBE_NAME, (1, "x" * 1000))
                                    if place % 4 == 1
                                    else (CONNECT, (1, flow))
                                )
                            )
                        )
                for place in range(4):
                    client = self.daemon.client()
                    at_end.callback(client.kill)
                    client.begin(BUSY.format(seed=number * 4 + place))
                time.sleep(2)
            self.daemon.clients[1:] = []
            self.assertTrue(
                wait_until(lambda: all(now <= was for now, was in zip(self.state(), before)), 60),
                (before, self.state()),
            )
        packets = living.get("flow.word(packets)")
        self.assertTrue(wait_until(lambda: living.get("flow.word(packets)") > packets))
        if not SANITIZER:
            self.assertTrue(
                wait_until(lambda: self.anonymous_mib() - before_mib < 2 * LEFT_MIB, 20),
                (before_mib, self.anonymous_mib()),
            )

    def test_flows_without_functions_count_towards_the_memory_of_their_client(self):
        for options, config in (
            (("--max-function-memory", "1"), ""),
            ((), "max_function_memory=1\n"),
            (("--max-function-memory", "1"), "max_function_memory=5\n"),
        ):
            self.start(*options, config=config + CONFIG)
            client = self.daemon.client()
            with self.assertRaisesRegex(
                ClientError,
                r"6162.*the client has \d+ bytes of memory for flows, functions and captures; "
                r"mapid's limit is 1048576 \(--max-function-memory\)",
            ):
                client.do("flows = []\nwhile len(flows) < 200: flows.append(Flow.on_device('tap'))")
            self.assertEqual(client.get("len(flows)"), 128)
            client.do("for flow in flows: flow.close()\nflow = Flow.on_device('tap')")

    def test_memory_for_results_and_packets_has_the_limit_of_mapi_conf_or_of_an_option(self):
        for options, is_enough in (((), False), (("--max-memory", "64"), True)):
            self.start(*options, config="max_memory=1\n" + CONFIG)
            client = self.daemon.client()
            client.do("flow = Flow.on_device('tap')")
            self.assertEqual(client.get("flow.try_apply('TO_BUFFER', 0)") > 0, is_enough)
            self.assertIn(
                "" if is_enough else "memory limit of 1 MiB (--max-memory)",
                client.get("flow.error()"),
            )

    def test_what_all_clients_of_a_user_hold_is_counted_reported_and_limited(self):
        port = free_port()
        self.start("--max-user-memory", "200", "--group", "root", "--metrics", f"127.0.0.1:{port}")
        clients = [self.daemon.client(user="nobody", groups=[0]) for _ in range(3)]
        top = "flow = Flow.on_device('tap')\nflow.apply('TOP', 10, 1, 8)\nflow.connect()"
        for client in clients[:2]:
            client.do(top)
        for _ in range(2):  # reported the same again
            with self.assertRaisesRegex(
                ClientError,
                r"6162.*user \d+ already uses up to .* of its 200 MiB \(--max-user-memory\)",
            ):
                clients[2].do(top)
        self.assertGreater(self.user_bytes(port), 2 * 80 << 20)
        done = subprocess.run(
            [BUILD / "bin/mapi-info", "--socket", self.daemon.socket, "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        flows = json.loads(done.stdout)["flows"]
        self.assertEqual({flow["user_bytes"] for flow in flows}, {self.user_bytes(port)})
        table = subprocess.run(
            [BUILD / "bin/mapi-info", "flows", "--socket", self.daemon.socket],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertIn(
            f"{self.user_bytes(port) / 2**20:.1f}",
            [line.split()[9] for line in table.splitlines()[1:]],
        )
        # results and packets count, too
        with self.assertRaisesRegex(ClientError, r"6162.*--max-user-memory"):
            clients[2].do(
                "flows = [Flow.on_device('tap') for _ in range(30)]\nfor flow in flows:\n"
                "    flow.apply('TO_BUFFER', 0)"
            )
        clients[0].kill()
        self.assertTrue(wait_until(lambda: self.user_bytes(port) < 150 << 20))
        clients[2].do(top)
        root = self.daemon.client()
        root.do("\n".join([top] * 4))  # not limited per user

    def user_bytes(self, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        with contextlib.closing(connection):
            connection.request("GET", "/metrics")
            samples = parse(connection.getresponse().read().decode())
        return sum(
            value
            for (name, labels), value in samples.items()
            if name == "mapi_user_memory_bytes" and labels != (("user", "0"),)
        )


if __name__ == "__main__":
    needs.captures(TRACE)
    if os.geteuid() != 0:
        needs.skip("requires root, to run as another user")
    unittest.main()
