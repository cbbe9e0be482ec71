#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump export --format folded, speedscope and flamegraph: their sums against the rows of slices,
and the shape that other programs expect."""

import json
import math
import os
import re
import unittest
import xml.etree.ElementTree

from made_traces import TESTS, MadeTracesTest, needs
from probed_programs import NSDUMP, run

FORMATS = ("folded", "speedscope", "flamegraph")
SVG = "{http://www.w3.org/2000/svg}"


def folded(text):
    return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in text.splitlines()}


def outermost(rows, value):
    """Sum over the slices that are in no other counted one; rows are in the order of the STOPs."""
    return sum(row[value] for row in rows if row["depth"] == 0 and is_counted(row))


def is_counted(row):
    return row["class"] not in ("migrated", "spans-loss", "crossed")


class Stacks(MadeTracesTest):
    def test_all_weights_together_are_the_net_values_of_the_outermost_slices(self):
        trace = self.make("sums", "--records", 20000, "--cpus", 4, "--counters", 1)
        rows = self.export(trace, "slices")
        for weight, value in (
            ("net-ticks", "net_ticks"),
            ("INSTRUCTIONS", "net_INSTRUCTIONS"),
        ):
            with self.subTest(weight):
                stacks = folded(self.export_as(trace, "--format", "folded", "--weight", weight)[0])
                self.assertAlmostEqual(
                    sum(stacks.values()), outermost(rows, value), delta=0.5 * len(stacks)
                )

    def test_a_stack_weighs_what_its_slices_take_without_those_inside(self):
        trace = self.make("self", "--records", 2000, "--cpus", 1)
        stacks = folded(self.export_as(trace, "--format", "folded", "--weight", "net-ticks")[0])
        net = {}
        for row in self.export(trace, "slices"):
            key = row["name"], row["depth"]
            net[key] = net.get(key, 0) + row["net_ticks"]
        inside = stacks["batch;classify;lookup"], stacks["batch;receive;lookup"]
        self.assertAlmostEqual(stacks["batch;classify"], net["classify", 0] - inside[0], delta=1)
        self.assertAlmostEqual(stacks["batch;receive"], net["receive", 0] - inside[1], delta=1)

    def test_net_ns_is_net_ticks_by_the_rate_of_the_clock(self):
        trace = self.make("rate", "--records", 2000)
        ticks = folded(self.export_as(trace, "--format", "folded", "--weight", "net-ticks")[0])
        ns = folded(self.export_as(trace, "--format", "folded")[0])
        hz = json.loads(self.export_as(trace, "--what", "stats", "--json")[0])["clock"]["hz"]
        for stack, weight in ns.items():
            self.assertAlmostEqual(weight, ticks[stack] * 1e9 / hz, delta=1)

    def test_slices_that_are_left_out_are_printed_with_the_reason(self):
        trace = self.make("left-out", "--records", 20000, "--migrate-every", 20, "--lose-every", 50)
        rows = self.export(trace, "slices")
        _, said = self.export_as(trace, "--format", "folded")
        for name in ("migrated", "spans-loss"):
            count = sum(row["class"] == name for row in rows)
            if count:
                self.assertRegex(said, rf"\b{count} {name}")
        self.assertIn("migrated", said)

    def test_interrupts_of_the_kernel_are_stacks_of_their_own(self):
        trace = self.make("kernel", "--records", 5000, "--kernel")
        stacks = folded(self.export_as(trace, "--format", "folded")[0])
        self.assertGreater(stacks["kernel:irq"], 0)
        self.assertEqual([stack for stack in stacks if "kernel:irq;" in stack], [])

    def test_a_trace_without_calibration_has_raw_weights_only(self):
        trace = self.make("raw", "--records", 2000, "--no-calibration")
        text, said = self.export_as(trace, "--format", "folded")
        self.assertEqual(text, "")
        self.assertIn("no calibration", said)
        raw = folded(self.export_as(trace, "--format", "folded", "--weight", "raw-ns")[0])
        self.assertGreater(min(raw.values()), 0)

    def test_a_speedscope_file_has_what_its_schema_requires(self):
        trace = self.make("speedscope", "--records", 5000)
        file = json.loads(self.export_as(trace, "--format", "speedscope")[0])
        self.assertEqual(file["$schema"], "https://www.speedscope.app/file-format-schema.json")
        self.assertEqual(set(file), {"$schema", "exporter", "name", "shared", "profiles"})
        frames = file["shared"]["frames"]
        for frame in frames:
            self.assertIsInstance(frame["name"], str)
            self.assertLessEqual(set(frame), {"name", "file", "line", "col"})
        (profile,) = file["profiles"]
        self.assertEqual(
            set(profile), {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        )
        self.assertEqual((profile["type"], profile["unit"]), ("sampled", "nanoseconds"))
        self.assertEqual(len(profile["samples"]), len(profile["weights"]))
        for stack in profile["samples"]:
            self.assertTrue(stack and all(0 <= place < len(frames) for place in stack))
        self.assertTrue(math.isclose(sum(profile["weights"]), profile["endValue"], rel_tol=1e-6))
        lines = folded(self.export_as(trace, "--format", "folded")[0])
        named = {
            ";".join(frames[place]["name"] for place in stack): round(weight)
            for stack, weight in zip(profile["samples"], profile["weights"])
        }
        for stack, weight in lines.items():
            self.assertAlmostEqual(named[stack], weight, delta=1)

    def test_a_flame_graph_is_xml_whose_frames_lie_in_those_around_them(self):
        trace = self.make("graph", "--records", 5000, "--kernel")
        root = xml.etree.ElementTree.fromstring(self.export_as(trace, "--format", "flamegraph")[0])
        frames = [
            (int(g.get("data-d")), float(g.get("data-x")), float(g.get("data-w")))
            for g in root.iter(f"{SVG}g")
            if g.get("class") == "frame"
        ]
        self.assertGreater(len(frames), 5)
        around = []
        for depth, x, width in frames:
            around = around[:depth]
            self.assertEqual(len(around), depth)
            if around:
                low, high = around[-1]
                self.assertGreaterEqual(x, low - 1e-7)
                self.assertLessEqual(x + width, high + 1e-7)
            around.append((x, x + width))
        for element in root.iter():
            for value in element.attrib.values():
                self.assertNotRegex(value, "^(https?:|//)")

    def test_what_cannot_be_combined_is_refused(self):
        trace = self.make("refused", "--records", 1000)
        for options, words in (
            (("--format", "folded", "-c", "5"), "--count"),
            (("--format", "csv", "--weight", "net-ns"), "--weight"),
            (("--format", "folded", "--weight", "CYCLES"), "no such counter"),
            (("--format", "folded", "--slice", "nothing"), "nothing"),
            (("--format", "folded", "--what", "events"), "--what"),
        ):
            _, said = self.export_as(trace, *options, code=2)
            self.assertIn(words, said)

    def test_an_output_that_cannot_be_written_is_an_error(self):
        trace = self.make("full", "--records", 1000)
        for kind in FORMATS:
            _, said = self.export_as(trace, "--format", kind, "-o", "/dev/full", code=4)
            self.assertIn("/dev/full", said)
            done = run("sh", "-c", f'"{NSDUMP}" export "{trace}" -q --format {kind} | head -c 1')
            self.assertEqual(done.stderr, "")

    def test_a_damaged_trace_gives_no_crash(self):
        for kind, trace in self.damaged():
            for form in FORMATS:
                with self.subTest(f"{kind} {form}"):
                    done = run(NSDUMP, "export", trace, "-q", "--format", form)
                    self.assertIn(done.returncode, (0, 1, 2, 3), done.stderr)
                    self.assertTrue(done.returncode == 0 or re.search("nsdump: ", done.stderr))


if __name__ == "__main__":
    if not (TESTS / "make_trace").exists():
        needs.skip("make_trace is not built")
    os.environ["LC_ALL"] = "C"  # files are UTF-8 in every locale
    unittest.main()
