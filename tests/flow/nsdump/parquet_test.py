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
