# SPDX-License-Identifier: MIT
# Net instructions of MAPI's functions on a machine that counts exactly: the same on every run, and
# equal to valgrind's counts.
import base64
import csv
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import guest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from callgrind import BY_ADDRESS, booked_after_return, inclusive, symbol_ranges
from packets import write_capture

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DEMO = SOURCE / "mapi-core/apps/demo/demo.pcap"
VALGRIND = (
    "usr/bin/valgrind.bin",
    "usr/libexec/valgrind/callgrind-arm64-linux",
    "usr/libexec/valgrind/default.supp",
    "usr/libexec/valgrind/vgpreload_core-arm64-linux.so",
)
FILTER = "tcp port 80 or udp port 53"
FILES = {
    "BPF_FILTER": "bpf_filter.cpp",
    "BYTE_COUNTER": "byte_counter.cpp",
    "PKT_COUNTER": "pkt_counter.cpp",
}
# instructions between the two probes in addition to the function: arguments, the call, the result
MOST_AROUND_A_CALL = 16
# Linux discards a thread's SVE registers at each system call, so the first memcpy() after one
# traps, and the emulator counts the trapping instruction twice: one more after each read() of a
# counter, none between user reads.  valgrind does not support SVE either.
CPU = "max,sve=off,sme=off"
SCENARIOS = ("counter", "filter", "buffer")
COSTS = """
echo 1 >/proc/sys/kernel/perf_user_access
for run in 1 2; do
    for source in rdpmc perf-read; do
        mapi-cost -c 10000 --no-thinning --source $source {scenarios} -w cost.json -r demo.pcap >said 2>&1 || cat said
        echo "<$source $run>"; gzip -c cost.json | base64; echo "<end>"
    done
done
"""  # noqa: E501, shell text
# Symbols are resolved in advance: the lookup takes longer under valgrind, which adds libraries.
TWO_COUNTS = """
export LD_BIND_NOW=1
echo 1 >/proc/sys/kernel/perf_user_access
nsdump record -w trace.nsl --counters instructions --source rdpmc -- mapi-count --batch 64 -r capture.pcap '{filter}' >said 2>&1 || cat said
echo "<slices>"; nsdump export trace.nsl --what slices --format csv | gzip | base64; echo "<end>"
VALGRIND_LIB=/test valgrind.bin {callgrind} --callgrind-out-file=out mapi-count --batch 64 -r capture.pcap '{filter}' >said 2>&1 || cat said
echo "<callgrind>"; gzip -c out | base64; echo "<end>"
"""  # noqa: E501, shell text


METERED = """
export LD_BIND_NOW=1
echo 1 >/proc/sys/kernel/perf_user_access
for run in 1 2; do
    echo "<metered $run>"; vm_metered_functions capture.pcap '{filter}'; echo "<end>"
done
nsdump record -w trace.nsl --counters instructions --source rdpmc -- mapi-count --batch 64 -r capture.pcap '{filter}' >said 2>&1 || cat said
echo "<slices>"; nsdump export trace.nsl --what slices --format csv | gzip | base64; echo "<end>"
"""  # noqa: E501, shell text


def brought_out(output, name):
    packed = re.search(f"<{name}>\n(.*?)<end>", output, re.S)
    if not packed:
        raise AssertionError(f"the guest did not print {name}; output:\n{output[-3000:]}")
    return gzip.decompress(base64.b64decode(packed.group(1))).decode()


class MapiCost(unittest.TestCase):
    def guest(self):
        machine = guest.Arm64Guest(os.environ["NETSLICE_BUILD"], cpu_model=CPU, timeout_s=600)
        for program in ("bin/mapi-cost", "bin/mapi-count", "bin/nsdump"):
            machine.add(program)
        return machine

    def test_the_same_capture_costs_the_same_instructions_on_every_run(self):
        machine = self.guest()
        machine.add(DEMO)
        scenarios = " ".join(f"--scenario {name}" for name in SCENARIOS)
        result = machine.run("cp /test/demo.pcap .\n" + COSTS.format(scenarios=scenarios))
        figures = {}
        for source in ("rdpmc", "perf-read"):
            for run in (1, 2):
                rows = json.loads(brought_out(result.output, f"{source} {run}"))["rows"]
                figures[source, run] = {row["id"]: row["instructions"]["net"] for row in rows}
        print(figures["rdpmc", 1])
        self.assertEqual(len(figures["rdpmc", 1]), len(SCENARIOS))
        for name, figure in figures.items():
            self.assertEqual(figure, figures["rdpmc", 1], name)
        self.assertEqual(result.kernel_faults, [])

    def test_counter_and_valgrind_agree_to_the_instruction(self):
        machine = self.guest()
        for file in VALGRIND:
            machine.add(machine.cache / "sysroot" / file)
        with tempfile.TemporaryDirectory() as folder:
            capture = pathlib.Path(folder) / "capture.pcap"
            write_capture(capture, 64 * 40)
            machine.add(capture)
            result = machine.run(
                "cp /test/capture.pcap .\n"
                + TWO_COUNTS.format(filter=FILTER, callgrind=" ".join(BY_ADDRESS))
            )
            out = pathlib.Path(folder) / "callgrind.out"
            out.write_text(brought_out(result.output, "callgrind"))
            counted = inclusive(out)
            functions = {
                name: [
                    (function, total)
                    for (place, function), total in counted.items()
                    if place == file and "process(" in function
                ]
                for name, file in FILES.items()
            }
            listing = subprocess.run(
                ["nm", "-SC", machine.build / "lib/libmapi.so"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            ranges = symbol_ranges(listing.splitlines())
            after = {
                name: booked_after_return(out, FILES[name], function, ranges)
                for name, ((function, _),) in functions.items()
            }
        slices = list(csv.DictReader(brought_out(result.output, "slices").splitlines()))
        around = set()
        for name, ((_, (calls, inside)),) in functions.items():
            nets = [float(row["net_instructions"]) for row in slices if row["name"] == name]
            self.assertEqual(len(nets), calls)
            around.add((sum(nets) - (inside - after[name])) / calls)
        print(f"booked after a return: {after}")
        print(f"around each call: {around}")
        self.assertEqual(len(around), 1, around)
        each = around.pop()
        self.assertEqual(each, int(each))
        self.assertTrue(0 < each <= MOST_AROUND_A_CALL, each)
        self.assertEqual(result.kernel_faults, [])

    def test_a_program_that_measures_its_functions_reads_what_the_trace_says(self):
        machine = self.guest()
        machine.add("tests/vm_metered_functions")
        with tempfile.TemporaryDirectory() as folder:
            capture = pathlib.Path(folder) / "capture.pcap"
            write_capture(capture, 64 * 40)
            machine.add(capture)
            result = machine.run("cp /test/capture.pcap .\n" + METERED.format(filter=FILTER))
        metered = [
            re.findall(
                r"(\w+) rdpmc calls=(\d+) counted=(\d+) instructions=(\d+) packets=(\d+)", part
            )
            for part in re.findall(r"<metered \d>\r?\n(.*?)<end>", result.output, re.S)
        ]
        print(metered)
        self.assertEqual(len(metered), 2, result.output[-3000:])
        self.assertEqual(metered[0], metered[1])
        slices = list(csv.DictReader(brought_out(result.output, "slices").splitlines()))
        around = set()
        for name, calls, counted, instructions, packets in metered[0]:
            nets = [float(row["net_instructions"]) for row in slices if row["name"] == name]
            self.assertEqual((len(nets), int(calls)), (int(counted), int(counted)))
            self.assertGreater(int(packets), 0)
            around.add((sum(nets) - int(instructions)) / len(nets))
        print(f"in the slice and not in the meter, for each call: {around}")
        self.assertEqual(len(metered[0]), 2)
        for each in around:
            self.assertEqual(each, int(each))
            self.assertLessEqual(abs(each), MOST_AROUND_A_CALL)
        self.assertEqual(result.kernel_faults, [])


if __name__ == "__main__":
    guest.run_tests()
