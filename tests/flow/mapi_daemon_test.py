#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Through mapid programs get what they get without it, and no program gets another's data."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import needs
from mapi_daemon_library import REPEATED, TRACE, Test, offline
from mapid import DATA, wait_until

CAPTURES = [
    TRACE,
    DATA / "chrissanders+packets/http_espn.pcapng",
    DATA / "LibtraceTeam+libtrace/test/traces/vlan.pcap",
]
FILTERS = ["", "tcp", "udp port 53", "vlan and ip", "greater 1000"]
COUNT = (
    "flow = {}\nf = flow.apply('BPF_FILTER', {!r}) if {!r} else 0\n"
    "packets = flow.apply('PKT_COUNTER')\nsize = flow.apply('BYTE_COUNTER')\nflow.run()"
)


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
        daemon = self.daemon(REPEATED + "group=daemon\n", "--group", "games")
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

        daemon = self.daemon(REPEATED + "group=daemon\n", "--group", "games")
        member = daemon.client(user="nobody", groups=[grp.getgrnam("daemon").gr_gid])
        member.do(
            "flow = Flow.on_device('tap')\npackets = flow.apply('PKT_COUNTER')\nflow.connect()"
        )
        self.assertTrue(wait_until(lambda: member.get("flow.word(packets)") > 0))
        self.assert_refused(["3139", 'group "games"'], member.do, f"flow = {offline(TRACE)}")

    def test_no_option_turns_a_capture_into_another_device(self):
        import grp  # pylint: disable=import-outside-toplevel

        daemon = self.daemon(REPEATED + "group=daemon\n", "--group", "games")
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


if __name__ == "__main__":
    needs.tools("tcpdump", "tshark")
    needs.captures(TRACE)
    unittest.main()
