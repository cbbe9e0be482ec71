#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""RATE_FILTER: which packets pass, with the meaning of Snort's threshold and detection_filter."""

import pathlib
import struct
import tempfile
import unittest

from capture_files import packet_of
from mapi_library import Flow

LINKTYPE_RAW = 101
ONE, TWO, TARGET = ("10.0.0.1", 1), ("10.0.0.2", 1), ("10.0.0.3", 80)


def capture_of(folder, events):
    """Events: (seconds, source, destination)."""
    path = pathlib.Path(folder) / "capture.pcap"
    records = b""
    for seconds, source, destination in events:
        packet = packet_of(source, destination, 1, 0, 2)
        records += (
            struct.pack("<IIII", int(seconds), int(seconds % 1 * 1000000), len(packet), len(packet))
            + packet
        )
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, LINKTYPE_RAW) + records)
    return path


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def passed(self, rule, events):
        """The indices of the events that pass: each is counted after the flow has got it."""
        flow = Flow.offline(capture_of(self.folder, events))
        flow.apply("RATE_FILTER", rule)
        buffer = flow.apply("TO_BUFFER", 1)
        flow.run()
        return len(list(flow.packets(buffer))), flow

    def count(self, rule, times, source=ONE, target=TARGET):
        return self.passed(rule, [(1000 + time, source, target) for time in times])[0]

    def test_limit_passes_the_first_packets_of_each_interval(self):
        rule = "threshold; type limit; track by_src; count 2; seconds 60"
        self.assertEqual(self.count(rule, [0, 1, 2, 3, 59]), 2)
        self.assertEqual(self.count(rule, [0, 1, 2, 60, 61, 62]), 4)

    def test_threshold_passes_each_nth_packet_of_an_interval(self):
        rule = "threshold: type threshold, track by_src, count 3, seconds 60".replace(":", ";")
        self.assertEqual(self.count(rule, [0, 1, 2, 3, 4, 5, 6]), 2)
        self.assertEqual(self.count(rule, [0, 1, 60, 61]), 0)
        self.assertEqual(self.count(rule, [0, 1, 60, 61, 62]), 1)

    def test_both_passes_one_packet_of_an_interval_at_the_nth(self):
        rule = "threshold; type both; track by_src; count 3; seconds 60"
        self.assertEqual(self.count(rule, [0, 1]), 0)
        self.assertEqual(self.count(rule, range(10)), 1)
        self.assertEqual(self.count(rule, [*range(10), *range(60, 70)]), 2)

    def test_a_detection_filter_passes_what_exceeds_the_count(self):
        # the times and verdicts of Snort's own test of detection filters, by_src, count 1, 1 s
        rule = "detection_filter; track by_src; count 1; seconds 1"
        times = [0.0, 1.0, 2.0, 2.1, 2.1, 2.9, 3.0, 4.0]
        verdicts = [0, 0, 0, 1, 1, 1, 1, 0]
        for length in range(1, len(times) + 1):
            self.assertEqual(self.count(rule, times[:length]), sum(verdicts[:length]), length)

    def test_addresses_are_counted_one_by_one_by_source_or_destination(self):
        events = [(1000 + i, source, TARGET) for i in range(4) for source in (ONE, TWO)]
        by_source = "threshold; type limit; track by_src; count 1; seconds 60"
        self.assertEqual(self.passed(by_source, events)[0], 2)
        self.assertEqual(self.passed(by_source.replace("src", "dst"), events)[0], 1)

    def test_a_step_back_of_the_clock_begins_again_and_is_counted(self):
        rule = "threshold; type limit; track by_src; count 1; seconds 60"
        events = [(time, ONE, TARGET) for time in (5000, 5001, 1000, 1001, 1000.5)]
        count, flow = self.passed(rule, events)
        self.assertEqual(count, 2)
        self.assertEqual(flow.information(1).time_jumps, 1)
        count, flow = self.passed(rule, [(time, ONE, TARGET) for time in (5000, 4990, 5059)])
        self.assertEqual((count, flow.information(1).time_jumps), (1, 0))

    def test_addresses_beyond_the_table_evict_the_one_silent_longest_and_are_counted(self):
        rule = "threshold; type limit; track by_src; count 1; seconds 60"
        sources = [(f"10.1.{i >> 8}.{i & 255}", 1) for i in range(5000)]
        events = [(1000, source, TARGET) for source in [*sources, sources[-1], sources[0]]]
        count, flow = self.passed(rule, events)
        self.assertEqual(count, 5001)
        self.assertEqual(flow.words(1), [4096, 5001 - 4096])

    def test_filters_of_a_program_share_room_for_addresses(self):
        sources = [(f"10.1.{i >> 8}.{i & 255}", 1) for i in range(5000)]
        capture = capture_of(self.folder, [(1000, source, TARGET) for source in sources])
        filters = 70
        for count in (filters, 1):
            flow = Flow.offline(capture)
            for i in range(count):
                flow.apply(
                    "RATE_FILTER", f"threshold; type limit; track by_src; count {i + 2}; seconds 60"
                )
            flow.run()
            words = [flow.words(i + 1) for i in range(count)]
            flow.close()
            self.assertEqual([sum(word) for word in words], [5000] * count)
            addresses = [word[0] for word in words]
            if count == 1:
                self.assertEqual(addresses, [4096])
            else:
                self.assertLess(min(addresses), 4096)
                self.assertLessEqual(max(addresses), 4096)
                self.assertGreater(min(addresses), 2000)
                self.assertLessEqual(sum(addresses), filters * 64 + 262144)

    def test_a_rule_that_is_not_valid_is_refused_with_its_place(self):
        flow = Flow.offline(capture_of(self.folder, [(1000, ONE, TARGET)]))
        for rule, words in (
            ("limit", 'at 0: "limit" is neither threshold nor detection_filter'),
            ("threshold; type limit", "type, track, count and seconds are required"),
            ("detection_filter; count 1; track by_src; seconds 1; type both", "has no type"),
            ("threshold; type most", 'at 16: "most" is none of limit'),
            ("threshold; track by_rule", 'at 17: "by_rule" is neither'),
            ("threshold; count 0", 'at 17: "0" is not a number from 1'),
            ("threshold; count 1; count 2", "at 20: count is given twice"),
            ("threshold; counts 5", 'at 11: "counts 5" is none of'),
        ):
            with self.subTest(rule):
                self.assertLess(flow.try_apply("RATE_FILTER", rule), 0)
                error = flow.error()
                self.assertIn("7001: RATE_FILTER: ", error)
                self.assertIn(words, error)


if __name__ == "__main__":
    unittest.main()
