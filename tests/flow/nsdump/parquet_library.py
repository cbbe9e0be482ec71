# SPDX-License-Identifier: MIT
"""What tests of nsdump's Arrow tables need: pyarrow, DuckDB, and traces."""

import glob
import importlib
import os
import pathlib
import subprocess
import sys

from probed_programs import NSDUMP, SOURCE, ProbedProgramsTest, run

needs = importlib.import_module("needs")  # probed_programs.py says where it is

BUILD = pathlib.Path(os.environ["NETSLICE_BUILD"])
# ./run python installs the packages that Debian does not have
PYTHON = SOURCE / "build/python/bin/python"
PACKAGES = BUILD / "share/netslice/python"
sys.path[1:1] = [str(PACKAGES), *glob.glob(str(SOURCE / "build/python/lib/python3*/site-packages"))]
os.environ.setdefault("NETSLICE_PYTHON", str(PYTHON) if PYTHON.exists() else sys.executable)


def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        return needs.skip(f"{error} (./run python)")


parquet, dataset, duckdb = (
    imported(name) for name in ("pyarrow.parquet", "pyarrow.dataset", "duckdb")
)
netslice, library = imported("netslice"), imported("netslice.library")


class ArrowTest(ProbedProgramsTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = cls.make_trace("trace", "--records", 50000, "--cpus", 2)

    @classmethod
    def make_trace(cls, name, *options):
        trace = cls.folder / f"{name}.nsl"
        subprocess.run(
            [str(word) for word in (BUILD / "tests/make_trace", trace, *options)], check=True
        )
        return trace

    def write(self, trace, name, *options, **others):
        """Result and folder of the export."""
        folder = self.folder / name
        words = ("export", trace, "--format", "parquet", "-o", folder, *options)
        return run(NSDUMP, *words, **others), folder

    def parquet(self, trace, name, *options, code=0):
        done, folder = self.write(trace, name, *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return folder

    def assert_nothing_left(self, name):
        self.assertEqual([path for path in os.listdir(self.folder) if name in path], [])
