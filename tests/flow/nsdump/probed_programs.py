# SPDX-License-Identifier: MIT
"""C programs with probes -> traces, and what nsdump says of them."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["NETSLICE_SOURCE"])
LIBRARIES = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "lib"
NSDUMP = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsdump"

sys.path.insert(0, str(SOURCE / "tests/flow"))


def run(*words, **options):
    """Its result, with its texts in stdout and stderr."""
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, **options
    )


def is_sanitized():
    """Programs of a build with AddressSanitizer take several times as long."""
    return "libasan" in run("ldd", NSDUMP).stdout


class ProbedProgramsTest(unittest.TestCase):
    """Builds programs and keeps traces in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="netslice-nsdump-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)

    def build(self, name, text):
        """Compiles C with probes; returns the program."""
        source, program = (self.folder / f"{name}{end}" for end in (".c", ""))
        source.write_text(text)
        built = run(
            "cc",
            "-O2",
            source,
            "-o",
            program,
            f"-I{SOURCE / 'libnsprobe/include'}",
            f"-I{SOURCE / 'nsmod/uapi'}",
            f"-L{LIBRARIES}",
            f"-Wl,-rpath,{LIBRARIES}",
            "-Wl,--no-as-needed",
            "-lnsprobe",
        )
        self.assertEqual(built.returncode, 0, built.stderr)
        return program

    def record(self, name, body, *options):
        """Runs `body` as main() under `nsdump record`; returns the trace."""
        program = self.build(
            name, f"#include <nsprobe/probe.h>\nint main(void)\n{{\n{body}\n    return 0;\n}}\n"
        )
        trace = self.folder / f"{name}.nsl"
        recorded = run(NSDUMP, "record", "-w", trace, *options, "--", program)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        return trace

    def export(self, trace, what, *options):
        """Rows of events or slices, or the report, as JSON has them."""
        done = run(NSDUMP, "export", trace, "--what", what, "--json", *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        if what == "stats":
            return json.loads(done.stdout)
        return [json.loads(line) for line in done.stdout.splitlines()]
