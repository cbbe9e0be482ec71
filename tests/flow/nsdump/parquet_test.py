#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsdump export --format parquet: what DuckDB and pyarrow read, against nsdump's own rows."""

import contextlib
import io
import os
import resource
import time
import unittest
from unittest import mock

from parquet_library import BUILD, SOURCE, ArrowTest, dataset, duckdb, netslice, parquet
from probed_programs import NSDUMP, run

# cpu, thread, name, start, raw, net, class, unit_number
COLUMNS = ("cpu", "thread", "name", "start_ticks", "raw_ticks", "net_ticks", "class", "unit_number")
COUNTED = """
    NET_SLICE_INIT(batch, 5, 3, 192);
    NET_SLICE_START(busy);
    NET_SLICE_STOP(busy);
    NET_SLICE_EXIT(batch);
"""
QUERIES = SOURCE / "nsdump/python/examples/queries.sql"


def comparable(rows):
    """Rows of slices in one order; JSON has three digits of a net value."""
    return sorted(
        tuple(round(row[name], 3) + 0 if name == "net_ticks" else row.get(name) for name in COLUMNS)
        for row in rows
    )


def events(table):
    names = ("cpu", "thread", "ticks", "kind", "name", "words")
    return [{name: row[name] for name in names} for row in table.to_pylist()]


class Parquet(ArrowTest):
    def sql(self, query, *values):
        with duckdb.connect() as connection:
            return connection.execute(query, [str(value) for value in values]).fetchall()

    def test_duckdb_and_pyarrow_read_the_rows_that_json_has(self):
        folder = self.parquet(self.trace, "rows")
        expected = comparable(self.export(self.trace, "slices"))
        self.assertGreater(len(expected), 20000)
        table = parquet.read_table(folder / "slices.parquet")
        self.assertEqual(comparable(table.to_pylist()), expected)
        names = ", ".join(COLUMNS)
        rows = self.sql(f"SELECT {names} FROM read_parquet(?)", folder / "slices.parquet")
        self.assertEqual(comparable(dict(zip(COLUMNS, row)) for row in rows), expected)

    def test_counts_and_sums_are_those_of_the_report(self):
        folder = self.parquet(self.trace, "sums")
        report = self.export(self.trace, "stats")
        rows = self.sql(
            "SELECT name, count(*), sum(raw_ticks), sum(net_ticks) FROM read_parquet(?)"
            " WHERE class NOT IN ('migrated', 'spans-loss', 'crossed') GROUP BY name",
            folder / "slices.parquet",
        )
        by_name = {name: rest for name, *rest in rows}
        self.assertEqual(len(by_name), len(report["slices"]))
        for one in report["slices"]:
            count, raw, net = by_name[one["name"]]
            self.assertEqual(count, one["count"])
            self.assertEqual(raw, one["values"][0]["raw"]["total"])
            self.assertAlmostEqual(net / one["values"][0]["net"]["total"], 1, 9)
        units = self.sql(
            "SELECT unit, count(*), sum(packets), sum(wire_bytes) FROM read_parquet(?) GROUP BY 1",
            folder / "units.parquet",
        )
        expected = [
            (one["name"], one["units"], one["packets"], one["bytes"]) for one in report["units"]
        ]
        self.assertEqual(units, expected)

    def test_metadata_have_the_clock_and_the_units_of_columns(self):
        folder = self.parquet(self.trace, "metadata")
        report = self.export(self.trace, "stats")
        schema = parquet.read_schema(folder / "slices.parquet")
        self.assertEqual(float(schema.metadata[b"netslice.clock.hz"]), report["clock"]["hz"])
        self.assertEqual(schema.field("net_ticks").metadata[b"unit"], b"ticks")
        self.assertEqual(schema.field("start_ns").metadata[b"unit"], b"ns")

    def test_losses_add_up_to_those_of_the_report(self):
        trace = self.make_trace("loss", "--records", 20000, "--lose-every", 50)
        report = self.export(trace, "stats")
        lost = sum(report["losses"]["lost"].values())
        self.assertGreater(lost, 0)
        folder = self.parquet(trace, "losses")
        rows = self.sql("SELECT sum(records) FROM read_parquet(?)", folder / "losses.parquet")
        self.assertEqual(rows, [(lost,)])
        metadata = parquet.read_schema(folder / "losses.parquet").metadata
        for cause, records in report["losses"]["lost"].items():
            self.assertEqual(int(metadata[f"netslice.lost.{cause}".encode()]), records, cause)

    def test_metadata_have_the_wall_clock_at_the_start(self):
        before_ns = time.time_ns()
        trace = self.record("started", COUNTED)
        schema = netslice.open(trace).slices().schema
        self.assertTrue(
            before_ns <= int(schema.metadata[b"netslice.start_unix_ns"]) <= time.time_ns()
        )

    def test_counters_have_raw_and_net_columns(self):
        trace = self.record("counted", COUNTED, "--counters", "page-faults")
        (row,) = self.export(trace, "slices")
        table = parquet.read_table(self.parquet(trace, "counters") / "slices.parquet")
        (own,) = table.to_pylist()
        self.assertEqual(own["raw_page-faults"], row["raw_page-faults"])
        self.assertEqual(own["unit_number"], 5)

    def test_a_selection_is_that_of_json(self):
        report = self.export(self.trace, "stats")
        name = report["slices"][0]["name"]
        for place, options in enumerate((("--slice", name), ("--unit", "7"), ("-c", "100"))):
            with self.subTest(options=options):
                folder = self.parquet(self.trace, f"selection{place}", *options)
                table = parquet.read_table(folder / "slices.parquet")
                expected = self.export(self.trace, "slices", *options)
                self.assertEqual(table.num_rows, len(expected))
                if options[0] != "-c":  # the first 100 in another order
                    self.assertEqual(comparable(table.to_pylist()), comparable(expected))

    def test_a_range_has_the_rows_that_json_has(self):
        name = self.export(self.trace, "stats")["slices"][0]["name"]
        every = len(self.export(self.trace, "slices"))
        part = self.export(self.trace, "slices", "--from", "30us", "--to", "60us")
        unit = str(part[len(part) // 2]["unit_number"])
        for place, options in enumerate(
            (
                ("--from", "30us"),
                ("--to", "60us"),
                ("--from", "30us", "--to", "60us"),
                ("--from", "30us", "--to", "60us", "--slice", name),
                ("--from", "30us", "--unit", unit),
                ("--to", "45us", "--unit", str(part[0]["unit_number"])),
                ("--from", "1h"),
            )
        ):
            with self.subTest(options=options):
                folder = self.parquet(self.trace, f"range{place}", *options)
                rows = parquet.read_table(folder / "slices.parquet").to_pylist()
                expected = self.export(self.trace, "slices", *options)
                self.assertEqual(comparable(rows), comparable(expected))
                self.assertLess(len(rows), every)
                self.assertEqual(len(rows) > 0, "1h" not in options)

    def test_units_of_a_range_are_those_of_the_report(self):
        options = ("--from", "30us", "--to", "60us")
        folder = self.parquet(self.trace, "range_units", *options)
        units = self.sql(
            "SELECT unit, count(*), sum(packets), sum(wire_bytes) FROM read_parquet(?) GROUP BY 1",
            folder / "units.parquet",
        )
        report = self.export(self.trace, "stats", *options)
        expected = [
            (one["name"], one["units"], one["packets"], one["bytes"]) for one in report["units"]
        ]
        self.assertEqual(units, expected)
        self.assertGreater(units[0][1], 0)

    def test_events_of_a_range_are_those_of_json(self):
        options = ("--from", "30us", "--to", "40us")
        folder = self.parquet(self.trace, "range_events", "--what", "events", *options)
        expected = self.export(self.trace, "events", *options)
        self.assertGreater(len(expected), 0)
        self.assertEqual(events(parquet.read_table(folder / "events.parquet")), expected)

    def test_two_ranges_have_all_slices_once(self):
        parts = []
        for name, options in (("first", ("--to", "50us")), ("second", ("--from", "50001ns"))):
            folder = self.parquet(self.trace, name, *options, "--partition", "cpu")
            table = dataset.dataset(folder / "slices", partitioning="hive").to_table()
            parts += table.to_pylist()
        self.assertEqual(comparable(parts), comparable(self.export(self.trace, "slices")))

    def test_losses_are_those_of_the_recording_and_metadata_have_the_range(self):
        trace = self.make_trace("range_loss", "--records", 20000, "--lose-every", 50)
        whole = self.parquet(trace, "whole_losses")
        part = self.parquet(trace, "range_losses", "--from", "5us", "--to", "0.00001")
        losses = [parquet.read_table(folder / "losses.parquet") for folder in (whole, part)]
        self.assertGreater(losses[0].num_rows, 0)
        self.assertEqual(losses[0].to_pylist(), losses[1].to_pylist())
        metadata = parquet.read_schema(part / "slices.parquet").metadata
        self.assertEqual(metadata[b"netslice.range.from_ns"], b"5000")
        self.assertEqual(metadata[b"netslice.range.to_ns"], b"10000")
        for schema in (losses[1].schema, parquet.read_schema(whole / "slices.parquet")):
            self.assertNotIn(b"netslice.range.from_ns", schema.metadata)

    def test_a_range_may_be_given_as_utc(self):
        trace = self.record("utc", COUNTED)
        rows = []
        for place, time_text in enumerate(("2001-01-01T00:00:00Z", "2100-01-01T00:00:00Z")):
            folder = self.parquet(trace, f"utc{place}", "--from", time_text)
            rows.append(parquet.read_table(folder / "slices.parquet").num_rows)
        self.assertEqual(rows, [1, 0])

    def test_stops_without_start_in_a_range_are_reported_as_by_csv(self):
        trace = self.folder / "parts.nsl"
        self.assertEqual(run(BUILD / "tests/make_parts_trace", trace).returncode, 0)
        options = ("--from", "840ms", "--to", "854ms")
        csv = run(NSDUMP, "export", trace, "--what", "slices", *options)
        done, _ = self.write(trace, "unmatched", *options)
        self.assertEqual((done.returncode, done.stderr), (csv.returncode, csv.stderr))
        self.assertIn("1 STOP has no START", done.stderr)

    def test_events_have_the_words_that_json_has(self):
        options = ("-c", "5000")
        folder = self.parquet(self.trace, "events", "--what", "events", *options)
        table = parquet.read_table(folder / "events.parquet")
        self.assertEqual(events(table), self.export(self.trace, "events", *options))

    def test_events_of_a_unit_are_those_of_json(self):
        report = self.export(self.trace, "stats")
        by_name = ("--unit", "7", "--slice", report["slices"][0]["name"])
        for place, options in enumerate((("--unit", "7"), by_name)):
            with self.subTest(options=options):
                folder = self.parquet(self.trace, f"unit{place}", "--what", "events", *options)
                expected = self.export(self.trace, "events", *options)
                self.assertGreater(len(expected), 0)
                self.assertEqual(events(parquet.read_table(folder / "events.parquet")), expected)

    def test_partitions_hold_the_same_rows_for_duckdb_and_pyarrow(self):
        expected = comparable(self.export(self.trace, "slices"))
        for place, partition in enumerate(("cpu", "time=100us", "cpu,time=100us")):
            with self.subTest(partition=partition):
                folder = self.parquet(
                    self.trace, f"parts{place}", "--partition", partition, "--compression", "lz4"
                )
                parts = dataset.dataset(folder / "slices", partitioning="hive")
                self.assertGreater(len(parts.files), 1)
                self.assertEqual(comparable(parts.to_table().to_pylist()), expected)
                rows = self.sql(
                    f"SELECT {', '.join(COLUMNS)} FROM read_parquet(?, hive_partitioning = true)",
                    folder / "slices/**/*.parquet",
                )
                self.assertEqual(comparable(dict(zip(COLUMNS, row)) for row in rows), expected)

    def test_the_folder_of_a_time_window_has_its_slices_only(self):
        folder = self.parquet(self.trace, "windows", "--partition", "time=100us")
        rows = self.sql(
            "SELECT count(*), count(*) FILTER (start_ns // 100000 * 100000 <> time_ns)"
            " FROM read_parquet(?, hive_partitioning = true)",
            folder / "slices/**/*.parquet",
        )
        self.assertEqual(rows, [(len(self.export(self.trace, "slices")), 0)])

    def test_the_ten_queries_of_the_example_answer(self):
        folder = self.parquet(self.trace, "queries")
        report = self.export(self.trace, "stats")
        text = QUERIES.read_text()
        for table in ("slices", "units", "losses"):
            text = text.replace(f"'{table}.parquet'", f"'{folder}/{table}.parquet'")
        answers = []
        with duckdb.connect() as connection:
            for statement in duckdb.extract_statements(text):
                done = connection.execute(statement)
                if statement.type == duckdb.StatementType.SELECT:
                    answers.append(done.fetchall())
        self.assertEqual(len(answers), 10)
        self.assertEqual([not rows for rows in answers], [i == 6 for i in range(10)])  # no loss
        hz = report["clock"]["hz"]
        means = {
            one["name"]: one["values"][0]["net"]["mean"] / hz * 1e9 for one in report["slices"]
        }
        for name, _, mean_ns, percentiles in answers[0]:
            self.assertAlmostEqual(mean_ns / means[name], 1, 6)
            self.assertEqual(percentiles, sorted(percentiles))
        self.assertAlmostEqual(sum(row[-1] for row in answers[5]), 1)
        self.assertEqual(len(answers[3]), 10)

    def test_memory_does_not_grow_with_the_trace(self):
        traces = [
            self.make_trace(f"long{records}", "--records", records, "--cpus", 4)
            for records in (1_000_000, 4_000_000)
        ]
        for place, options in enumerate(((), ("--partition", "cpu,time=5ms"))):
            with self.subTest(options=options):
                short_kib, long_kib = (
                    self.peak_kib(trace, f"{trace.stem}_{place}", *options) for trace in traces
                )
                self.assertLess(long_kib, short_kib + (48 << 10))

    def peak_kib(self, trace, name, *options):
        """Of this export only."""
        words = (NSDUMP, "export", trace, "--format", "parquet", "-o", self.folder / name)
        words = [str(word) for word in (*words, *options)]
        process = os.posix_spawn(words[0], words, os.environ)
        _, status, usage = os.wait4(process, 0)
        self.assertEqual(status, 0)
        return usage.ru_maxrss


class DamagedTraces(ArrowTest):
    def test_findings_and_exit_codes_are_those_of_csv(self):
        damaged = self.folder / "damaged"
        damaged.mkdir()
        made = run(BUILD / "tests/make_damaged", damaged)
        self.assertEqual(made.returncode, 0, made.stderr)
        traces = sorted(damaged.iterdir())
        self.assertGreater(len(traces), 10)
        for trace in traces:
            with self.subTest(trace=trace.name):
                csv = run(NSDUMP, "export", trace, "--what", "slices", "-o", self.folder / "csv")
                done, folder = self.write(trace, f"of_{trace.name}")
                self.assertEqual((done.returncode, done.stderr), (csv.returncode, csv.stderr))
                self.assertEqual(folder.exists(), done.returncode in (0, 1))

    def test_hostile_traces_take_little_memory(self):
        make = BUILD / "tests/make_hostile"
        for kind in ("calibrations", "clocks", "losses", "names", "constants"):
            with self.subTest(kind=kind):
                trace = self.folder / "hostile.nsl"
                self.assertEqual(run(make, kind, trace).returncode, 0)
                done, _ = self.write(trace, f"hostile_{kind}")
                self.assertIn(done.returncode, (0, 1), done.stderr)
                done, _ = self.write(trace, f"part_{kind}", "--from", "1us", "--to", "1s")
                self.assertIn(done.returncode, (0, 1), done.stderr)
        peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(peak_kib, 300 << 10)

    def test_more_folders_than_a_file_system_likes_are_refused(self):
        from netslice import parquet as program, parquet_files

        folder = self.folder / "many"
        words = ("--partition", "time=100us", "--quiet", self.trace, folder)
        said = io.StringIO()
        with (
            mock.patch.object(parquet_files, "MOST_PARTS", 3),
            contextlib.redirect_stderr(said),
        ):
            self.assertEqual(program.main([str(word) for word in words]), 4)
        self.assertIn("choose a longer time", said.getvalue())
        self.assert_nothing_left("many")


if __name__ == "__main__":
    unittest.main()
