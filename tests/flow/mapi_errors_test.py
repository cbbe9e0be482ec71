#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Errors as MAPI 2 published them: numbers of errors.h, and the result of each misuse, in process
and through mapid.  Its text has the details and not, in addition, the published text of the number.

Where MAPI 2's own tests and its table differ, the published meaning of the table is used:
* mapi_get_next_flow_info() at the end: 6149, as in its library; its test expected 6145, an invalid
descriptor, of a descriptor that need not be valid. * SAMPLE with a period that no packet reaches,
and STR_SEARCH with a depth beyond any packet, are valid; an invalid mode is 7002: its tests
expected 6145
  of a flow that is valid, and checked only calls that failed, which the first two did not.
* get_function_info of an invalid flow: 6141, as in its library and its test.
* Arguments of functions: numbers are those that its tests expect (1025 of BPF_FILTER, 7000 of
REGEXP, 7006 of TO_FILE's format, 7011 of RES2FILE before all others), else
those of the table, which count arguments.  Its library returned 7000 for any argument of STARTSTOP,
BUCKET and of an empty DIST, and 7002 for the only one of PKTINFO and SYNC; no
  test of MAPI 2 checked that.
"""

import os
import pathlib
import re
import unittest

import needs
from mapid import DATA, ClientError, Daemon

MAPI_CORE = pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "mapi-core"
ROWS = [
    (number, name, "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', texts)))
    for number, name, texts in re.findall(
        r'^ +\{(\d+), (\w+),\s+("(?:.|\n)*?")\},$',
        (MAPI_CORE / "client/errors/error_table.hpp").read_text(),
        re.MULTILINE,
    )
]
TEXTS = {int(number): text for number, _, text in ROWS}
PUBLISHED = [
    *range(1025, 1028),
    1100,
    *range(1200, 1204),
    *range(1300, 1304),
    *range(1400, 1403),
    1501,
    *range(1600, 1603),
    *range(3073, 3085),
    3139,
    *range(3200, 3203),
    *range(3500, 3506),
    *range(5121, 5125),
    *range(6140, 6158),
    *range(7000, 7012),
    *range(8000, 8005),
]
OWN = range(6158, 6164)
TRACE = DATA / "mapi/tracefile"

PREPARE = f"""
library, room = Flow.library, ctypes.create_string_buffer(65536)
handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda packet: None)
flow, connected = Flow.offline({str(TRACE)!r}), Flow.offline({str(TRACE)!r})
fd, size = flow.fd, flow.apply('PKTINFO', 1)
counter, filters = connected.apply('PKT_COUNTER'), connected.apply('BPF_FILTER', 'tcp')
buffer = connected.apply('TO_BUFFER', 0)
sampler = connected.apply('HASHSAMP', 1024, 0)
connected.connect()
active = connected.fd
counted = lambda *words: library.mapi_apply_function_counted(len(words) - 2, *words)
"""
# For each function with arguments: a wrong one -> its number. `other` is not a flow; `size` and
# `fd` are a function and its flow.
WRONG = {
    "BPF_FILTER": (
        (7001, "b''"),
        (7001, "None"),
        (1025, "b'RANDOM DATA:1231sad12e1ed2ed:'"),
        (1025, "b'tcp port'"),
        (1025, "b'host 1.2.3.4.5'"),
        (7002, "b'tcp', 1"),
    ),
    "STR_SEARCH": (
        (7001, "b'', 0, 0"),
        (7001, "None, 0, 0"),
        (7002, "b'a', -1, 0"),
        (7003, "b'a', 0, -1"),
        (3503, "b'|41', 0, 0"),
        (3504, "b'abcd', 0, 3"),
        (3505, "b'|4|', 0, 0"),
    ),
    "REGEXP": ((7000, "b')('"), (7000, "b'?'"), (7001, "None"), (7001, "b''")),
    "MATCH": ((7001, "b''"), (7001, "None"), (7001, "b'contnt:x;'"), (7001, "b'depth:1;'")),
    "INTERFACE": ((7001, "-1"), (7001, "65536")),
    "SAMPLE": ((7001, "0, 2"), (7001, "101, 3"), (7002, "5, 1342")),
    "SAMPLE_PACKETS": ((7001, "b'x', b'PERIODIC'"), (7002, "b'5', b'x'")),
    "HASHSAMP": ((7001, "0, 0"), (7001, "1025, 0"), (7002, "5, 2")),
    "PKTSELECT": (
        (7001, "0, 0, 0, 0"),
        (7003, "9, 0, 257, 0"),
        (7004, "9, 0, 0, 2"),
    ),
    "HASH": ((7001, "4"), (7001, "-1")),
    "PKTINFO": ((7001, "3"), (7001, "-1")),
    "BURST": (
        (7001, "-1, 9, 1, 0, 0, 0, 1"),
        (7002, "9, 9, 1, 0, 0, 0, 1"),
        (7003, "0, 9, 0, 0, 0, 0, 1"),
        (7004, "0, 9, 1, -1, 0, 0, 1"),
        (7005, "0, 9, 1, 0, -1, 0, 1"),
        (7011, "0, 9, 1, 0, 0, -1, 1"),
        (7000, "0, 9, 1, 0, 0, 0, 0"),
    ),
    "TOP": (
        (7001, "1001, 2, 11"),
        (7001, "0, 2, 11"),
        (7002, "10, 4, 11"),
        (7003, "10, 1, 11"),
        (7004, "10, 2, 11, 3"),
        (7005, "10, 2, 11, 1, -1"),
    ),
    "TO_BUFFER": ((7001, "7"),),
    "TO_FILE": (
        (7006, "13242312, path, 50"),
        (7006, "2, path, 50"),
        (6155, "0, None, 50"),
        (6155, "0, b'/no/such/folder/file', 0"),
    ),
    "STARTSTOP": ((7001, "b'x', b'+5s'"), (7002, "b'+1s', b'x'")),
    "SYNC": ((7001, "b'x'"), (7001, "b'%d,12345' % fd"), (7001, "None")),
    "BINOP": (
        (7001, "9, fd, size, fd, size"),
        (7002, "0, 12345, size, fd, size"),
        (7002, "0, fd, 77, fd, size"),
        (7004, "0, fd, size, fd, 77"),
    ),
    "STATS": ((7001, "1234343, size, b'0'"), (7001, "fd, 77, b'0'"), (7003, "fd, size, b'x'")),
    "DIST": (
        (7001, "fd, 77, b'0', b'9', b'1'"),
        (7003, "fd, size, b'x', b'9', b'1'"),
        (7004, "fd, size, b'0', b'x', b'1'"),
        (7004, "fd, size, b'9', b'0', b'1'"),
        (7005, "fd, size, b'0', b'9', b'x'"),
    ),
    "BUCKET": (
        (7001, "fd, 77, b'1s', 0"),
        (7003, "fd, size, b'x', 0"),
        (7004, "fd, size, b'1s', 7"),
    ),
    "THRESHOLD": (
        (7001, "3, fd, size, 1, 0, 1, 0, 0"),
        (7002, "2, fd, 77, 1, 0, 1, 0, 0"),
        (7005, "2, fd, size, 1, 3, 1, 0, 0"),
    ),
    "RES2FILE": (
        (7011, "b'1@1', b'1', b'TEST', path, b'5s', 234"),
        (7011, "b'1', b'%d@%d' % (size, fd), b'', b'/no/such/folder/file', b'x', -1"),
        (6155, "b'1', b'%d@%d' % (size, fd), b'TEST', None, b'5s', 1"),
        (7002, "b'%d@%d' % (size, fd), b'1', b'TEST', path, b'-25s', 1"),
        (7002, "b'1', b'77@%d' % fd, b'', path, b'5s', 1"),
        (7001, "b'9', b'%d@%d' % (size, fd), b'', path, b'5s', 1"),
        (7001, "b'1,1', b'%d@%d' % (size, fd), b'', path, b'5s', 1"),
        (7005, "b'1', b'%d@%d' % (size, fd), b'', path, b'x', 1"),
    ),
    "EXPIRED_FLOWS": ((7001, "0, 0, 0"), (7002, "1, -1, 0"), (7003, "1, 1, -1")),
    "FLOW_REPORT": ((7001, "b'NETFLOW_V1', b'SHMEM', b'', b''"),),
    "ANONYMIZE": (
        (7001, "b'SCTP,SRC_PORT,ZERO'"),
        (7002, "b'IP,SRC_PORT,ZERO'"),
        (7003, "b'IP,TTL,NOTHING'"),
    ),
    "ANONYMIZEIP": ((7001, "b'short'"), (7001, "None")),
    "CONNECTION": ((7001, "'established,no_such_word'"),),
    "CONNECTION_BITS": ((7001, "''"),),
    "RATE_FILTER": ((7001, "'threshold; type limit'"),),
    "COOKING": ((7001, "1 << 25, 0, 0, 1"), (7002, "0, -1, 0, 1"), (7004, "0, 0, 0, 7")),
    "UNCOOK": ((7001, "70000"),),
    "TRACK": ((7001, "b'NO SUCH PROTOCOL'"),),
    "INJECT": ((1026, "b'no-such-if0'"),),
}
# Directly after a program has started.
BEFORE = (
    (6141, "library.mapi_connect(-13141)"),
    (6141, "library.mapi_close_flow(1)"),
    (6141, "library.mapi_get_flow_info(1, b'')"),
)
MISUSE = (
    # flows
    (6157, "library.mapi_create_flow(None)"),
    (3200, "library.mapi_create_flow(b'WHO CARES')"),
    (3200, "library.mapi_create_flow(b'')"),
    (6145, "library.mapi_connect(13244)"),
    (6145, "library.mapi_connect(-5)"),
    (3081, "library.mapi_connect(active)"),
    (6145, "library.mapi_close_flow(13244)"),
    (6145, "library.mapi_get_scope_size(0)"),
    (6145, "library.mapi_is_remote(12345)"),
    (6143, "library.mapi_wait_flow(fd, 0)"),
    (6145, "library.mapi_wait_flow(12345, 0)"),
    (6155, "library.mapi_create_offline_flow(b'/no/such/file', 0)"),
    (6155, "library.mapi_create_offline_flow(None, 0)"),
    (1026, "library.mapi_create_offline_flow(b'/etc/passwd', 0)"),
    (3200, f"library.mapi_create_offline_flow({os.fsencode(TRACE)!r}, 3)"),
    (6155, "library.mapi_create_offline_device(None, 0) or -1"),
    (3202, "library.mapi_start_offline_device(b'none@1')"),
    (3202, "library.mapi_start_offline_device(None)"),
    (3202, "library.mapi_delete_offline_device(b'none@1')"),
    # functions
    (6144, "counted(fd, b'IMAGINARY FUNCTION')"),
    (6147, "counted(-12314, b'TO_BUFFER')"),
    (6145, "counted(12345, b'TO_BUFFER')"),
    (7006, "counted(fd, None)"),
    (7006, "counted(active, b'PKT_COUNTER')"),
    (7006, "counted(active, b'BYTE_COUNTER', None, b'ANOTHER1', 453)"),
    (7006, "counted(active, b'IMAGINARY FUNCTION')"),
    (7001, "counted(fd, b'PKT_COUNTER', 1)"),
    (1025, "counted(fd, b'BPF_FILTER', b'no such')"),
    (7000, "counted(fd, b'REGEXP', b')(')"),
    (7001, "counted(fd, b'REGEXP', None)"),
    (7001, "counted(fd, b'STATS', 1234343, size, b'0')"),
    (7001, "counted(fd, b'STATS', fd, -12352, b'0')"),
    (7003, "counted(fd, b'STATS', fd, size, b'x')"),
    (7004, "counted(fd, b'BINOP', 1, fd, size, fd, 77)"),
    (7001, "counted(fd, b'BINOP', 9, fd, size, fd, size)"),
    (7001, "counted(fd, b'DIST', fd, 77, b'0', b'9', b'1')"),
    (6155, "counted(fd, b'RES2FILE', b'1', b'%d@%d' % (size, fd), b'TEST', None, b'5s', 1)"),
    (6155, "counted(fd, b'TO_FILE', 0, None, 0)"),
    (6155, "counted(fd, b'TO_FILE', 0, b'/no/such/folder/file', 0)"),
    (7002, "counted(fd, b'RES2FILE', b'1', b'1@', b'', b'/dev/null', b'5s', 1)"),
    (7002, "counted(fd, b'STR_SEARCH', b'TEST', -120, 1500)"),
    (3503, "counted(fd, b'STR_SEARCH', b'|41', 0, 0)"),
    (3504, "counted(fd, b'STR_SEARCH', b'abcd', 0, 3)"),
    (3505, "counted(fd, b'STR_SEARCH', b'|4|', 0, 0)"),
    (7002, "counted(fd, b'SAMPLE', 20, 1342)"),
    (7001, "counted(fd, b'TOP', 1001, 2, 11)"),
    (7002, "counted(fd, b'TOP', 10, 4, 11)"),
    (7003, "counted(fd, b'TOP', 10, 1, 11)"),
    (6147, "library.mapi_reset_function(active, buffer)"),
    (6147, "library.mapi_reset_function(0, 1)"),
    (6147, "library.mapi_remove_function(active, 77)"),
    (6163, "library.mapi_remove_function(active, filters)"),
    # results and packets
    (6143, "bool(library.mapi_read_results(fd, size)) - 1"),
    (6147, "bool(library.mapi_read_results(active, 77)) - 1"),
    (6146, "bool(library.mapi_read_results(active, filters)) - 1"),
    (6146, "bool(library.mapi_read_results(active, sampler)) - 1"),
    (6145, "bool(library.mapi_read_results(12345, 1)) - 1"),
    (6145, "bool(library.mapi_read_results(0, 1)) - 1"),
    (6147, "bool(library.mapi_get_next_pkt(0, 1)) - 1"),
    (6145, "bool(library.mapi_get_next_pkt(12345, 1)) - 1"),
    (6143, "bool(library.mapi_get_next_pkt(fd, 1234)) - 1"),
    (6147, "bool(library.mapi_get_next_pkt(active, counter)) - 1"),
    (7003, "library.mapi_get_next_pkts(active, buffer, None, 1, 0)"),
    (7004, "library.mapi_get_next_pkts(active, buffer, room, 0, 0)"),
    (6147, "library.mapi_loop(-123, buffer, 50, handler)"),
    (6147, "library.mapi_loop(active, -12348, 50, handler)"),
    (6143, "library.mapi_loop(fd, size, 50, handler)"),
    (7004, "library.mapi_loop(active, buffer, 50, None)"),
    (6147, "library.mapi_get_poll_descriptor(active, counter)"),
    # information
    (6145, "library.mapi_get_flow_info(0, room)"),
    (6145, "library.mapi_get_flow_info(12345, room)"),
    (7002, "library.mapi_get_flow_info(fd, None)"),
    (6149, "library.mapi_get_next_flow_info(12345, room)"),
    (7002, "library.mapi_get_next_flow_info(fd, None)"),
    (6147, "library.mapi_get_function_info(0, 1, room)"),
    (6141, "library.mapi_get_function_info(12345, 1, room)"),
    (6150, "library.mapi_get_function_info(fd, 77, room)"),
    (7003, "library.mapi_get_function_info(fd, size, None)"),
    (6147, "library.mapi_get_next_function_info(0, 0, room)"),
    (6150, "library.mapi_get_next_function_info(12345, 0, room)"),
    (6150, "library.mapi_get_next_function_info(fd, size, room)"),
    (7003, "library.mapi_get_next_function_info(fd, 0, None)"),
    (6157, "library.mapi_get_device_info(12345, room)"),
    (7002, "library.mapi_get_device_info(1, None)"),
    (6157, "library.mapi_get_next_device_info(1 << 30, room)"),
    (7002, "library.mapi_get_next_device_info(0, None)"),
    (7001, "library.mapi_get_library_info(1, room)"),
    (7002, "library.mapi_get_library_info(0, None)"),
    (7001, "library.mapi_get_next_library_info(0, room)"),
    (6144, "library.mapi_get_libfunct_info(0, 9999, room)"),
    (7003, "library.mapi_get_libfunct_info(0, 0, None)"),
    (6157, "library.mapi_stats(None, room)"),
    (7002, "library.mapi_stats(b'tap', None)"),
    (3200, "library.mapi_stats(b'WHO CARES', room)"),
    (8004, "library.mapi_stats(b'tap', room)"),
    (7001, "library.mapi_set_device_option(None, b'', b'')"),
    (7003, "library.mapi_set_device_option(b'tap', b'batch', None)"),
)


class Table(unittest.TestCase):
    def test_every_published_number_is_in_the_table_once_and_no_other_but_this_library_s(self):
        self.assertEqual([int(number) for number, _, _ in ROWS], sorted([*PUBLISHED, *OWN]))
        self.assertEqual(len({name for _, name, _ in ROWS}), len(ROWS))

    def test_errors_h_has_the_names_and_numbers_of_the_table(self):
        header = re.findall(
            r"^ +(\w+) = (\d+),?(?: */\*.*)?$",
            (MAPI_CORE / "include/mapi/errors.h").read_text(),
            re.MULTILINE,
        )
        self.assertEqual([(name, number) for number, name, _ in ROWS], header)


class Misuse(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(f"[driver]\ndevice=tap\npath={TRACE}\n")
        self.addCleanup(self.daemon.close)

    def check(self, client, cases):
        for number, call in cases:
            with self.subTest(call=call):
                self.assertEqual(client.get(call), -1)
                reported = client.get("Flow.error()")
                self.assertTrue(reported.startswith(f"{number}: "), reported)
                self.assertGreater(len(reported), len(f"{number}: "))
                self.assertNotIn(TEXTS[number], reported)
        self.assertEqual(client.get("Flow.library.mapi_read_error(None, None)"), -1)

    def check_both(self, client):
        client.do("library = Flow.library")
        self.check(client, BEFORE)
        client.do(PREPARE)
        self.check(client, MISUSE)
        client.do(
            "for period in 1122320333, 1: flow.apply('SAMPLE', period, 2)\n"
            "flow.apply('STR_SEARCH', 'TEST', 0, 23412)"
        )

    def test_in_process(self):
        self.check_both(self.daemon.alone())

    def test_through_mapid(self):
        client = self.daemon.client()
        self.check_both(client)
        self.check(client, ((7001, "library.mapi_set_device_option(b'tap', b'batch', b'1')"),))

    def check_wrong(self, client):
        client.do(
            "library = Flow.library\n"
            + PREPARE
            + f"path = {os.fsencode(self.daemon.folder / 'written')!r}\n"
        )
        taking = client.get(
            "[name for name in function_names() if library.mapi_get_libfunct_info(0, "
            "function_names().index(name), room) == 0 and room.raw[1280:1281] not in b'\\0']"
        )
        self.assertEqual(
            sorted(WRONG), sorted(name for name in taking if not name.startswith("TRACK_"))
        )
        self.check(
            client,
            [
                (number, f"counted(fd, b'{name}', {arguments})")
                for name, rows in WRONG.items()
                for number, arguments in rows
            ],
        )

    def test_wrong_arguments_of_every_function_in_process(self):
        self.check_wrong(self.daemon.alone())

    def test_wrong_arguments_of_every_function_through_mapid(self):
        self.check_wrong(self.daemon.client())

    def test_no_mapid_at_a_socket_that_is_named_is_an_error_of_its_own(self):
        client = self.daemon.client()
        client.do("os.environ['MAPI_SOCKET'] = '/nowhere/mapid.sock'")
        self.check(client, ((5124, "Flow.library.mapi_create_flow(b'tap')"),))

    def test_a_text_that_is_too_long_loses_its_middle(self):
        client = self.daemon.alone()
        client.do(PREPARE)
        self.assertEqual(client.get("counted(fd, b'BPF_FILTER', b'tcp or ' * 200)"), -1)
        reported = client.get("Flow.error()")
        self.assertTrue(reported.startswith("1025: BPF_FILTER: filter "), reported)
        self.assertIn("...", reported)
        self.assertLess(len(reported), 520)

    def test_times_and_ends_have_numbers_that_were_never_published(self):
        client = self.daemon.alone()
        client.do(
            f"flow = Flow.offline({str(TRACE)!r})\nbuffer = flow.apply('TO_BUFFER', 0)\n"
            "flow.connect()\nflow.library.mapi_wait_flow(flow.fd, -1)\n"
            "name = Flow.library.mapi_create_offline_device\nname.restype = ctypes.c_char_p\n"
            f"waits = Flow.on_device(name({os.fsencode(TRACE)!r}, 0).decode())\n"
            "waits.apply('PKT_COUNTER')\nwaits.connect()"
        )
        self.check(client, ((6159, "Flow.library.mapi_wait_flow(waits.fd, 1)"),))
        self.assertRaises(ClientError, client.do, "flow.connect()")


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
