#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapid's metrics are in the format of Prometheus, line for line, and agree with what clients
see."""

import http.client
import re
import socket
import subprocess
import unittest

import needs
from mapid import DATA, Daemon, free_port, wait_until

TRACE = DATA / "mapi/tracefile"
ODD = 'ta"p\\'
REPEATED = (
    f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n[driver]\ndevice={ODD}\npath={TRACE}\n"
)
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(
    rf'({NAME})(?:\{{((?:{NAME}="(?:[^"\\\n]|\\[\\"n])*"(?:,(?=[a-zA-Z_]))?)*)\}})? ([0-9.e+-]+)'
)
LABEL = re.compile(rf'({NAME})="((?:[^"\\]|\\.)*)"')


def parse(text):
    """Parses the documented format (0.0.4): {(name, ((label, value), ...)): number}; anything else
    is an error."""
    assert text.endswith("\n")
    kinds, described, samples, current = {}, set(), {}, None
    for line in text[:-1].split("\n"):
        if match := re.fullmatch(rf"# HELP ({NAME}) ([^\n]+)", line):
            assert match[1] not in described, f"described twice: {line}"
            described.add(match[1])
        elif match := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge)", line):
            current = match[1]
            assert current in described and current not in kinds, (
                f"its description is missing, or another is there: {line}"
            )
            kinds[current] = match[2]
        else:
            match = SAMPLE.fullmatch(line)
            assert match, f"no sample: {line!r}"
            assert match[1] == current, f"not with its group: {line}"
            assert (kinds[current] == "counter") == current.endswith("_total"), line
            labels = tuple(
                (name, re.sub(r"\\(.)", lambda c: {"n": "\n"}.get(c[1], c[1]), value))
                for name, value in LABEL.findall(match[2] or "")
            )
            assert (match[1], labels) not in samples, f"twice: {line}"
            samples[match[1], labels] = float(match[3])
    return samples


class Metrics(unittest.TestCase):
    def setUp(self):
        self.port = free_port()
        self.daemon = Daemon(REPEATED, "--metrics", f"127.0.0.1:{self.port}", "--max-flows", "3")
        self.addCleanup(self.daemon.close)

    def ask(self, path="/metrics", method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request(method, path)
        return connection.getresponse()

    def samples(self):
        answer = self.ask()
        self.assertEqual(
            (answer.status, answer.getheader("Content-Type")),
            (200, "text/plain; version=0.0.4; charset=utf-8"),
        )
        return parse(answer.read().decode())

    def test_what_clients_hold_is_reported_and_disappears_with_them(self):
        client = self.daemon.client()
        client.do(
            "flow = Flow.on_device('tap')\nflow.apply('BPF_FILTER', 'tcp')\n"
            "packets = flow.apply('PKT_COUNTER')\nflow.connect()\n"
            f"other = Flow.on_device({ODD!r})\ncount = other.apply('PKT_COUNTER')\nother.run()"
        )
        self.assertTrue(wait_until(lambda: client.get("flow.word(packets)") > 1000))
        before = client.get("[flow.information(1).pkts, flow.information(1).passed_pkts]")
        found = self.samples()
        after = client.get("[flow.information(1).pkts, flow.information(1).passed_pkts]")
        for name, least, most in zip(
            ("mapi_function_packets_total", "mapi_function_passed_packets_total"), before, after
        ):
            self.assertTrue(least <= found[name, (("function", "BPF_FILTER"),)] <= most)
        self.assertEqual(found["mapi_functions", (("function", "PKT_COUNTER"),)], 2)
        self.assertEqual((found["mapi_clients", ()], found["mapi_flows", ()]), (1, 2))
        self.assertGreater(found["mapi_uptime_seconds", ()], 0)
        self.assertGreater(found["mapi_function_memory_bytes", ()], 0)
        size = client.get(f"[stats_of({ODD!r}).ps_recv, stats_of({ODD!r}).bytes_recv]")
        self.assertEqual(
            [
                found["mapi_device_packets_total", (("device", ODD),)],
                found["mapi_device_bytes_total", (("device", ODD),)],
            ],
            size,
        )
        self.assertEqual(size[0], 893)
        self.assertGreater(found["mapi_device_packets_total", (("device", "tap"),)], 1000)
        client.kill()
        self.assertTrue(wait_until(lambda: self.samples()["mapi_clients", ()] == 0))
        self.assertEqual(
            (self.samples()["mapi_flows", ()], self.samples()["mapi_function_memory_bytes", ()]),
            (0, 0),
        )
        self.assertNotIn(("mapi_device_packets_total", (("device", "tap"),)), self.samples())

    def test_counters_of_functions_never_decrease_when_flows_and_clients_go(self):
        client, other = self.daemon.client(), self.daemon.client()
        for one in (client, other):
            one.do(
                "flow = Flow.on_device('tap')\nflow.apply('BPF_FILTER', 'tcp')\n"
                "flow.apply('PKT_COUNTER')\nflow.connect()"
            )
        name = ("mapi_function_packets_total", (("function", "BPF_FILTER"),))
        self.assertTrue(wait_until(lambda: self.samples().get(name, 0) > 1000))
        seen = [self.samples()[name]]
        client.do("flow.close()")
        seen.append(self.samples()[name])
        other.kill()
        self.assertTrue(wait_until(lambda: self.samples()["mapi_flows", ()] == 0))
        seen += [self.samples()[name], self.samples()[name]]
        self.assertEqual(seen, sorted(seen))
        self.assertEqual(seen[-1], seen[-2])

    def test_the_count_of_a_removed_function_is_kept(self):
        client = self.daemon.client()
        client.do(
            f"flow = Flow.on_device({ODD!r})\nfirst = flow.apply('BYTE_COUNTER')\n"
            "flow.apply('PKT_COUNTER')\nflow.connect()\n"
            "assert Flow.library.mapi_wait_flow(flow.fd, -1) == 0\nflow.remove(first)"
        )
        name = ("mapi_function_packets_total", (("function", "BYTE_COUNTER"),))
        for leave in ("", "flow.close()"):
            client.do(leave)
            samples = self.samples()
            self.assertEqual(samples[name], 893)  # capinfos -c
            self.assertNotIn(("mapi_functions", (("function", "BYTE_COUNTER"),)), samples)

    def test_drops_are_reported_by_cause_and_refusals_by_reason(self):
        client = self.daemon.client()
        client.do(
            "flow = Flow.on_device('tap')\nbuffer = flow.apply('TO_BUFFER', 0)\nflow.connect()\n"
            "flows = [Flow.on_device('tap') for _ in range(2)]\n"
            "for _ in range(4): assert Flow.library.mapi_create_flow(b'tap') == -1"
        )
        self.assertTrue(wait_until(lambda: client.get("flow.dropped(buffer)") > 0))
        least = client.get("stats_of('tap').drop_buffer_full")
        found = self.samples()
        drops = {
            dict(labels)["cause"]: count
            for (name, labels), count in found.items()
            if name == "mapi_device_drops_total" and ("device", "tap") in labels
        }
        self.assertEqual(
            set(drops),
            {
                "bad_record",
                "truncated",
                "buffer_full",
                "link_type",
                "not_written",
                "kernel",
                "no_flow",
                "interface",
            },
        )
        self.assertGreaterEqual(drops["buffer_full"], least)
        self.assertEqual(drops["bad_record"], 0)
        self.assertEqual(found["mapi_refusals_total", (("reason", "limit_of_client"),)], 4)

    def test_other_pages_and_methods_are_refused_and_a_silent_visitor_does_not_block_others(self):
        self.assertEqual(self.ask("/").status, 404)
        self.assertEqual(self.ask(method="POST").status, 405)
        silent = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(5)]
        self.samples()
        for visitor in silent:
            visitor.close()

    def test_an_address_that_others_can_reach_is_refused_unless_explicitly_allowed(self):
        def start(*options):
            return subprocess.run(
                [Daemon.program(), "--socket", self.daemon.folder / "other.sock", *options],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )

        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:9100"):
            done = start("--metrics", address)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(
                done.stderr,
                f"mapid: --metrics: {address}: other machines can reach this address "
                "(--metrics-public allows it)\n",
            )
        for address in ("9100", "localhost:9100", ":9100", "127.0.0.1:x", "127.0.0.1:65536"):
            done = start("--metrics", address)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(
                done.stderr,
                f'mapid: --metrics: "{address}" is not a numeric ADDRESS:PORT '
                "(such as 127.0.0.1:9100 or [::1]:9100)\n",
            )
        done = start("--metrics", f"127.0.0.1:{self.port}")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"--metrics: 127.0.0.1:{self.port}: cannot listen: ", done.stderr)


if __name__ == "__main__":
    needs.captures(TRACE)
    if (
        "microhttpd"
        not in subprocess.run(
            ["ldd", Daemon.program()], capture_output=True, text=True, check=True
        ).stdout
    ):
        needs.skip("mapid was built without libmicrohttpd")
    unittest.main()
