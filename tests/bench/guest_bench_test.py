# SPDX-License-Identifier: MIT
# guest_bench_test: output of guests -> figures; other output gives no figures.
import json
import pathlib
import sys
import unittest

import guest_bench

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "vm"))

LOAD = (
    "kernel discard read: sound; 1000 issued, 900 records, 100 lost\n"
    "kernel overwrite late: sound; 50 issued, 20 records, 28 lost\n"
)
WRITERS = (
    "unread: written 10.5 12.5\ndrained: written 20.0 25.0\n"
    '"losses":{"issued":1200,"drained":1000}\n"losses":{"issued":1200,"drained":1200}\n'
    "stopped: written 30 33\n"
)
MEASURES = (
    "<cpu 0>\nrdtsc\t20480\t10\t30\nidle START+STOP\t10\t1\t30\nSTART+STOP\t102400\t9\t30\n"
    "<cpu 1>\nrdtsc\t20000\t10\t30\nSTART+STOP\t100000\t9\t30\n"
)


def statistics(**documents):
    return "".join(
        f"json {name}\n{json.dumps(stats)}\nend of json\n" for name, stats in documents.items()
    )


def taken(recorder, middle):
    return "".join(
        f"taken by {recorder} in {number}: {middle + 10 * (-1) ** number + i}\r\n"
        for number in range(1, 11)
        for i in (-500, 0, 1)
    )


def figures(name, text):
    return {figure["figure"]: figure for figure in guest_bench.BENCHES[name].reader(text)}


class GuestBench(unittest.TestCase):
    def test_kills_of_all_kernels_are_added(self):
        one = "kills: 100, 0 failed; 5000 records, 7 lost and counted\n"
        figure = figures("kills", one + one.replace("0 failed", "1 failed"))[
            "nsmod_kills_with_a_committed_record_lost"
        ]
        self.assertEqual(
            (figure["value"], figure["raw"]),
            (1, {"kills": 200, "records": 10000, "lost_and_counted": 14}),
        )

    def test_records_that_are_neither_read_nor_lost_are_the_equations_figure(self):
        self.assertEqual(figures("equation", LOAD)["nsmod_equation_off_records"]["value"], 2)

    def test_writers_are_compared_with_the_run_that_nobody_reads(self):
        found = figures("drain", WRITERS)
        self.assertEqual([figure["value"] for figure in found.values()], [2.5, 1.5])
        self.assertEqual(found["nsmod_two_writers_drained_ratio"]["raw"]["lost"], 200)

    def test_a_record_is_reported_beside_its_clock_read(self):
        found = figures(
            "record_instructions",
            "nsmod cost: 16 probes take 16 instructions\n"
            "nsmod cost: 16 probes take 416 instructions\n",
        )
        self.assertEqual([figure["value"] for figure in found.values()], [25, 1])
        self.assertEqual(
            figures("record_ratio", MEASURES)["kernel_record_rdtsc_ratio"]["value"], 2.5
        )

    def test_records_by_programs_that_are_neither_drained_nor_lost_are_counted_on_each_cpu(self):
        rows = [
            {"cpu": 0, "issued": 100, "drained": 90, "lost": {"full": 7}},
            {"cpu": 1, "issued": 50, "drained": 53, "lost": {"full": 0}},
        ]
        found = figures("programs_equation", statistics(hotplug={"losses": {"by_cpu": rows}}))
        self.assertEqual(found["nsbpf_equation_off_records"]["value"], 6)

    def test_both_recorders_corrections_are_compared_by_their_errors(self):
        for middle in 1000, 1015, 2000, 0:
            text = taken("nsmod", 1000) + taken("bpf", middle)
            (figure,) = figures("recorders", text).values()
            self.assertEqual(figure["value"], abs(middle - 1000) / 20)

    def test_without_its_lines_there_is_no_figure(self):
        for name, text in (
            *((name, "something else\n") for name in guest_bench.BENCHES),
            ("drain", WRITERS.replace("stopped", "else")),
            ("recorders", taken("nsmod", 1000)),
            ("record_instructions", "16 probes take 16 instructions"),
            ("record_ratio", "rdtsc\t20480\t10\t30\n"),
        ):
            with self.assertRaises(guest_bench.NoFigure, msg=name):
                figures(name, text)

    def test_benches_txt_names_every_one(self):
        listed = (guest_bench.pathlib.Path(guest_bench.__file__).parent / "benches.txt").read_text()
        for name in guest_bench.BENCHES:
            self.assertIn(f"guest_bench.py {name} ", listed)


if __name__ == "__main__":
    unittest.main()
