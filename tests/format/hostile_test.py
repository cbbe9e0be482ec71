# SPDX-License-Identifier: MIT
# A trace of 6 MB made to slow its reader down -> an answer in seconds, and within memory that every
# machine has.
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["NETSLICE_BIN"]).resolve()
MAKE = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "tests/make_hostile"
FOR_EACH_KIND = [["check", "-q"], ["stats"]]
IN_TURN = [
    ["show", "-c", "5"],
    ["export", "--what", "slices"],
    ["export", "--format", "flamegraph"],
    ["export", "--format", "perfetto"],
    ["export", "--format", "chrome"],
    ["export", "--format", "ctf", "-o", "ctf"],
]
HAS_ALL = "NETSLICE_ALL_CASES" in os.environ
IS_SANITIZED = "libasan" in subprocess.run(
    ["ldd", BIN / "nsdump"], check=True, capture_output=True, text=True
).stdout
# Each takes less than two seconds; a quadratic reader takes a minute.
CPU_S = 20 if IS_SANITIZED else 10
PEAK_KIB = (3 if IS_SANITIZED else 1) << 20  # without sanitizers half a gigabyte


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))


# One of those in turn for each kind, or all: they read a trace in the same way.
def commands_for(place):
    return FOR_EACH_KIND + (IN_TURN if HAS_ALL else [IN_TURN[place % len(IN_TURN)]])


class HostileTraces(unittest.TestCase):
    def read(self, command, trace):
        process = subprocess.Popen(
            [BIN / "nsdump", *command, trace],
            cwd=trace.parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=limit,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_maxrss

    def test_no_kind_of_trace_keeps_a_command_busy_or_exhausts_the_memory(self):
        kinds = subprocess.run([MAKE], check=True, capture_output=True, text=True).stdout.split()
        self.assertGreater(len(kinds), 10)
        with tempfile.TemporaryDirectory() as folder:
            for place, kind in enumerate(kinds):
                trace = pathlib.Path(folder) / "trace.nsl"
                subprocess.run([MAKE, kind, trace], check=True)
                shutil.rmtree(trace.parent / "ctf", ignore_errors=True)
                for command in commands_for(place):
                    with self.subTest(kind=kind, command=command):
                        code, peak_kib = self.read(command, trace)
                        self.assertIn(code, (0, 1), "negative: the signal by which it ended")
                        self.assertLess(peak_kib, PEAK_KIB)


if __name__ == "__main__":
    sys.exit(unittest.main())
