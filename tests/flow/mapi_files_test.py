#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that functions write: they are complete when the flow is closed, do not block others while
they are stuck, and missing records are counted."""

import ctypes
import os
import pathlib
import struct
import tempfile
import threading
import time
import unittest

from mapi_library import MFF_PCAP, Flow, stats_of

PACKETS = 3000
RECORD_BYTES = 16 + 60


def write_capture(path, times_ns):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for time_ns in times_ns:
            file.write(
                struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, 60, 60) + b"\xff" * 60
            )


def open_files():
    return [os.path.realpath(link) for link in pathlib.Path("/proc/self/fd").iterdir()]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.capture = self.folder / "capture.pcap"
        write_capture(self.capture, [10**18 + i * 10**6 for i in range(PACKETS)])

    def device(self):
        """Flows of the capture; they start together."""
        create = Flow.library.mapi_create_offline_device
        create.restype = ctypes.c_void_p
        name = create(os.fsencode(self.capture), MFF_PCAP)
        self.addCleanup(Flow.library.mapi_delete_offline_device, ctypes.c_void_p(name))
        return ctypes.string_at(name).decode()

    def start(self, device):
        self.assertEqual(Flow.library.mapi_start_offline_device(device.encode()), 0)

    def fifo(self):
        """Full, and not read until the end of the test."""
        path = self.folder / "fifo"
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        writer = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        try:
            while True:
                os.write(writer, b"x" * 4096)
        except BlockingIOError:
            os.close(writer)
        return path

    def whole(self, path):
        """Packets in a file that contains only this test's packets."""
        records, rest = divmod(os.path.getsize(path) - 24, RECORD_BYTES)
        self.assertEqual(rest, 0)
        return records

    def close_in_time(self, flow, seconds=10):
        done = threading.Thread(target=flow.close, daemon=True)
        done.start()
        done.join(seconds)
        self.assertFalse(done.is_alive(), "the flow cannot be closed")

    def test_a_closed_flows_file_is_complete_and_grows_no_more(self):
        config = self.folder / "mapi.conf"
        config.write_text(f"[driver]\ndevice=endless\npath={self.capture}\nrepeat=forever\n")
        os.environ["MAPI_CONF"] = str(config)
        other = Flow.on_device("endless")
        other.apply("PKT_COUNTER")
        other.connect()
        for i in range(20):
            path = self.folder / f"file{i % 2}"
            flow = Flow.on_device("endless")
            flow.apply("TO_FILE", MFF_PCAP, str(path), 0)
            rows = flow.apply("PKT_COUNTER")
            flow.apply(
                "RES2FILE", "1", f"{rows}@{flow.fd}", "packets", str(path) + ".rows", "-1", 0
            )
            flow.connect()
            while flow.word(rows) < 100:
                time.sleep(0.001)
            flow.close()
            size = os.path.getsize(path)
            self.assertGreater(self.whole(path), 0)
            self.assertGreater(int(pathlib.Path(str(path) + ".rows").read_text().split()[1]), 0)
            time.sleep(0.01)
            self.assertEqual(os.path.getsize(path), size)
        other.close()

    def test_a_flow_that_is_closed_while_another_ones_reader_blocks_the_device_is_ended_later(self):
        config = self.folder / "mapi.conf"
        write_capture(self.capture, [10**18 + i * 10**6 for i in range(400000)])
        config.write_text(f"[driver]\ndevice=held\npath={self.capture}\n")
        os.environ["MAPI_CONF"] = str(config)
        holding, other = Flow.on_device("held"), Flow.on_device("held")
        buffer = holding.apply("TO_BUFFER", 0)
        rows = Flow.on_device("held")
        count = rows.apply("PKT_COUNTER")
        rows.apply(
            "RES2FILE", "1", f"{count}@{rows.fd}", "packets", str(self.folder / "rows"), "-1", 0
        )
        other.apply("PKT_COUNTER")
        for flow in rows, other, holding:
            flow.connect()
        self.until_full("held")
        self.close_in_time(rows)
        # until the device's thread has continued with the next plan, and waits again
        for _ in range(60000):
            self.assertTrue(holding.library.mapi_get_next_pkt(holding.fd, buffer))
        time.sleep(1)
        self.close_in_time(other)
        self.close_in_time(holding)
        lines = (self.folder / "rows").read_text().split()
        self.assertEqual(lines[0], "packets")
        self.assertGreater(int(lines[1]), 0)

    def until_full(self, device):
        """Until a reader that does not read blocks the device."""
        before, now = -1, stats_of(device).ps_recv
        while now != before:
            time.sleep(0.2)
            before, now = now, stats_of(device).ps_recv

    def test_a_flow_that_is_closed_before_its_first_packet_leaves_a_capture_file(self):
        flow = Flow.on_device(self.device())
        flow.apply("TO_FILE", MFF_PCAP, str(self.folder / "file"), 0)
        flow.connect()
        flow.close()
        self.assertEqual(self.whole(self.folder / "file"), 0)

    def test_a_file_that_is_stuck_blocks_no_other_flow_and_its_flow_can_be_closed(self):
        device = self.device()
        stuck, other = Flow.on_device(device), Flow.on_device(device)
        stuck.apply("TO_FILE", MFF_PCAP, str(self.fifo()), 0)
        count = other.apply("PKT_COUNTER")
        for flow in stuck, other:
            flow.connect()
        self.start(device)
        self.assertEqual(Flow.library.mapi_wait_flow(other.fd, 10000), 0)
        self.assertEqual(other.word(count), PACKETS)
        self.assertEqual(Flow.library.mapi_wait_flow(stuck.fd, 100), -1)
        late = Flow.on_device(device)
        late.apply("TO_FILE", MFF_PCAP, str(self.folder / "fifo"), 0)
        late.connect()  # the device has ended
        for flow in stuck, late, other:
            self.close_in_time(flow)
        self.assertEqual(stats_of(device).drop_not_written, PACKETS)

    def test_records_that_a_file_lacks_stay_counted_when_a_flow_that_another_uses_is_closed(self):
        device = self.device()
        flow, other = Flow.on_device(device), Flow.on_device(device)
        count = flow.apply("PKT_COUNTER")
        flow.apply("TO_FILE", MFF_PCAP, "/dev/full", 0)
        other.apply("STATS", flow.fd, count, "0")
        for one in flow, other:
            one.connect()
        self.start(device)
        self.assertEqual(Flow.library.mapi_wait_flow(flow.fd, 10000), 0)
        for _ in range(2):
            stats = stats_of(device)
            self.assertEqual((stats.drop_not_written, stats.ps_drop), (PACKETS, PACKETS))
            self.assertIn(b"No space left", stats.message)
            if flow:
                flow.close()
                flow = None
        end = time.monotonic() + 10
        while "/dev/full" in open_files() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertNotIn("/dev/full", open_files())
        other.close()

    def test_a_file_with_enough_packets_is_finished_even_if_no_more_arrive(self):
        path = self.folder / "slow"
        os.mkfifo(path)
        opened = []
        opener = threading.Thread(target=lambda: opened.append(Flow.offline(path)))
        opener.start()
        with open(path, "wb") as source:
            source.write(self.capture.read_bytes()[: 24 + 100 * RECORD_BYTES])
            source.flush()
            opener.join()
            flow = opened[0]
            file = flow.apply("TO_FILE", MFF_PCAP, str(self.folder / "file"), 5)
            flow.connect()
            end = time.monotonic() + 10
            while flow.word(file) != 0 and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual(flow.word(file), 0)
            self.assertEqual(self.whole(self.folder / "file"), 5)
        flow.close()

    def test_a_time_stamp_far_ahead_costs_neither_memory_nor_later_rows(self):
        second = 10**9
        write_capture(
            self.capture,
            [10**18, 10**18 + 10**8 * second, *(10**18 + i * second for i in range(1, 11))],
        )
        flow = Flow.offline(self.capture)
        size = flow.apply("PKTINFO", 2)
        spread = flow.apply("DIST", flow.fd, size, "0", "1000", "1")
        count = flow.apply("PKT_COUNTER")
        file = flow.apply(
            "RES2FILE",
            "0,1",
            f"{spread}@{flow.fd},{count}@{flow.fd}",
            "spread count",
            str(self.folder / "rows"),
            "1s",
            0,
        )
        flow.run()
        self.assertLess(os.path.getsize(self.folder / "rows"), 100 << 20)
        self.assertTrue((self.folder / "rows").read_bytes().endswith(b"12 \n"))
        self.assertGreaterEqual(flow.information(file).time_jumps, 2)
        self.assertEqual(flow.dropped(file), 0)
        flow.close()

    def test_a_file_has_one_writer_and_is_not_the_capture_that_is_read(self):
        before = self.capture.read_bytes()
        flow = Flow.offline(self.capture)
        count = flow.apply("PKT_COUNTER")
        path = self.folder / "file"
        flow.apply("TO_FILE", MFF_PCAP, str(path), 0)
        for refused in path, self.capture:
            self.assertEqual(flow.try_apply("TO_FILE", MFF_PCAP, str(refused), 0), -1)
            self.assertIn("each its own file", Flow.error())
            self.assertEqual(
                flow.try_apply("RES2FILE", "1", f"{count}@{flow.fd}", "h", str(refused), "1", 0), -1
            )
        flow.run()
        flow.close()
        self.assertEqual(self.capture.read_bytes(), before)
        self.assertEqual(self.whole(path), PACKETS)

    def test_a_function_that_is_refused_leaves_no_file(self):
        flow = Flow.offline(self.capture)
        count, spread = flow.apply("PKT_COUNTER"), flow.apply("PKTINFO", 2)
        for refused in (
            ("TO_FILE", 17, str(self.folder / "file"), 0),
            ("RES2FILE", "1", f"{count}@{flow.fd},", "h", str(self.folder / "file"), "1", 0),
            ("RES2FILE", "3", f"{spread}@{flow.fd}", "h", str(self.folder / "file"), "1", 0),
        ):
            self.assertEqual(flow.try_apply(*refused), -1, refused)
            self.assertFalse((self.folder / "file").exists())
        flow.close()


if __name__ == "__main__":
    unittest.main()
