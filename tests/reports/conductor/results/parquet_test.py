# SPDX-License-Identifier: MIT
# results.parquet: what is written is read again by pyarrow, and by DuckDB if it is there.
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import SOURCE, ConductCase, main, needs  # noqa: E402

# ./run python installs the packages that Debian does not have
BUILD = os.environ.get("NETSLICE_BUILD", os.path.join(SOURCE, "build", "release"))
PACKAGES = glob.glob(os.path.join(BUILD, "..", "python", "lib", "python3*", "site-packages"))
sys.path[1:1] = PACKAGES
needs("pyarrow.parquet")
from nsconduct.results import parquet  # noqa: E402
from pyarrow import parquet as reader  # noqa: E402
from result_files import trial  # noqa: E402

TRIALS = [
    trial(1, "plain", {"rate": 9.41e9}, "bits/s", warmup=True),
    trial(
        *(1, "plain", {"rate": 9.42e9}, "bits/s"),
        collected={
            "sink": {
                "cpu": {
                    "seconds": 1.5,
                    "cpu_s": {"user": 0.5},
                    "softirqs": {"NET_RX": 1000},
                    "cost": {"cpu_s": 0.001},
                },
                "bpf": {"programs": [{"name": "xdp_drop", "runs": 7, "type": "xdp"}]},
                "perf": {"unavailable": "no PMU"},
            }
        },
    ),
    trial(2, "gcm", {}, status="failed", failure="sink: run step1: exit code 1"),
    trial(2, "gcm", {"rate": 1.2e9}, "bits/s", load_by_others=None),
]
EXPECTED = [
    (1, "plain", True, None, "rate", "bits/s", 9.41e9),
    (1, "plain", True, None, "load_by_others", "fraction", 0.0),
    (1, "plain", True, None, "steal", "fraction", 0.0),
    (1, "plain", False, None, "rate", "bits/s", 9.42e9),
    (1, "plain", False, None, "load_by_others", "fraction", 0.0),
    (1, "plain", False, None, "steal", "fraction", 0.0),
    (1, "plain", False, "sink", "cpu.seconds", "s", 1.5),
    (1, "plain", False, "sink", "cpu.cpu_s.user", "s", 0.5),
    (1, "plain", False, "sink", "cpu.softirqs.NET_RX", "count", 1000.0),
    (1, "plain", False, "sink", "bpf.programs.xdp_drop.runs", "count", 7.0),
    (2, "gcm", False, None, "rate", "bits/s", 1.2e9),
    (2, "gcm", False, None, "steal", "fraction", 0.0),
]


class ParquetTest(ConductCase):
    def written(self, trials):
        self.assertIsNone(parquet.write(self.folder, trials))
        return self.path(parquet.NAME)

    def test_pyarrow_reads_each_number_of_the_trials_that_succeeded(self):
        table = reader.read_table(self.written(TRIALS))
        self.assertEqual(
            table.column_names,
            ["round", "variant", "warmup", "player", "name", "unit", "value"],
        )
        self.assertEqual([tuple(row.values()) for row in table.to_pylist()], EXPECTED)

    def test_trials_without_numbers_give_an_empty_table(self):
        table = reader.read_table(self.written([]))
        self.assertEqual((table.num_rows, len(table.column_names)), (0, 7))

    def test_an_earlier_file_is_replaced_and_nothing_else_is_left(self):
        self.written(TRIALS)
        self.written(TRIALS[:1])
        self.assertEqual(reader.read_table(self.path(parquet.NAME)).num_rows, 3)
        self.assertEqual(os.listdir(self.folder), [parquet.NAME])

    def test_a_run_writes_the_file(self):
        self.master("host", test="trials: 2", more="[Values]\nn: host run 1 s regex (\\d+)\n")
        self.player("host", run="step1: echo 5")
        self.run_master(env={"PYTHONPATH": os.pathsep.join(PACKAGES)})
        table = reader.read_table(os.path.join(self.out, parquet.NAME)).to_pylist()
        self.assertEqual([row["value"] for row in table if row["name"] == "n"], [5.0, 5.0])

    def test_duckdb_reads_it(self):
        try:
            import duckdb
        except ImportError as error:
            self.skipTest(str(error))
        path = self.written(TRIALS)
        found = duckdb.sql(
            f"select variant, max(value) from '{path}' where name = 'rate' and not warmup "
            "group by variant order by variant"
        ).fetchall()
        self.assertEqual(found, [("gcm", 1.2e9), ("plain", 9.42e9)])


if __name__ == "__main__":
    main()
