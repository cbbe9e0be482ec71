#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits of mapid: what one client may use, and what others keep."""

import json
import os
import subprocess
import unittest

import needs
from mapi_daemon_library import REPEATED, TRACE, Test
from mapid import BUILD, Daemon, wait_until


class FewFiles(Daemon):
    def command(self, *options):
        return ["prlimit", "--nofile=400", *super().command(*options)]


class Limits(Test):
    def test_a_request_beyond_a_limit_is_refused_with_its_name(self):
        client = self.daemon(
            REPEATED, "--max-flows", "3", "--max-functions", "5", "--max-memory", "2"
        ).client()
        client.do("flows = [Flow.on_device('tap') for _ in range(3)]")
        self.assert_refused(["6162", "3 flows", "--max-flows"], client.do, "Flow.on_device('tap')")
        client.do("ids = [flows[0].apply('PKT_COUNTER') for _ in range(5)]")
        self.assert_refused(
            ["6162", "5 functions", "--max-functions"], client.do, "flows[1].apply('PKT_COUNTER')"
        )
        client.do("flows[0].close()")
        self.assert_refused(["6162", "2 MiB"], client.do, "flows[1].apply('TO_BUFFER', 0)")
        client.do("flows[1].apply('PKT_COUNTER')\nflows[1].connect()\nFlow.on_device('tap')")

    def test_functions_of_one_client_hold_no_more_than_its_limit_and_their_end_frees_it(self):
        daemon = self.daemon(REPEATED, "--max-function-memory", "250")
        client, other = daemon.client(), daemon.client()
        top = "'TOP', 10, 1, 9"  # by destination addresses
        for one in (client, other):
            one.do(
                "flows = [Flow.on_device('tap') for _ in range(3)]\n"
                f"for flow in flows[:2]: flow.apply({top})"
            )
            self.assert_refused(
                ["6162", "TOP: could need", "of its 250 MiB", "--max-function-memory"],
                one.do,
                f"flows[2].apply({top})",
            )
        client.do(f"flows[2].apply('PKT_COUNTER')\nflows[0].close()\nflows[2].apply({top})")
        client.kill()
        again = daemon.client()
        again.do(
            "flows = [Flow.on_device('tap') for _ in range(2)]\n"
            f"for flow in flows: flow.apply({top})\nflows[1].connect()"
        )

    def test_one_client_may_not_open_all_files(self):
        daemon = FewFiles("")
        self.addCleanup(daemon.close)
        client, other = daemon.client(), daemon.client()
        flow = f"Flow.offline({str(TRACE)!r})"
        client.do(f"flows = [{flow} for _ in range(50)]")  # an eighth of 400 files
        self.assert_refused(["6162", "50 files open", "LimitNOFILE"], client.do, flow)
        other.do(f"flows = [{flow} for _ in range(50)]")
        client.do(f"flows[0].close()\n{flow}")
        other.do(
            "for flow in flows[48:]: flow.close()\nflow = flows[1]\n"
            "fid = flow.apply('TO_BUFFER', 0)\nflow.connect()\n"
            "assert Flow.library.mapi_get_poll_descriptor(flow.fd, fid) >= 0, Flow.error()\n"
            "fid = flows[2].apply('TO_BUFFER', 0)\nflows[2].connect()"
        )
        self.assert_refused(
            ["6162", "LimitNOFILE"],
            other.do,
            "assert Flow.library.mapi_get_poll_descriptor(flows[2].fd, fid) >= 0, Flow.error()",
        )

    def test_a_capture_that_is_deleted_counts_for_its_flow_which_keeps_it_open(self):
        daemon = FewFiles("")
        self.addCleanup(daemon.close)
        client = daemon.client()
        client.do(
            "Flow.library.mapi_create_offline_device.restype = ctypes.c_void_p\n"
            "def take():\n    name = ctypes.c_void_p(Flow.library.mapi_create_offline_device("
            f"{str(TRACE).encode()!r}, 0))\n    assert name, Flow.error()\n"
            "    flows.append(Flow.on_device(ctypes.string_at(name).decode()))\n"
            "    assert Flow.library.mapi_delete_offline_device(name) == 0, Flow.error()\n"
            "globals().update(take=take, flows=[])\nfor _ in range(48): take()"
        )
        self.assert_refused(["6162", "LimitNOFILE"], client.do, "for _ in range(3): take()")
        # the last refusal left a capture without a flow
        client.do("for flow in flows: flow.close()\nflows.clear()\nfor _ in range(45): take()")

    def test_the_memory_that_functions_may_need_is_that_of_the_manual(self):
        daemon = self.daemon(REPEATED)
        client = daemon.client()
        calls = {
            "TOP": "10, 1, 9",
            "TRACK_WEB": "",
            "COOKING": "32000, 0, 0, 3",
            "EXPIRED_FLOWS": "1000, 1000, 0",
            "FLOW_REPORT": "'NETFLOW_V9', 'SHMEM', '', ''",
            "TO_FILE": f"0, {str(daemon.folder / 'x.pcap')!r}, 0",
            "RES2FILE": f"'1', '1@1', 'rows', {str(daemon.folder / 'rows')!r}, '1s', 0",
            "UNCOOK": "",
            "ANONYMIZE": "'IP,SRC_IP,MAP'",
            "REGEXP": "'GET .*foo'",
            "BPF_FILTER": "'tcp'",
            "RATE_FILTER": "'detection_filter; track by_src; count 1; seconds 1'",
            "CONNECTION": "'established'",
            "CONNECTION_BITS": "'set:a'",
        }
        client.do("first = Flow.on_device('tap')\nfirst.apply('PKT_COUNTER')")
        for name, arguments in calls.items():
            client.do(
                "flow = Flow.on_device('tap')\nflow.apply('PKT_COUNTER')\n"
                f"flow.apply('{name}'{arguments and ', '}{arguments})"
            )
        done = subprocess.run(
            [BUILD / "bin/mapi-info", "--json", "--socket", daemon.socket, "flows"],
            capture_output=True,
            text=True,
            check=True,
        )
        flows = json.loads(done.stdout)["flows"]
        mib = {flow["functions"][-1]["function"]: flow["function_bytes"] / 2**20 for flow in flows}
        reported = {
            "TOP": 88,
            "TRACK_WEB": 78,
            "COOKING": 193,
            "EXPIRED_FLOWS": 37,
            "FLOW_REPORT": 192,
            "TO_FILE": 37,
            "RES2FILE": 37,
            "UNCOOK": 17,
            "ANONYMIZE": 17,
        }
        self.assertEqual({name: round(mib[name]) for name in reported}, reported)
        kib = {"BPF_FILTER": 80, "RATE_FILTER": 26, "CONNECTION": 16, "CONNECTION_BITS": 16}
        for name, own in kib.items():  # and the counter before it
            self.assertEqual(round(mib[name] * 1024), own + 2, name)
        self.assertTrue(0.02 < mib["REGEXP"] < 1, mib)  # more than two functions without state
        tables_mib = 128 + 38.25 + 30  # of ANONYMIZE, of RATE_FILTER, of CONNECTION and its bits
        flows_mib = len(flows) * 8 / 1024  # of the flows themselves
        self.assertAlmostEqual(
            flows[0]["client_bytes"] / 2**20,
            sum(flow["function_bytes"] for flow in flows) / 2**20 + flows_mib + tables_mib,
            delta=0.01,
        )

    def test_one_clients_anonymisation_reveals_nothing_to_another(self):
        daemon = self.daemon("")

        def mapped(client, expression):
            file = daemon.folder / f"{client.process.pid}.pcap"
            client.do(
                f"flow = Flow.offline({str(TRACE)!r})\nflow.apply('BPF_FILTER', {expression!r})\n"
                "flow.apply('ANONYMIZE', 'IP,SRC_IP,MAP')\n"
                f"flow.apply('TO_FILE', 0, {str(file)!r}, 0)\nflow.run()\nflow.close()"
            )
            return file.read_bytes()

        one, other = daemon.client(), daemon.client()
        first = mapped(one, "tcp")
        self.assertEqual(first, mapped(other, "tcp"))  # each numbers its own addresses from 1
        # a client's flows continue with its numbers
        self.assertNotEqual(mapped(one, "udp"), mapped(daemon.client(), "udp"))

    def test_captures_without_a_flow_count_as_flows(self):
        client = self.daemon("", "--max-flows", "3").client()
        client.do(
            "Flow.library.mapi_create_offline_device.restype = ctypes.c_char_p\n"
            "def create():\n    name = Flow.library.mapi_create_offline_device("
            f"{str(TRACE).encode()!r}, 0)\n    assert name, Flow.error()\n    return name\n"
            "globals()['create'] = create\nnames = [create() for _ in range(3)]"
        )
        self.assert_refused(["6162", "--max-flows"], client.do, "create()")

    def test_a_user_with_many_clients_leaves_room_for_others(self):
        if os.geteuid() != 0:
            self.skipTest("requires root, to run as another user")
        daemon = self.daemon(REPEATED, "--max-clients", "16", "--group", "nogroup")
        greedy = daemon.client(user="nobody", groups=[65534])
        greedy.do(
            "import select, socket\n"
            "def connect():\n    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
            "    one.connect(os.environ['MAPI_SOCKET'])\n    return one\n"
            "many = [connect() for _ in range(40)]\ntime.sleep(0.5)"
        )
        # refused, which is reported
        self.assertEqual(greedy.get("len(select.select(many, [], [], 0)[0])"), 40 - 14)
        for user in ("daemon", "games"):
            daemon.client(user=user, groups=[65534]).do("flow = Flow.on_device('tap')")

    def test_a_client_beyond_the_limit_is_refused_and_may_connect_when_another_has_left(self):
        daemon = self.daemon(REPEATED, "--max-clients", "2")
        first, second, third = daemon.client(), daemon.client(), daemon.client()
        first.do("flow = Flow.on_device('tap')")
        second.do("flow = Flow.on_device('tap')")
        self.assert_refused(["6162", "--max-clients"], third.do, "flow = Flow.on_device('tap')")
        first.kill()
        self.assertTrue(wait_until(lambda: daemon.log().count("disconnected") == 1))
        third.do("flow = Flow.on_device('tap')")


if __name__ == "__main__":
    needs.tools("tcpdump", "tshark")
    needs.captures(TRACE)
    unittest.main()
