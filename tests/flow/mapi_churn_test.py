#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that are killed leave nothing in mapid: no file, no thread, no memory; and what all clients of a user have together is bounded."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import subprocess
import unittest

import needs
from mapid import BUILD, DATA, SANITIZER, ClientError, Daemon, free_port, wait_until
from mapi_metrics_test import parse

TRACE = DATA / "mapi/tracefile"
CONFIG = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
ROUNDS, CLIENTS = 3, 6
LEFT_MIB = 8
LIVING = """
import random
generator = random.Random({seed})
flows = [Flow.on_device('tap') for _ in range(10)]
for number, flow in enumerate(flows[:5]):
    flow.apply('BPF_FILTER', 'tcp or port %d' % generator.randrange(1, 60000))
    for _ in range(150):
        flow.apply('STR_SEARCH', 'x%08x' % generator.randrange(2**32), 0, 0)
for flow, (name, *arguments) in zip(flows[5:], (('TO_BUFFER', 0), ('TOP', 10, 1, 8), ('COOKING', -1, 30, 0, 3), ('EXPIRED_FLOWS', 10, 10, 0), ('REGEXP', 'a[0-9]+b.*c'))):
    flow.apply(name, *arguments)
for flow in flows:
    flow.connect()
"""


class Churn(unittest.TestCase):
    def start(self, *options):
        self.daemon = Daemon(CONFIG, "-l", "warning", *options)
        self.addCleanup(self.daemon.close)

    def anonymous_mib(self):
        return int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{self.daemon.process.pid}/status").read_text())[1]) / 1024

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
            self.assertTrue(wait_until(lambda: all(now <= was for now, was in zip(self.state(), before)), 60), (before, self.state()))
        if SANITIZER: # keeps what is freed
            return
        self.assertTrue(wait_until(lambda: self.anonymous_mib() - before_mib < LEFT_MIB, 10), (before_mib, living_mib, self.anonymous_mib()))
        self.assertLess(living_mib[-1], living_mib[0] * 1.5 + LEFT_MIB, "it grows from round to round")

    def test_what_all_clients_of_a_user_have_is_counted_told_and_bounded(self):
        port = free_port()
        self.start("--max-user-memory", "200", "-g", "root", "--metrics", f"127.0.0.1:{port}")
        clients = [self.daemon.client(user="nobody", groups=[0]) for _ in range(3)]
        top = "flow = Flow.on_device('tap')\nflow.apply('TOP', 10, 1, 8)\nflow.connect()"
        for client in clients[:2]:
            client.do(top)
        for _ in range(2): # told the same again
            with self.assertRaisesRegex(ClientError, r"6162.*what user \d+ has could need .* of its 200 MiB already \(--max-user-memory\)"):
                clients[2].do(top)
        self.assertGreater(self.user_bytes(port), 2 * 80 << 20)
        done = subprocess.run([BUILD / "bin/mapi-info", "--socket", self.daemon.socket, "--json"], capture_output=True, text=True, check=True)
        flows = json.loads(done.stdout)["flows"]
        self.assertEqual({flow["user_bytes"] for flow in flows}, {self.user_bytes(port)})
        table = subprocess.run([BUILD / "bin/mapi-info", "flows", "--socket", self.daemon.socket], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"{self.user_bytes(port) / 2**20:.1f}", [line.split()[9] for line in table.splitlines()[1:]])
        with self.assertRaisesRegex(ClientError, r"6162.*--max-user-memory"): # what lies in results and packets counts, too
            clients[2].do("flows = [Flow.on_device('tap') for _ in range(30)]\nfor flow in flows:\n    flow.apply('TO_BUFFER', 0)")
        clients[0].kill()
        self.assertTrue(wait_until(lambda: self.user_bytes(port) < 150 << 20))
        clients[2].do(top)
        root = self.daemon.client()
        root.do("\n".join([top] * 4)) # no user's limit

    def user_bytes(self, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        with contextlib.closing(connection):
            connection.request("GET", "/metrics")
            samples = parse(connection.getresponse().read().decode())
        return sum(value for (name, labels), value in samples.items() if name == "mapi_user_memory_bytes" and labels != (("user", "0"),))


if __name__ == "__main__":
    needs.captures(TRACE)
    if os.geteuid() != 0:
        needs.skip("needs root, to be another user")
    unittest.main()
