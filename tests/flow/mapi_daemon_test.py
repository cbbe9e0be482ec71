#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Through mapid programs get what they get without it, and no program gets another's data."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import needs
from mapid import BUILD, DATA, FLOW_GONE, ClientError, Daemon, wait_until

TRACE = DATA / "mapi/tracefile"
CAPTURES = [
    TRACE,
    DATA / "chrissanders+packets/http_espn.pcapng",
    DATA / "LibtraceTeam+libtrace/test/traces/vlan.pcap",
]
FILTERS = ["", "tcp", "udp port 53", "vlan and ip", "greater 1000"]
REPEATED = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
COUNT = (
    "flow = {}\nf = flow.apply('BPF_FILTER', {!r}) if {!r} else 0\n"
    "packets = flow.apply('PKT_COUNTER')\nsize = flow.apply('BYTE_COUNTER')\nflow.run()"
)


def offline(capture):
    return f"Flow.offline({str(capture)!r})"


class Test(unittest.TestCase):
    def daemon(self, config="", *options, **environment):
        daemon = Daemon(config, *options, **environment)
        self.addCleanup(daemon.close)
        return daemon

    def assert_refused(self, words, call, *arguments):
        with self.assertRaises(ClientError) as caught:
            call(*arguments)
        for word in words:
            self.assertIn(word, str(caught.exception))


class Results(Test):
    def test_counts_are_those_of_an_engine_in_process_and_of_tcpdump(self):
        daemon = self.daemon()
        through, alone = daemon.client(), daemon.alone()
        for capture in CAPTURES:
            for expression in FILTERS:
                counts = []
                for client in (through, alone):
                    client.do(COUNT.format(offline(capture), expression, expression))
                    counts.append(
                        client.get(
                            "[flow.word(packets), flow.word(size), flow.information(packets).pkts]"
                        )
                    )
                    client.do("flow.close()")
                seen = subprocess.run(
                    [
                        "tcpdump",
                        "-n",
                        "-r",
                        capture,
                        "--count",
                        *([expression] if expression else []),
                    ],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                self.assertEqual(counts[0], counts[1], (capture, expression))
                self.assertEqual(counts[0][0], int(seen.stdout.split()[0]), (capture, expression))

    def test_every_packet_of_a_capture_passes_a_buffer_in_order_byte_for_byte(self):
        client = self.daemon().client()
        for capture in CAPTURES:
            client.do(
                f"flow = {offline(capture)}\nbuffer = flow.apply('TO_BUFFER', 0)\nflow.connect()\n"
                "packets = list(flow.packets(buffer))\nflow.close()"
            )
            judge = subprocess.run(
                ["tshark", "-n", "-r", capture, "-w", "-", "-F", "nsecpcap"],
                capture_output=True,
                check=True,
            ).stdout
            self.assertEqual(
                [
                    bytes.fromhex(packet)
                    for packet in client.get("[packet.hex() for packet in packets]")
                ],
                list(pcap_packets(judge)),
                capture,
            )

    def test_statistics_a_distribution_and_intervals_are_those_of_an_engine_in_process(self):
        daemon = self.daemon()
        answers = []
        for client in (daemon.client(), daemon.alone()):
            client.do(
                f"flow = {offline(TRACE)}\nsize = flow.apply('PKTINFO', 1)\n"
                "stats = flow.apply('STATS', flow.fd, size, '0')\n"
                "dist = flow.apply('DIST', flow.fd, size, '0', '1500', '10')\n"
                "count = flow.apply('PKT_COUNTER')\n"
                "buckets = flow.apply('BUCKET', flow.fd, count, '100ms', 1)\nflow.connect()\n"
                "class Event(ctypes.Structure): _fields_ = [('timestamp', ctypes.c_uint64), "
                "('value', ctypes.c_uint64)]\n"
                "each = [[event.timestamp, event.value] for event in flow.each(buckets, Event)]\n"
                "Flow.library.mapi_wait_flow(flow.fd, -1)"
            )
            client.do(
                "words = flow.words(stats)\n"
                "for i in (3, 5): words[i] &= 0xffff # the bytes after a long double's 10 are "
                "unused"
            )
            answers.append(client.get("[words, flow.words(dist), each]"))
        self.assertEqual(*answers)
        self.assertGreater(len(answers[0][2]), 2)
        self.assertGreater(answers[0][0][0], 0)

    def test_a_file_that_a_program_opens_is_written_by_the_daemon(self):
        daemon = self.daemon()
        client = daemon.client()
        written = daemon.folder / "written.pcap"
        client.do(
            f"flow = {offline(TRACE)}\nflow.apply('BPF_FILTER', 'tcp')\n"
            f"flow.apply('TO_FILE', 0, {str(written)!r}, 0)\nflow.run()\nflow.close()"
        )
        judge = subprocess.run(
            ["tcpdump", "-n", "-r", TRACE, "-w", "-", "tcp"], capture_output=True, check=True
        ).stdout
        self.assertEqual(list(pcap_packets(written.read_bytes())), list(pcap_packets(judge)))


def pcap_packets(data):
    """The header of the file that a little-endian machine writes."""
    at = 24
    while at < len(data):
        caplen = int.from_bytes(data[at + 8 : at + 12], "little")
        yield data[at + 16 : at + 16 + caplen]
        at += 16 + caplen


class Clients(Test):
    def test_two_clients_share_a_device_and_an_evaluation_and_each_has_its_own_numbers(self):
        daemon = self.daemon(REPEATED)
        first, second = daemon.client(), daemon.client()
        for client in (first, second):
            client.do(
                "flow = Flow.on_device('tap')\nflow.apply('BPF_FILTER', 'tcp')\n"
                "packets = flow.apply('PKT_COUNTER')\nflow.connect()"
            )
            self.assertTrue(wait_until(lambda: client.get("flow.word(packets)") > 1000))
        self.assertEqual([client.get("flow.fd") for client in (first, second)], [1, 1])
        self.assertEqual(second.get("flow.information(packets).shared_with"), 1)
        self.assertLess(second.get("flow.word(packets)"), first.get("flow.word(packets)"))
        first.do("flow.close()")
        before = second.get("flow.word(packets)")
        self.assertTrue(wait_until(lambda: second.get("flow.word(packets)") > before))
        self.assertEqual(second.get("flow.information(packets).shared_with"), 0)

    def test_a_client_that_is_killed_frees_everything_immediately(self):
        daemon = self.daemon(REPEATED)
        watching, killed = daemon.client(), daemon.client()
        watching.do(
            "flow = Flow.on_device('tap')\nflow.apply('BPF_FILTER', 'tcp')\n"
            "packets = flow.apply('PKT_COUNTER')\nflow.connect()"
        )
        before = daemon.memories(), daemon.threads()
        killed.do(
            "flows = [Flow.on_device('tap') for _ in range(100)]\nfor flow in flows:\n"
            "    flow.apply('BPF_FILTER', 'tcp')\n"
            "    flow.apply('TO_BUFFER', 1) if flow.fd < 9 else None\n    flow.connect()\n"
            f"more = [{offline(TRACE)} for _ in range(20)]\nfor flow in more:\n"
            "    flow.apply('TO_BUFFER', 0)\n    flow.connect()"
        )
        self.assertEqual(watching.get("flow.information(1).shared_with"), 100)
        self.assertGreater((daemon.memories(), daemon.threads()), before)
        killed.kill()
        self.assertTrue(wait_until(lambda: watching.get("flow.information(1).shared_with") == 0, 5))
        self.assertTrue(
            wait_until(lambda: (daemon.memories(), daemon.threads()) == before, 5),
            (before, daemon.memories(), daemon.threads()),
        )

    def test_a_client_that_does_not_read_loses_only_its_own_packets(self):
        daemon = self.daemon(REPEATED)
        slow, good = daemon.client(), daemon.client()
        slow.do("flow = Flow.on_device('tap')\nbuffer = flow.apply('TO_BUFFER', 0)\nflow.connect()")
        good.do("flow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\nflow.connect()")
        self.assertTrue(wait_until(lambda: slow.get("flow.dropped(buffer)") > 1000))
        before = good.get("flow.word(packets)")
        self.assertTrue(wait_until(lambda: good.get("flow.word(packets)") > before + 10000))

    def test_a_device_that_is_slow_to_open_delays_only_clients_that_open_it(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = pathlib.Path(folder) / "pipe"
            os.mkfifo(pipe)
            daemon = self.daemon(REPEATED + f"[driver]\ndevice=slow\npath={pipe}\n")
            waiting = [daemon.client() for _ in range(2)]
            for client in waiting:
                client.do(
                    "import threading\nflows = []\n"
                    "opener = threading.Thread(target=lambda: "
                    "flows.append(Flow.on_device('slow')))\nopener.start()"
                )
            time.sleep(0.2)
            other = daemon.client()
            other.do(
                "flow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\nflow.connect()"
            )
            self.assertTrue(wait_until(lambda: other.get("flow.word(packets)") > 0))
            self.assertGreater(other.get("stats_of('tap').ps_recv"), 0)
            pipe.write_bytes(TRACE.read_bytes()[:24])
            for client in waiting:
                client.do(
                    "opener.join(20)\nassert len(flows) == 1\nflows[0].apply('PKT_COUNTER')\n"
                    "flows[0].run()"
                )


class Permissions(Test):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("requires root, to run as another user")

    def test_a_user_in_no_group_gets_an_error_that_names_the_required_one(self):
        daemon = self.daemon(REPEATED + "group=daemon\n", "-g", "games")
        stranger = daemon.client(user="nobody")
        self.assert_refused(
            ["3139", 'group "daemon"', "device tap"], stranger.do, "flow = Flow.on_device('tap')"
        )
        self.assert_refused(
            ["3139", 'group "games"', "captures"], stranger.do, f"flow = {offline(TRACE)}"
        )
        self.assert_refused(
            ["3139", 'group "games"', "device lo"], stranger.do, "flow = Flow.on_device('lo')"
        )

    def test_a_member_of_a_devices_group_may_use_only_that_device(self):
        import grp  # pylint: disable=import-outside-toplevel

        daemon = self.daemon(REPEATED + "group=daemon\n", "-g", "games")
        member = daemon.client(user="nobody", groups=[grp.getgrnam("daemon").gr_gid])
        member.do(
            "flow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\nflow.connect()"
        )
        self.assertTrue(wait_until(lambda: member.get("flow.word(packets)") > 0))
        self.assert_refused(["3139", 'group "games"'], member.do, f"flow = {offline(TRACE)}")

    def test_no_option_turns_a_capture_into_another_device(self):
        import grp  # pylint: disable=import-outside-toplevel

        daemon = self.daemon(REPEATED + "group=daemon\n", "-g", "games")
        member = daemon.client(user="nobody", groups=[grp.getgrnam("games").gr_gid])
        capture = daemon.folder / "capture.pcap"
        shutil.copy(TRACE, capture)
        capture.chmod(0o644)
        member.do(
            "Flow.library.mapi_create_offline_device.restype = ctypes.c_char_p\n"
            f"name = Flow.library.mapi_create_offline_device({str(capture).encode()!r}, 0)\n"
            "assert name, Flow.error()"
        )
        for key, value in (
            ("driver", "af_packet"),
            ("path", "lo"),
            ("device", "tap"),
            ("alias", "tap"),
            ("group", ""),
        ):
            self.assert_refused(
                ["7002", key + "="],
                member.do,
                f"assert Flow.library.mapi_set_device_option(name, b'{key}', b'{value}') == 0, "
                "Flow.error()",
            )
        self.assertEqual(member.get("Flow.library.mapi_set_device_option(name, b'batch', b'1')"), 0)
        self.assert_refused(
            ["mapi.conf"],
            member.do,
            "assert Flow.library.mapi_set_device_option(b'tap', b'batch', b'1') == 0, Flow.error()",
        )


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
        }
        client.do("first = Flow.on_device('tap')\nfirst.apply('PKT_COUNTER')")
        for name, arguments in calls.items():
            client.do(
                "flow = Flow.on_device('tap')\nflow.apply('PKT_COUNTER')\n"
                f"flow.apply('{name}'{arguments and ', '}{arguments})"
            )
        done = subprocess.run(
            [BUILD / "bin/mapi-info", "-j", "-s", daemon.socket, "flows"],
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
        self.assertEqual(round(mib["BPF_FILTER"] * 1024), 80 + 16)  # and the counter before it
        self.assertTrue(0.03 < mib["REGEXP"] < 1, mib)  # more than two functions without state
        tables_mib = 128  # of ANONYMIZE
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
        daemon = self.daemon(REPEATED, "--max-clients", "16", "-g", "nogroup")
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
        # the check whether it answers
        self.assertTrue(wait_until(lambda: daemon.log().count("disconnected") == 1))
        first, second, third = daemon.client(), daemon.client(), daemon.client()
        first.do("flow = Flow.on_device('tap')")
        second.do("flow = Flow.on_device('tap')")
        self.assert_refused(["6162", "--max-clients"], third.do, "flow = Flow.on_device('tap')")
        first.kill()
        self.assertTrue(wait_until(lambda: daemon.log().count("disconnected") == 2))
        third.do("flow = Flow.on_device('tap')")


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
            [*daemon.command()[:1], "-s", daemon.folder / "not/there/socket"],
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
            [*daemon.command()[:1], "-s", other],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual((done.returncode, other.read_text()), (1, "mine"))

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
            daemon = self.daemon("", "-l", level)
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
        for option in "-V", "--version":
            done = subprocess.run(
                [Daemon.program(), option], capture_output=True, text=True, timeout=60, check=True
            )
            self.assertRegex(done.stdout, r"^mapid \d+\.\d+\.\d+\n$")

    def test_a_check_of_the_configuration_names_line_and_key(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "mapi.conf"

            def check(text, *options):
                config.write_text(text)
                done = subprocess.run(
                    [Daemon.program(), "--check", "-c", config, *options],
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
            code, _, words = check(REPEATED + "\x00\xff=\n[driver\n")
            self.assertEqual(code, 1)
            self.assertRegex(words, f"{config}:[56]: ")
            self.assertEqual(check(REPEATED.replace("path", "driver=cuckoo\npath"))[0], 1)
            self.assertEqual(check(REPEATED, "--no-such-option")[0], 2)
            config.unlink()
            done = subprocess.run(
                [Daemon.program(), "--check", "-c", config],
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
