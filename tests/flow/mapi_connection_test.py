#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CONNECTION and CONNECTION_BITS: states, directions and flow bits of crafted and real packets."""

import collections
import ctypes
import pathlib
import subprocess
import tempfile
import unittest

import needs
from capture_files import ipv4, packet_of, pcap, udp
from mapi_library import Flow
from mapid import DATA

FIN, SYN, RST, ACK = 1, 2, 4, 16
LINKTYPE_RAW = 101
CLIENT, SERVER, OTHER = ("10.0.0.1", 40000), ("10.0.0.2", 80), ("10.0.0.9", 50000)
HANDSHAKE = [
    packet_of(CLIENT, SERVER, 100, 0, SYN),
    packet_of(SERVER, CLIENT, 700, 101, SYN | ACK),
    packet_of(CLIENT, SERVER, 101, 701, ACK),
]
REQUEST = packet_of(CLIENT, SERVER, 101, 701, ACK, b"request")
REPLY = packet_of(SERVER, CLIENT, 701, 108, ACK, b"reply")
NTP_UNIX = 2208988800


class Capture:
    """Packets -> the indices of those that reach the end of flows, which connect in one step."""

    def __init__(self, test, packets):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "capture.pcap"
        self.path.write_bytes(pcap(LINKTYPE_RAW, packets))

    def flows(self, count):
        """Flows of a device that has not started."""
        library = Flow.library
        create = library.mapi_create_offline_device
        create.restype = ctypes.c_void_p
        self.device = ctypes.cast(create(str(self.path).encode(), 0), ctypes.c_char_p).value
        return [Flow(library.mapi_create_flow(self.device)) for _ in range(count)]

    def run(self, flows):
        """Connects them in one step, and waits for the end of the packets."""
        library = Flow.library
        numbers = (ctypes.c_int * len(flows))(*(flow.fd for flow in flows))
        assert library.mapi_connect_flows(numbers, len(flows)) == 0, Flow.error()
        assert library.mapi_start_offline_device(self.device) == 0
        for flow in flows:
            assert library.mapi_wait_flow(flow.fd, 20000) == 0, Flow.error()

    def passed(self, *flows):
        made = self.flows(len(flows))
        take = Flow.library.mapi_get_next_pkt
        take.restype = ctypes.c_void_p
        for flow, functions in zip(made, flows):
            for name, *arguments in functions:
                flow.apply(name, *arguments)
            flow.buffer = flow.apply("TO_BUFFER", 1)
        self.run(made)
        indices = []
        for flow in made:
            indices.append([])
            while at := take(flow.fd, flow.buffer):
                seconds = ctypes.c_uint64.from_address(at).value >> 32
                indices[-1].append(seconds - NTP_UNIX - 1000)
            flow.close()
        return indices

    def connections(self, *rules):
        return self.passed(*([("CONNECTION", rule)] for rule in rules))


def with_checksum(packet, value):
    return packet[:36] + value.to_bytes(2, "big") + packet[38:]


def with_wrong_checksum(packet):
    return packet[:36] + bytes([packet[36] ^ 0x55]) + packet[37:]


class Facts(unittest.TestCase):
    def test_the_bytes_of_each_side_count_up_to_the_packet(self):
        capture = Capture(self, [*HANDSHAKE, REQUEST, REPLY])
        self.assertEqual(
            capture.connections(
                "stream_size:client,>=,8",
                "to_client,established; stream_size:server,=,6",
                "stream_size:both,=,1",
                "stream_size:either,=,0",
            ),
            [[3, 4], [4], [1, 2], [0]],
        )

    def test_a_connection_whose_begin_was_not_seen_has_no_stream_size(self):
        capture = Capture(self, [REQUEST, REPLY, ipv4(17, udp(5000, 53))])
        self.assertEqual(
            capture.connections("stream_size:client,>=,0", "stream_size:either,<,1"), [[], []]
        )

    def test_a_stream_has_the_facts_of_its_connection(self):
        capture = Capture(self, [*HANDSHAKE, REQUEST, REPLY])
        cooking = ("COOKING", 100, 10, 0, 3)
        made, none = capture.passed(
            [cooking, ("CONNECTION", "stream_size:client,=,8")],
            [cooking, ("CONNECTION", "stream_size:client,>,8")],
        )
        self.assertEqual([len(made) > 0, none], [True, []])


class States(unittest.TestCase):
    def test_a_handshake_establishes_a_connection_with_its_last_packet(self):
        capture = Capture(self, [*HANDSHAKE, REQUEST, REPLY])
        self.assertEqual(
            capture.connections(
                "established",
                "not_established",
                "stateless",
                "",
                "established,to_server",
                "established, to_client",
                "from_client",
                "from_server,stateless",
            ),
            [[2, 3, 4], [0, 1], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [2, 3], [4], [0, 2, 3], [1, 4]],
        )

    def test_packets_that_filters_before_it_exclude_count_too(self):
        capture = Capture(self, [*HANDSHAKE, REQUEST, REPLY])
        self.assertEqual(
            capture.passed(
                [("BPF_FILTER", "tcp[13] == 16 and len > 45"), ("CONNECTION", "established")],
                [("STR_SEARCH", "reply", 0, 0), ("CONNECTION", "established,to_client")],
                [("STR_SEARCH", "reply", 0, 0), ("CONNECTION", "established,to_server")],
            ),
            [[3], [4], []],
        )

    def test_a_connection_without_a_syn_is_midstream_with_the_lower_port_as_server(self):
        capture = Capture(self, [REQUEST, REPLY])
        self.assertEqual(
            capture.connections(
                "established",
                "not_established",
                "to_server",
                "established,midstream",
                "to_server,midstream",
                "to_client,midstream",
            ),
            [[], [0, 1], [0, 1], [0, 1], [0], [1]],
        )

    def test_udp_is_established_once_both_have_sent_and_its_first_sender_is_the_client(self):
        query, answer = ipv4(17, udp(4000, 53)), ipv4(17, udp(53, 4000))
        answer = answer[:12] + query[16:20] + query[12:16] + answer[20:]
        capture = Capture(self, [query, query, answer, query])
        self.assertEqual(
            capture.connections("established", "to_client", "established,to_server"),
            [[2, 3], [2], [3]],
        )

    def test_forged_packets_change_nothing_for_others(self):
        forged = [
            packet_of(CLIENT, SERVER, 5, 0, RST),
            packet_of(SERVER, CLIENT, 2**31, 0, RST),
            packet_of(CLIENT, SERVER, 9000, 0, SYN),
            packet_of(SERVER, CLIENT, 9000, 5, SYN | ACK),
            with_wrong_checksum(packet_of(CLIENT, SERVER, 108, 0, RST)),
            with_wrong_checksum(packet_of(CLIENT, SERVER, 108, 706, FIN | ACK)),
        ]
        packets = [*HANDSHAKE, REQUEST, REPLY, *forged, REQUEST, REPLY]
        established, to_server = Capture(self, packets).connections(
            "established", "established,to_server"
        )
        self.assertEqual(established, list(range(2, len(packets))))
        self.assertIn(len(packets) - 2, to_server)
        self.assertNotIn(len(packets) - 1, to_server)

    def test_a_handshake_with_wrong_numbers_or_checksums_does_not_count(self):
        for name, packets in {
            "wrong answer": [HANDSHAKE[0], packet_of(SERVER, CLIENT, 700, 99, SYN | ACK), REQUEST],
            "wrong checksum": [with_wrong_checksum(HANDSHAKE[0]), *HANDSHAKE[1:], REQUEST],
            "third packet is missing and acknowledges less": [
                *HANDSHAKE[:2],
                packet_of(CLIENT, SERVER, 101, 600, ACK),
            ],
            "client answers itself": [
                HANDSHAKE[0],
                packet_of(CLIENT, SERVER, 700, 101, SYN | ACK),
                REQUEST,
            ],
        }.items():
            with self.subTest(name):
                self.assertEqual(Capture(self, packets).connections("established"), [[]])

    def test_packets_with_a_wrong_checksum_are_counted(self):
        packets = [with_wrong_checksum(packet) for packet in (*HANDSHAKE, REQUEST)]
        reset = with_wrong_checksum(packet_of(CLIENT, SERVER, 108, 0, RST))
        acknowledged = [*HANDSHAKE[:2], with_wrong_checksum(HANDSHAKE[2])]
        for sent, wrong in ((packets, 2), ([*HANDSHAKE, reset], 1), (acknowledged, 1)):
            flow = Flow.offline(Capture(self, sent).path)
            function = flow.apply("CONNECTION", "")
            flow.run()
            self.assertEqual(flow.words(function)[4], wrong)

    def test_a_checksum_of_zero_is_absent_if_that_of_the_syn_is_too(self):
        reset = packet_of(CLIENT, SERVER, 108, 0, RST)
        absent = [with_checksum(packet, 0) for packet in (*HANDSHAKE, REQUEST, REPLY, reset, REPLY)]
        for packets, established, wrong in (
            (absent, [2, 3, 4, 5], 0),
            ([*HANDSHAKE, *absent[3:]], [2, 3, 4, 5, 6], 1),
            ([*HANDSHAKE[:2], *absent[2:]], [], 3),
            ([absent[0], HANDSHAKE[0], *HANDSHAKE[1:], *absent[3:]], [3, 4, 5, 6, 7], 1),
        ):
            with self.subTest(established):
                capture = Capture(self, packets)
                self.assertEqual(capture.connections("established"), [established])
                flow = Flow.offline(capture.path)
                function = flow.apply("CONNECTION", "")
                flow.run()
                self.assertEqual(flow.words(function)[4], wrong)

    def test_a_valid_reset_ends_a_connection_and_a_new_handshake_begins_another(self):
        reset = packet_of(CLIENT, SERVER, 108, 0, RST)
        again = [
            packet_of(CLIENT, SERVER, 5000, 0, SYN),
            packet_of(SERVER, CLIENT, 8000, 5001, SYN | ACK),
            packet_of(CLIENT, SERVER, 5001, 8001, ACK),
        ]
        packets = [*HANDSHAKE, REQUEST, REPLY, reset, REPLY, *again]
        self.assertEqual(Capture(self, packets).connections("established"), [[2, 3, 4, 5, 9]])

    def test_a_new_connection_between_the_same_ends_begins_when_its_syn_is_answered(self):
        again = [
            packet_of(CLIENT, SERVER, 5000, 0, SYN),
            packet_of(SERVER, CLIENT, 8000, 5001, SYN | ACK),
            packet_of(CLIENT, SERVER, 5001, 8001, ACK),
        ]
        capture = Capture(self, [*HANDSHAKE, REQUEST, *again])
        self.assertEqual(capture.connections("established"), [[2, 3, 4, 6]])

    def test_a_flood_of_syns_evicts_no_established_connection(self):
        flood = [
            packet_of((f"172.16.{i >> 8 & 255}.{i & 255}", 1024 + (i >> 16)), SERVER, i, 0, SYN)
            for i in range(200000)
        ]
        packets = [*HANDSHAKE, *flood, REQUEST]
        capture = Capture(self, packets)
        self.assertEqual(capture.connections("established"), [[2, len(packets) - 1]])

    def test_connections_that_are_over_leave_without_being_counted_as_evicted(self):
        refused = []
        for i in range(150000):
            client = (f"172.16.{i >> 8 & 255}.{i & 255}", 1024 + (i >> 16))
            refused.append(packet_of(client, SERVER, i, 0, SYN))
            refused.append(packet_of(SERVER, client, 0, i + 1, RST | ACK))
        flow = Flow.offline(Capture(self, refused).path)
        function = flow.apply("CONNECTION", "")
        flow.run()
        self.assertEqual(flow.words(function), [300000, 0, 150000, 0, 0])

    def test_evictions_are_counted_in_the_result(self):
        flood = [
            packet_of((f"172.16.{i >> 8 & 255}.{i & 255}", 1024 + (i >> 16)), SERVER, i, 0, SYN)
            for i in range(150000)
        ]
        flow = Flow.offline(Capture(self, flood).path)
        function = flow.apply("CONNECTION", "")
        flow.run()
        packets, untracked, connections, evicted, _ = flow.words(function)
        self.assertEqual((packets, untracked, connections), (150000, 0, 150000))
        self.assertGreaterEqual(evicted, 150000 - 131072)

    def test_real_captures_agree_with_tshark(self):
        captures = [
            DATA / f"ntop+nDPI/tests/cfgs/default/pcap/{name}.pcap"
            for name in ("ftp", "KakaoTalk_chat")
        ]
        needs.tools("tshark")
        needs.captures(*captures)
        for capture in captures:
            fields = ["frame.number", "tcp.stream", "ip.src", "tcp.flags"]
            text = subprocess.run(
                ["tshark", "-n", "-r", capture, "-Y", "tcp", "-T", "fields"]
                + [part for field in fields for part in ("-e", field)],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            steps, clients, wanted = collections.Counter(), {}, [0, 0]
            for line in text.splitlines():
                _, stream, source, flags = line.split("\t")
                kind = int(flags, 16) & (SYN | ACK | RST)
                if kind == SYN:
                    steps[stream], clients[stream] = 1, source
                elif kind == SYN | ACK and steps[stream] == 1:
                    steps[stream] = 2
                elif kind == ACK and steps[stream] == 2 and clients[stream] == source:
                    steps[stream] = 3
                if steps[stream] == 3:
                    wanted[source != clients[stream]] += 1
            self.assertTrue(any(wanted), capture)
            for direction, count in zip(("to_server", "to_client"), wanted):
                flow = Flow.offline(capture)
                flow.apply("CONNECTION", f"established,{direction}")
                flow.apply("BPF_FILTER", "tcp")
                counter = flow.apply("PKT_COUNTER")
                flow.run()
                self.assertEqual(flow.word(counter), count, (capture, direction))

    def test_a_cooked_packet_is_established_if_its_stream_had_a_handshake(self):
        capture = Capture(self, [*HANDSHAKE, REQUEST, REPLY])
        cooking = ("COOKING", 0, 0, 0, 3)
        passed = capture.passed(
            [cooking, ("CONNECTION", "established,to_server"), ("STR_SEARCH", "request", 0, 0)],
            [cooking, ("CONNECTION", "established,to_client"), ("STR_SEARCH", "request", 0, 0)],
            [cooking, ("CONNECTION", "established,to_client"), ("STR_SEARCH", "reply", 0, 0)],
        )
        self.assertEqual([len(indices) for indices in passed], [1, 0, 1])


class Bits(unittest.TestCase):
    def setUp(self):
        other = [
            packet_of(OTHER, SERVER, 1, 0, SYN),
            packet_of(OTHER, SERVER, 2, 1, ACK, b"request"),
        ]
        self.capture = Capture(self, [*HANDSHAKE, REQUEST, REPLY, *other, REPLY])

    def test_a_bit_is_seen_by_later_packets_and_by_later_flows_for_the_same_packet(self):
        setting = [("STR_SEARCH", "request", 0, 0), ("CONNECTION_BITS", "set:seen")]
        testing = [("CONNECTION", "isset:seen")]
        untested = [("CONNECTION", "; isnotset:seen")]
        self.assertEqual(
            self.capture.passed(testing, setting, testing, untested),
            [[4, 7], [3, 6], [3, 4, 6, 7], [0, 1, 2, 5]],
        )

    def test_eight_and_more_searches_before_the_bits_change_nothing(self):
        setting = [
            [("STR_SEARCH", text, 0, 0), ("CONNECTION_BITS", f"set:{text}")]
            for text in ("request", "reply", *(f"nothing-{i}" for i in range(20)))
        ]
        testing = [[("CONNECTION_BITS", f"isset:{text}")] for text in ("request", "reply")]
        passed = self.capture.passed(*setting, *testing)
        self.assertEqual(passed[0], [3, 6])
        self.assertEqual(passed[1], [4, 7])
        self.assertEqual(passed[2:-2], [[]] * 20)
        self.assertEqual(passed[-2:], [[3, 4, 6, 7], [4, 7]])

    def test_each_step_has_its_meaning(self):
        for steps, tests, wanted in (
            ("set:a&b", "isset:a&b", range(8)),
            ("set:a", "isset:a&b", ()),
            ("set:a", "isset:a|b", range(8)),
            ("set:a", "isnotset:a&b", range(8)),
            ("set:a; unset:a", "isset:a", ()),
            ("toggle:a", "isset:a", (0, 2, 4, 5)),
            ("set:a,g; set:b,g", "isset:all,g", range(8)),
            ("set:a,g; setx:b,g", "isset:a", ()),
            ("set:a,g; setx:b,g", "isset:any,g", range(8)),
            ("set:a,g; set:c; reset:g", "isset:c; isnotset:any,g", range(8)),
            ("set:a; set:c; reset", "isset:a|c", ()),
            ("set:a,g; unset:all,g", "isset:a", ()),
            ("isset:never; set:a", "isset:a", ()),
            ("set:a; noalert", "isset:a", range(8)),
        ):
            with self.subTest(steps=steps, tests=tests):
                passed = self.capture.passed(
                    [("CONNECTION_BITS", steps)], [("CONNECTION_BITS", tests)]
                )
                self.assertEqual(passed[1], list(wanted))
                if "noalert" in steps:
                    self.assertEqual(passed[0], [])

    def test_a_result_behind_a_bit_that_another_flow_uses_is_the_same(self):
        reading, counting = self.capture.flows(2)
        counting.apply("CONNECTION_BITS", "set:a")
        counter = counting.apply("PKT_COUNTER")
        counting.apply("STR_SEARCH", "request", 0, 0)
        behind = counting.apply("PKT_COUNTER")
        sum_of = reading.apply("BINOP", 0, counting.fd, counter, counting.fd, counter)
        self.capture.run([reading, counting])
        self.assertEqual((counting.word(counter), counting.word(behind)), (8, 2))
        self.assertEqual(reading.word(sum_of), 16)

    def test_bits_end_with_their_connection(self):
        again = [
            packet_of(CLIENT, SERVER, 5000, 0, SYN),
            packet_of(SERVER, CLIENT, 8000, 5001, SYN | ACK),
        ]
        capture = Capture(self, [*HANDSHAKE, REQUEST, *again])
        setting = [("STR_SEARCH", "request", 0, 0), ("CONNECTION_BITS", "set:a")]
        self.assertEqual(capture.passed(setting, [("CONNECTION", "isset:a")])[1], [3, 4])


class Errors(unittest.TestCase):
    def test_a_rule_that_is_not_valid_is_refused_with_its_place(self):
        flow = Flow.offline(Capture(self, HANDSHAKE).path)
        for name, rule, words in (
            ("CONNECTION", "established,to_srever", 'at 12: "to_srever" is none of'),
            ("CONNECTION", "established,not_established", "exclude each other"),
            ("CONNECTION", "to_server,to_client", "exclude each other"),
            ("CONNECTION", "established; isset:a b", 'at 19: "a b" is not a name'),
            ("CONNECTION", "established; isset", "at 13: isset requires NAME"),
            ("CONNECTION_BITS", "", "there is nothing to do"),
            ("CONNECTION_BITS", "set:a|b", "only isset and isnotset"),
            ("CONNECTION_BITS", "isset:a|b&c", "cannot be mixed"),
            ("CONNECTION_BITS", "setx:a", "requires a group"),
            ("CONNECTION_BITS", "set:all,g", 'does not accept "all"'),
            ("CONNECTION_BITS", "noalert:a", "noalert has no value"),
            ("CONNECTION_BITS", "raise:a", 'at 0: "raise" is none of'),
        ):
            with self.subTest(rule):
                self.assertLess(flow.try_apply(name, rule), 0)
                error = flow.error()
                self.assertTrue(error.startswith(f"7001: {name}: "), error)
                self.assertIn(words, error)

    def test_a_program_has_at_most_1024_bits_on_a_device(self):
        flow = Flow.offline(Capture(self, HANDSHAKE).path)
        flow.apply("CONNECTION_BITS", "set:" + "&".join(f"b{i}" for i in range(1024)))
        flow.apply("CONNECTION_BITS", "set:b7")
        self.assertLess(flow.try_apply("CONNECTION_BITS", "set:another"), 0)
        self.assertIn("already 1024 flow bits", flow.error())

    def test_names_of_closed_flows_make_room_for_others(self):
        staying, leaving, coming = Capture(self, HANDSHAKE).flows(3)
        staying.apply("CONNECTION_BITS", "set:stays")
        leaving.apply("CONNECTION_BITS", "set:" + "&".join(f"a{i}" for i in range(1023)))
        self.assertLess(coming.try_apply("CONNECTION_BITS", "set:another"), 0)
        leaving.close()
        coming.apply("CONNECTION_BITS", "set:" + "&".join(f"b{i}" for i in range(1023)))
        self.assertLess(coming.try_apply("CONNECTION_BITS", "set:another"), 0)


if __name__ == "__main__":
    unittest.main()
