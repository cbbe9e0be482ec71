#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Flows that mapi_connect_flows() starts, and mapi_close_flows() ends, in one step, in process and
through mapid."""

import unittest

import needs
from mapid import DATA, Daemon

TRACE = DATA / "mapi/tracefile"
PACKETS = 893
FLOWS = 90
CONNECT = """
import ctypes
library = Flow.library
def numbers_of(flows):
    return (ctypes.c_int * len(flows))(*(flow.fd for flow in flows))
def connect(flows):
    return library.mapi_connect_flows(numbers_of(flows), len(flows))
def close(flows):
    return library.mapi_close_flows(numbers_of(flows), len(flows))
def counting(device, count):
    made = [Flow.on_device(device) for _ in range(count)]
    for number, flow in enumerate(made):
        flow.apply("BPF_FILTER", ("tcp", "not tcp", "ip or not ip")[number % 3])
        flow.apply("PKT_COUNTER")
    return made
def wait_for(flows):
    for flow in flows:
        assert library.mapi_wait_flow(flow.fd, 20000) == 0, Flow.error()
def device_of(trace):
    library.mapi_create_offline_device.restype = ctypes.c_void_p
    return ctypes.cast(library.mapi_create_offline_device(trace, 0), ctypes.c_char_p).value.decode()
def start(device):
    assert library.mapi_start_offline_device(device.encode()) == 0, Flow.error()
"""


class Test(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n")
        self.addCleanup(self.daemon.close)

    def clients(self):
        for client in (self.daemon.alone(), self.daemon.client()):
            client.do(CONNECT + f"device = device_of({str(TRACE).encode()!r})")
            yield client

    def test_all_flows_get_every_packet_of_a_capture_that_starts_afterwards(self):
        for client in self.clients():
            client.do(
                f"flows = counting(device, {FLOWS})\nassert connect(flows) == 0, Flow.error()\n"
                "start(device)\nwait_for(flows)"
            )
            counts = client.get("[flow.word(2) for flow in flows]")
            self.assertEqual(counts, [596, 297, PACKETS] * (FLOWS // 3))

    def test_flows_begin_with_the_same_packet_of_a_device_that_is_running(self):
        for client in self.clients():
            # the device waits for the reader of a full buffer, somewhere in the capture
            client.do(
                "reader = Flow.on_device(device)\n"
                "assert library.mapi_set_flow_option(reader.fd, 1, 4096) == 0\n"
                "buffer = reader.apply('TO_BUFFER', 0)\nreader.connect()\nstart(device)\n"
                "library.mapi_get_next_pkt.restype = ctypes.c_void_p\n"
                "assert library.mapi_get_next_pkt(reader.fd, buffer)\n"
                f"flows = counting(device, {FLOWS})\nassert connect(flows) == 0, Flow.error()\n"
                "while library.mapi_get_next_pkt(reader.fd, buffer): pass\n"
                "wait_for(flows)"
            )
            counts = client.get("[flow.word(2) for flow in flows]")
            self.assertEqual(counts, counts[:3] * (FLOWS // 3))
            self.assertEqual(counts[0] + counts[1], counts[2])
            self.assertTrue(0 < counts[2] < PACKETS, counts[:3])

    def test_none_is_connected_if_one_is_refused(self):
        for client in self.clients():
            client.do("flows = counting(device, 4)")
            client.do(f"other = counting(device_of({str(TRACE).encode()!r}), 1)[0]")
            for attempt, number, words in (
                ("flows + [other]", 7001, "different devices"),
                ("flows + flows[:1]", 7001, "listed twice"),
            ):
                with self.subTest(attempt):
                    client.do(f"failed = connect({attempt})")
                    self.assertEqual(client.get("failed"), -1)
                    error = client.get("Flow.error()")
                    self.assertIn(f"{number}: ", error)
                    self.assertIn(words, error)
            client.do("flows[2].connect()\nnumber = flows[2].fd\nfailed = connect(flows)")
            self.assertEqual(client.get("failed"), -1)
            self.assertIn(
                f"3081: flow {client.get('number')} is already connected",
                client.get("Flow.error()"),
            )
            client.do("assert connect(flows[:2] + flows[3:]) == 0, Flow.error()\nstart(device)")
            client.do("wait_for(flows)")
            self.assertEqual(
                client.get("[flow.word(2) for flow in flows]"), [596, 297, PACKETS, 596]
            )

    def test_flows_are_closed_in_one_step_and_the_others_continue(self):
        for client in self.clients():
            client.do(
                f"flows = counting(device, {FLOWS})\nassert connect(flows) == 0, Flow.error()\n"
                "assert close(flows[3:]) == 0, Flow.error()\nstart(device)\nwait_for(flows[:3])"
            )
            self.assertEqual(
                client.get("[flow.word(2) for flow in flows[:3]]"), [596, 297, PACKETS]
            )
            self.assertEqual(client.get("library.mapi_connect(flows[3].fd)"), -1)
            self.assertIn("6145: there is no flow", client.get("Flow.error()"))
            # those that have ended, and one that was never connected
            client.do("flows = flows[:3] + counting(device, 1)\nclosed = close(flows)")
            self.assertEqual(client.get("closed"), 0)

    def test_none_is_closed_if_one_cannot_be(self):
        for client in self.clients():
            client.do("flows = counting(device, 3)\nassert connect(flows) == 0, Flow.error()")
            for attempt, number in (
                ("close(flows + flows[:1])", 7001),
                ("library.mapi_close_flows((ctypes.c_int * 2)(flows[0].fd, 9999), 2)", 6145),
                ("library.mapi_close_flows(None, 2)", 7001),
                ("library.mapi_close_flows(numbers_of(flows), 0)", 7002),
            ):
                with self.subTest(attempt):
                    self.assertEqual(client.get(attempt), -1)
                    self.assertIn(f"{number}: ", client.get("Flow.error()"))
            client.do("start(device)\nwait_for(flows)")
            self.assertEqual(client.get("[flow.word(2) for flow in flows]"), [596, 297, PACKETS])

    def test_invalid_arguments_have_their_own_errors(self):
        for client in self.clients():
            client.do("flows = counting(device, 2)")
            for attempt, number in (
                ("library.mapi_connect_flows(None, 2)", 7001),
                ("library.mapi_connect_flows(numbers_of(flows), 0)", 7002),
                ("library.mapi_connect_flows(numbers_of(flows), -1)", 7002),
                ("library.mapi_connect_flows((ctypes.c_int * 2)(flows[0].fd, 9999), 2)", 6145),
            ):
                with self.subTest(attempt):
                    self.assertEqual(client.get(attempt), -1)
                    self.assertIn(f"{number}: ", client.get("Flow.error()"))
            client.get("library.mapi_connect_flows(None, 2)")
            self.assertIn("the list of flows is a null pointer", client.get("Flow.error()"))


class Cooking(unittest.TestCase):
    def daemon(self, *options):
        daemon = Daemon("", *options)
        self.addCleanup(daemon.close)
        return daemon

    def test_flows_of_one_step_share_a_cooking_and_its_memory(self):
        daemon = self.daemon("--max-function-memory", "300")  # one takes 193 MiB
        for client in (daemon.alone(), daemon.client()):
            client.do(
                CONNECT + f"device = device_of({str(TRACE).encode()!r})\n"
                "flows = [Flow.on_device(device) for _ in range(20)]\n"
                "for number, flow in enumerate(flows):\n"
                "    flow.apply('COOKING', 0, 0, 0, 3)\n"
                "    flow.apply('BPF_FILTER', 'tcp')\n    flow.apply('PKT_COUNTER')\n"
                "assert connect(flows) == 0, Flow.error()\nstart(device)\nwait_for(flows)"
            )
            first = client.get("[flows[0].words(1), flows[0].word(3)]")
            self.assertGreater(first[1], 0)
            self.assertEqual(
                client.get("[[flow.words(1), flow.word(3)] for flow in flows]"), [first] * 20
            )
            self.assertEqual(client.get("flows[7].information(1).shared_with"), 19)

    def test_flows_of_different_steps_have_their_own(self):
        daemon = self.daemon("--max-function-memory", "300")
        client = daemon.client()
        client.do(
            CONNECT + f"device = device_of({str(TRACE).encode()!r})\n"
            "flows = [Flow.on_device(device) for _ in range(4)]\n"
            "for flow in flows: flow.apply('COOKING', 0, 0, 0, 3)\n"
            "assert connect(flows[:2]) == 0, Flow.error()\nfailed = connect(flows[2:])"
        )
        self.assertEqual(client.get("failed"), -1)
        self.assertIn("6162: COOKING: could need 193 MiB", client.get("Flow.error()"))
        client.do(
            "for flow in flows[1:]: flow.close()\n"  # the first one still uses it
            "more = [Flow.on_device(device) for _ in range(2)]"
        )
        self.assertLess(client.get("more[0].try_apply('COOKING', 0, 0, 0, 3)"), 0)
        client.do(
            "flows[0].close()\nfor flow in more: flow.apply('COOKING', 0, 0, 0, 3)\n"
            "assert connect(more) == 0, Flow.error()\nstart(device)\nwait_for(more)"
        )
        self.assertEqual(*client.get("[flow.words(1) for flow in more]"))


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
