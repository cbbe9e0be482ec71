# SPDX-License-Identifier: MIT
# nsreport --system in a guest: the measuring script with the real tools in all three variants ->
# the page, created here from its output.
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import guest
import kernel_modules

ROUNDS, SIZES = 2, (64, 1518)
SOURCE = pathlib.Path(__file__).resolve().parents[2]
VARIANTS = ("without", "idle", "recording")


class SystemCost(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="netslice-system-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.machine = guest.Amd64Guest(os.environ["NETSLICE_BUILD"], cpus=2, timeout_s=500)
        built = kernel_modules.build(
            SOURCE / "nsmod", self.machine.kernel, self.machine.architecture, self.folder / "built"
        )[0]["nsmod.ko"]
        self.module = built
        self.machine.add_built_module(built)

    def measured(self):
        """The script's output in the guest."""
        for path in (
            SOURCE / "reports/system_measure.sh",
            shutil.which("sockperf"),
            shutil.which("iperf3"),
        ):
            self.machine.add(path)
        self.machine.add("bin/nsdump")
        result = self.machine.run(f"""
            ifconfig lo up
            export NSMOD_LOAD="insmod /modules/nsmod.ko"
            sh /test/system_measure.sh {ROUNDS} 2 "{" ".join(map(str, SIZES))}" "{" ".join(VARIANTS)}"
            sh /test/system_measure.sh 9 1 64 recording >cut &
            script=$!
            for i in $(seq 200); do grep -q '^== round_trip' cut && break; usleep 200000; done
            kill $script
            wait $script
            code=$?
            sleep 2 # busybox's timeout checks once per second whether its program is still running
            echo "ended with $code, $(ps | grep -c -E '[s]ockperf|[i]perf3|[n]sdump') programs left"
            grep -c '^nsmod ' /proc/modules
            insmod /modules/nsmod.ko
            echo "== then"
            sh /test/system_measure.sh 1 1 "" "without idle"
            grep '^nsmod ' /proc/modules
            """)  # noqa: E501, shell text
        self.assertEqual(result.kernel_faults, [])
        return result.output.split("== then\n")

    def test_three_variants_are_measured_and_the_module_stays_as_it_was_if_interrupted_too(self):
        output, then = self.measured()
        results = self.folder / "results.txt"
        results.write_text(output)
        out = self.folder / "report"
        done = subprocess.run(
            [
                pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsreport",
                "--system",
                "--from",
                results,
                "--module",
                self.module,
                "-o",
                out,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + output)
        document = json.loads((out / "data/system.json").read_text())
        self.assertEqual(
            (document["missing"], document["failed"], document["faults"]), ({}, [], [])
        )
        for kind in ("round_trip", "throughput"):
            rows = [row for row in document["rows"] if row["kind"] == kind]
            self.assertEqual(
                [(row["message_bytes"], row["variant"], len(row["values"])) for row in rows],
                [(size, variant, ROUNDS) for size in SIZES for variant in VARIANTS],
            )
        for row in document["rows"]:
            print(
                row["kind"],
                row["message_bytes"],
                row["variant"],
                row["median_low_high"],
                row["ratio_low_high"],
            )
        print("recorded", document["recorded_bytes"])
        # A recording under this load has more than header and names; the first is the trial of half
        # a second.
        self.assertEqual(len(document["recorded_bytes"]), 1 + ROUNDS)
        for count in document["recorded_bytes"][1:]:
            self.assertGreater(count, 100_000)
        self.assertEqual([one["name"] for one in document["sizes"]][:1], ["nsmod.ko"])
        self.assertRegex(output, r"== end\nended with 130, 0 programs left\n0\n$")
        self.assertIn("== missing without nsmod was already loaded and is not unloaded", then)
        self.assertRegex(then, r"\nnsmod ")


if __name__ == "__main__":
    for tool in ("sockperf", "iperf3"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            sys.exit(guest.SKIP)
    guest.run_tests(guest.Amd64Guest)
