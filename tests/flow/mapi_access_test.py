#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which users may use which device of mapid, under which name; and what happens to clients when it
dies."""

import os
import time
import unittest

import needs
from mapid import DATA, ClientError, Daemon

TRACE = DATA / "mapi/tracefile"
REPEATED = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
OF_SHADOW = (
    f"[driver]\ndevice=secret\npath={TRACE}\nrepeat=forever\ngroup=shadow\n[driver]\ndevice=line\n"
    "driver=af_packet\npath=lo\ngroup=shadow\n"
)
LIST_DEVICES = (
    "info = ctypes.create_string_buffer(8192)\nids = [0]\n"
    "while Flow.library.mapi_get_next_device_info(ids[-1], info) == 0:\n"
    "    ids.append(struct.unpack_from('i', info)[0])"
)


class Test(unittest.TestCase):
    def daemon(self, config, *options):
        daemon = Daemon(config, *options)
        self.addCleanup(daemon.close)
        return daemon

    def assert_refused(self, client, what, *words):
        with self.assertRaises(ClientError) as caught:
            client.do(what)
        for word in words:
            self.assertIn(word, str(caught.exception))


class Access(Test):
    def test_listing_devices_opens_no_device(self):
        daemon = self.daemon(OF_SHADOW, "--group", "shadow")
        client = daemon.client(user="nobody")
        for _ in range(2):
            self.assert_refused(client, "Flow.on_device('secret')", "3139", '"shadow"')
            client.do(LIST_DEVICES)
            self.assertEqual(client.get("ids"), [0])  # it may use none of them
            of_root = daemon.client()
            of_root.do(LIST_DEVICES)
            self.assertEqual(of_root.get("len(ids)"), 1 + 2)
        client.do("number = Flow.library.mapi_get_device_info(1, info)")
        self.assertEqual(client.get("number"), -1)

    def test_an_interface_has_the_group_of_the_device_that_reads_it_and_no_other_name(self):
        daemon = self.daemon(OF_SHADOW, "--group", "nogroup")  # the test's users are not in it
        client = daemon.client(user="nobody")
        self.assert_refused(client, "Flow.on_device('line')", "3139", '"shadow"')
        self.assert_refused(client, "Flow.on_device('lo')", "3139", '"shadow"')
        self.assert_refused(client, "Flow.on_device('lo:x')", "3200")
        self.assert_refused(client, "Flow.on_device('')", "3200")

    def test_names_that_are_refused_are_not_kept(self):
        daemon = self.daemon("", "--group", "shadow")
        client = daemon.client(user="nobody")
        before = daemon.client()
        before.do(LIST_DEVICES)
        for name in ("lo", "lo:1", "lo:2"):
            self.assert_refused(client, f"Flow.on_device({name!r})", "3139")
        after = daemon.client()
        after.do(LIST_DEVICES)
        self.assertEqual(after.get("ids"), before.get("ids"))

    def test_mapid_sends_only_for_root(self):
        daemon = self.daemon("", "--group", "nogroup")
        client = daemon.client(user="nobody")
        client.do(f"flow = Flow.offline({str(TRACE)!r})")
        self.assert_refused(client, "flow.apply('INJECT', 'lo')", "3139", "MAPI_SOCKET=none")
        self.assert_refused(
            client,
            "flow.apply('FLOW_REPORT', 'NETFLOW_V5', '127.0.0.1:9', '', '')",
            "3139",
            "MAPI_SOCKET=none",
        )
        client.do("flow.apply('FLOW_REPORT', 'NETFLOW_V5', 'SHMEM', '', '')")


class Results(Test):
    def test_the_first_place_of_the_memory_is_a_place_like_others(self):
        client = self.daemon(REPEATED).client()
        client.do(
            "first, second = Flow.on_device('tap'), Flow.on_device('tap')\nfirst.close()\n"
            "packets = second.apply('PKT_COUNTER')\nsecond.connect()\ntime.sleep(0.1)"
        )
        self.assertGreater(client.get("second.word(packets)"), 0)

    def test_a_function_that_finds_no_memory_leaves_the_others_their_numbers(self):
        client = self.daemon(REPEATED, "--max-memory", "1").client()
        client.do(
            "flow, full = Flow.on_device('tap'), Flow.on_device('tap')\n"
            "while full.try_apply('TOP', 100, 1, 1) > 0: pass\n"
            "while full.try_apply('PKT_COUNTER') > 0: pass\n"
            "refused = flow.try_apply('PKT_COUNTER')\nfull.close()\n"
            "packets, size = flow.apply('PKT_COUNTER'), flow.apply('BYTE_COUNTER')\n"
            "flow.connect()\ntime.sleep(0.1)"
        )
        self.assertEqual(
            [client.get("refused"), client.get("packets"), client.get("size")], [-1, 1, 2]
        )
        self.assertGreater(client.get("flow.word(size) / flow.word(packets)"), 40)

    def test_an_error_after_an_out_of_memory_error_is_reported_with_its_own_cause(self):
        client = self.daemon(REPEATED, "--max-memory", "1").client()
        client.do("flow = Flow.on_device('tap')\nwhile flow.try_apply('TO_BUFFER', 0) > 0: pass")
        self.assertIn("6162", client.get("Flow.error()"))
        self.assert_refused(client, "flow.apply('BPF_FILTER', 'no such words')", "1025")


class Death(Test):
    def test_clients_learn_that_mapid_has_died(self):
        daemon = Daemon(REPEATED)
        client = daemon.client()
        client.do(
            "import select\nflow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\n"
            "waits, returns = flow.apply('TO_BUFFER', 0), flow.apply('TO_BUFFER', 1)\n"
            "flow.connect()\nlibrary = Flow.library\n"
            "event = library.mapi_get_poll_descriptor(flow.fd, returns)\ntime.sleep(0.1)\n"
            "room = (ctypes.c_void_p * 65536)()\n"
            "library.mapi_get_next_pkt.restype = ctypes.c_void_p"
        )
        daemon.process.kill()
        daemon.process.wait()
        time.sleep(0.3)
        client.do("while library.mapi_get_next_pkts(flow.fd, returns, room, 65536, 0) > 0: pass")
        self.assertIn("5123", client.get("Flow.error()"))
        self.assertEqual(client.get("len(select.select([event], [], [], 5)[0])"), 1)
        client.do("while library.mapi_get_next_pkt(flow.fd, waits): pass")
        self.assertIn("5123", client.get("Flow.error()"))
        self.assert_refused(client, "flow.word(packets)", "5123")
        client.kill()
        daemon.temporary.cleanup()


if __name__ == "__main__":
    needs.captures(TRACE)
    if os.geteuid() != 0:
        needs.skip("requires root, to run as another user")
    unittest.main()
