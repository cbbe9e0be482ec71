#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump export --format perfetto and chrome: by Perfetto's own schema, the same slices, nesting,
counts, durations and arguments as `--what slices --json`."""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import timeline_files
from probed_programs import NSDUMP, SOURCE, ProbedProgramsTest, run

TESTS = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "tests"
GOLDEN = SOURCE / "tests/format/golden/v1"
OWN = ("thread", "cpu", "depth", "raw_ticks", "class", "unit", "unit_number")
KINDS = ("perfetto", "chrome")


def processor():
    return os.environ.get("NETSLICE_TRACE_PROCESSOR") or shutil.which("trace_processor_shell")


class TimelineTest(ProbedProgramsTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = cls.folder / "made.nsl"
        run(TESTS / "make_timeline_trace", cls.made).check_returncode()
        cls.parts = cls.folder / "parts.nsl"
        run(TESTS / "make_parts_trace", cls.parts).check_returncode()
        cls.large = cls.folder / "large.nsl"
        words = "--records 20000 --cpus 3 --threads 4 --counters 3 --lose-every 50"
        run(TESTS / "make_trace", cls.large, *words.split()).check_returncode()

    def timeline(self, trace, kind, *options):
        output = self.folder / f"out.{kind}"
        done = run(NSDUMP, "export", trace, "--format", kind, "-o", output, "-q", *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return getattr(timeline_files, kind)(output)

    def each(self, check):
        for trace in (*sorted(GOLDEN.glob("*.nsl")), self.made, self.large):
            for kind in KINDS:
                with self.subTest(trace=trace.name, kind=kind):
                    check(trace, kind)

    @staticmethod
    def key(row):
        """What identifies a slice; it is in arguments of the timeline and in rows."""
        return tuple(row.get(name) for name in ("thread", "cpu", "depth", "raw_ticks"))

    def test_slices_and_their_arguments_are_those_of_the_rows(self):
        def check(trace, kind):
            rows = self.export(trace, "slices", "-q")
            shown = self.timeline(trace, kind).slices
            self.assertGreater(len(rows), 10)
            self.assertEqual(len(shown), len(rows))
            wanted = collections.Counter((row["name"], *map(row.get, OWN)) for row in rows)
            found = collections.Counter((one.name, *map(one.arguments.get, OWN)) for one in shown)
            self.assertEqual(found, wanted)

        self.each(check)

    def test_net_values_and_counters_are_those_of_the_rows_in_the_order_of_stops(self):
        def check(trace, kind):
            rows = collections.defaultdict(list)
            for row in self.export(trace, "slices", "-q"):
                rows[row["name"], self.key(row)].append(row)
            for one in sorted(self.timeline(trace, kind).slices, key=lambda one: one.stop_ns):
                row = rows[one.name, self.key(one.arguments)].pop(0)
                for name, value in row.items():
                    if name.startswith(("raw_", "net_")):
                        self.assertAlmostEqual(one.arguments[name], value, delta=0.001)

        self.each(check)

    def test_durations_are_the_raw_ticks_in_nanoseconds(self):
        def check(trace, kind):
            for one in self.timeline(trace, kind).slices:
                duration_ns = one.stop_ns - one.start_ns
                self.assertLessEqual(abs(duration_ns - one.arguments["raw_ns"]), 1.001)

        self.each(check)

    def test_a_slice_is_nested_in_the_one_that_was_open_when_it_began(self):
        def check(trace, kind):
            for one in self.timeline(trace, kind).slices:
                if one.arguments["class"] == "crossed" or one.name == "kernel:interrupt":
                    self.assertIsNone(one.parent)
                    continue
                depth = one.arguments["depth"]
                around = one.parent
                self.assertEqual(depth > 0, around is not None, one)
                if around:
                    self.assertEqual(around.arguments["depth"], depth - 1)
                    self.assertEqual(around.arguments["thread"], one.arguments["thread"])
                    self.assertLessEqual(around.start_ns, one.start_ns)
                    self.assertGreaterEqual(around.stop_ns, one.stop_ns)

        self.each(check)

    def test_crossed_slices_have_a_track_of_their_own(self):
        for kind in KINDS:
            shown = self.timeline(self.made, kind).slices
            tracks = {True: set(), False: set()}
            for one in shown:
                tracks[one.arguments["class"] == "crossed"].add(one.track)
            self.assertGreater(len(tracks[True]), 1)
            self.assertFalse(tracks[True] & tracks[False])

    def test_a_flow_joins_the_slices_of_a_unit_across_threads(self):
        for kind in KINDS:
            flows = collections.defaultdict(list)
            for one in self.timeline(self.made, kind).slices:
                if one.flow is not None:
                    flows[one.flow].append(one.arguments)
            self.assertEqual(len(flows), 2000)
            for parts in flows.values():
                self.assertEqual({part["thread"] for part in parts}, {100, 200})
                self.assertEqual(len({part["unit_number"] for part in parts}), 1)

    def test_losses_are_where_they_happened_with_their_number_and_cause(self):
        for kind in KINDS:
            timeline = self.timeline(self.made, kind)
            losses = collections.defaultdict(list)
            for one in timeline.instants:
                losses[one.name].append(one.arguments)
                self.assertLess(one.arguments["since_ns"], one.start_ns)
            self.assertEqual(len(losses["records lost"]), 20)
            for loss in losses["records lost"]:
                self.assertEqual((loss["lost"], loss["reason"]), (7, "full"))
            for loss in losses["kernel records lost"]:
                self.assertEqual((loss["lost"], loss["reason"]), (3, "overwritten"))

    def test_counters_are_those_of_the_events_in_the_order_of_time(self):
        for kind in KINDS:
            counters = self.timeline(self.made, kind).counters
            events = self.export(self.made, "events", "-q")
            marks = [event["words"][0] for event in events if event["kind"] == "MARK"]
            totals = [e["words"][0] for e in events if e["kind"] == "STOP" and e["words"]]
            found = {track: [value for _, value in values] for track, values in counters.items()}
            self.assertEqual(found["length, thread 100"], marks)
            self.assertEqual(found["INSTRUCTIONS, thread 100"], totals)
            for values in counters.values():
                self.assertEqual(values, sorted(values, key=lambda value: value[0]))

    def check_counters(self, trace, timeline, *options):
        wanted = collections.defaultdict(list)
        for event in self.export(trace, "events", "-q", *options):
            words, thread = event["words"], event["thread"]
            if event["kind"] == "MARK":
                wanted[f"{event['name']}, thread {thread}"].append(words[0])
            elif event["kind"] == "STOP" and words:
                wanted[f"INSTRUCTIONS, thread {thread}"].append(words[0])
        found = {track: [value for _, value in all] for track, all in timeline.counters.items()}
        self.assertEqual(found, wanted)

    def test_a_selection_is_the_same_as_that_of_the_rows(self):
        for trace, options in (
            (self.made, ["--slice", "word"]),
            (self.made, ["--unit", "7"]),
            (self.made, ["-c", "30"]),
            (self.made, ["--from", "100us", "--to", "200us"]),
            (self.made, ["--unit", "700", "--from", "140540ns"]),  # begins at 140500 ns
            (self.parts, ["--from", "490ms", "--to", "600ms"]),
            (self.parts, ["--slice", "rare"]),
            (self.parts, ["--unit", "7"]),
            (self.parts, ["--unit", "7", "--from", "230ms"]),
        ):
            for kind in KINDS:
                with self.subTest(trace=trace.name, options=options, kind=kind):
                    rows = self.export(trace, "slices", "-q", *options)
                    timeline = self.timeline(trace, kind, *options)
                    self.assertGreater(len(rows), 0)
                    self.assertEqual(
                        collections.Counter(
                            (one.name, *map(one.arguments.get, OWN)) for one in timeline.slices
                        ),
                        collections.Counter((row["name"], *map(row.get, OWN)) for row in rows),
                    )
                    if options[0] != "-c":
                        self.check_counters(trace, timeline, *options)

    def test_a_part_has_the_slices_of_the_whole(self):
        def shown(timeline):
            return [(one.name, one.start_ns, one.stop_ns, one.arguments) for one in timeline.slices]

        for kind in KINDS:
            whole = shown(self.timeline(self.parts, kind))
            part = shown(self.timeline(self.parts, kind, "--slice", "rare"))
            self.assertEqual(part, [one for one in whole if one[0] == "rare"])
            part = shown(self.timeline(self.parts, kind, "--unit", "7"))
            self.assertEqual(part, [one for one in whole if one[3].get("unit_number") == 7])
            part = shown(self.timeline(self.parts, kind, "--from", "300ms", "--to", "550ms"))
            first_ns = min(one[1] for one in whole)
            wanted = [one for one in whole if 300e6 <= one[2] - first_ns <= 550e6]
            self.assertEqual(part, wanted)
            self.assertGreater(len(wanted), 100)

    def test_a_part_has_the_losses_in_it_and_no_others(self):
        for options, wanted in (
            ([], [5, 3, 9]),
            (["--to", "210ms"], []),
            (["--from", "300ms", "--to", "400ms"], [5]),
            (["--from", "540ms", "--to", "580ms"], []),  # one is where reading begins
            (["--slice", "rare"], [3]),
        ):
            for kind in KINDS:
                with self.subTest(options=options, kind=kind):
                    instants = self.timeline(self.parts, kind, *options).instants
                    self.assertEqual([one.arguments["lost"] for one in instants], wanted)

    def test_damaged_traces_are_exported_or_refused_with_the_reason(self):
        for trace in sorted((SOURCE / "tests/format/damaged").glob("*.nsl")):
            for kind in KINDS:
                with self.subTest(trace=trace.name, kind=kind):
                    output = self.folder / f"{trace.name}.{kind}"
                    done = run(NSDUMP, "export", trace, "--format", kind, "-o", output, "-q")
                    self.assertIn(done.returncode, (0, 1, 3), done.stderr)
                    self.assertEqual(output.exists(), done.returncode != 3)
                    if output.exists():
                        getattr(timeline_files, kind)(output)
                    else:
                        self.assertIn(trace.name, done.stderr)

    def test_what_cannot_be_written_leaves_nothing(self):
        for kind in KINDS:
            full = run(NSDUMP, "export", self.large, "--format", kind, "-o", "/dev/full", "-q")
            self.assertEqual(full.returncode, 4)
            folder = run(NSDUMP, "export", self.large, "--format", kind, "-o", self.folder, "-q")
            self.assertEqual(folder.returncode, 4)
            closed = subprocess.run(
                f"set -o pipefail; '{NSDUMP}' export '{self.large}' --format {kind} -q | head -c 9",
                shell=True,
                executable="/bin/bash",
                capture_output=True,
            )
            self.assertEqual((closed.stderr, len(closed.stdout)), (b"", 9))

    def test_ctrl_c_leaves_a_whole_timeline(self):
        for kind in KINDS:
            output = self.folder / f"interrupted.{kind}"
            words = [NSDUMP, "export", self.large, "--format", kind, "-q"]
            with subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as process:
                # It waits for its reader, and so cannot end before the signal.
                first = process.stdout.read(1)
                process.send_signal(signal.SIGINT)
                output.write_bytes(first + process.stdout.read())
            self.assertEqual(process.returncode, 130)
            slices = getattr(timeline_files, kind)(output).slices
            self.assertLess(len(slices), len(self.export(self.large, "slices", "-q")))

    def test_trace_processor_finds_the_same_slices(self):
        shell = processor()
        if not shell:
            self.skipTest("trace_processor is not installed (NETSLICE_TRACE_PROCESSOR names it)")
        rows = collections.Counter(row["name"] for row in self.export(self.made, "slices", "-q"))
        for kind in KINDS:
            self.timeline(self.made, kind)
            query = self.folder / "query.sql"
            query.write_text("select name, count(*) as n from slice where dur >= 0 group by name;")
            done = run(shell, "-q", query, self.folder / f"out.{kind}")
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [line.rsplit(",", 1) for line in done.stdout.splitlines()[1:]]
            found = {json.loads(name.replace('""', '\\"')): int(n) for name, n in lines}
            self.assertEqual({n: c for n, c in found.items() if "lost" not in n}, rows)


if __name__ == "__main__":
    unittest.main()
