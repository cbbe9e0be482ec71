# SPDX-License-Identifier: MIT
# Random thinning of BPF programs: a program with a slice inside another, run many times -> epochs
# in which the inner one was off, and what it costs there.
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import needs

NSDUMP = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsdump"
SOURCE = pathlib.Path(os.environ["NETSLICE_SOURCE"])
FOLDERS = ("libnsprobe/include", "nsmod/uapi", "nsbpf/include")
RUNS = 200
REPEATS = 50  # of the program in a run
PROGRAM = """
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <nslice/bpf.h>

SEC("xdp") int nested(struct xdp_md *context)
{
	NET_SLICE_INIT(packet, 0, 1, 60);
	NET_SLICE_START(outer);
	NET_SLICE_START(inner);
	NET_SLICE_STOP(inner);
	NET_SLICE_STOP(outer);
	NET_SLICE_EXIT(packet);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
"""
# Run by nsdump: as often as the rings have room.
RUN = """
import subprocess, sys, time
for _ in range(int(sys.argv[3])):
    subprocess.run([sys.argv[1], "prog", "run", "pinned", sys.argv[2], "data_in", sys.argv[5],
                    "repeat", sys.argv[4]], check=True, stdout=subprocess.DEVNULL)
    time.sleep(0.005)
"""


def run(*words):
    return subprocess.run(
        [*map(str, words)], capture_output=True, text=True, check=False, timeout=250
    )


class Thinning(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        files = tempfile.TemporaryDirectory()
        cls.addClassCleanup(files.cleanup)
        cls.files = pathlib.Path(files.name)
        pins = cls.files / "pins"
        pins.mkdir()
        mounted = run("mount", "-t", "bpf", "bpf", pins)
        assert mounted.returncode == 0, mounted.stderr
        cls.addClassCleanup(run, "umount", pins)
        cls.pinned = pins / "nested"
        (cls.files / "nested.bpf.c").write_text(PROGRAM)
        (cls.files / "packet").write_bytes(bytes(60))
        built = run(
            *(CLANG, "-O2", "-g", "-target", "bpf", "-mcpu=v3"),
            *(f"-I{SOURCE / folder}" for folder in FOLDERS),
            *("-idirafter", f"/usr/include/{os.uname().machine}-linux-gnu"),
            *(f"-D__TARGET_ARCH_{'x86' if os.uname().machine == 'x86_64' else 'arm64'}",),
            *("-c", cls.files / "nested.bpf.c", "-o", cls.files / "nested.o"),
        )
        assert built.returncode == 0, built.stderr
        loaded = run("bpftool", "prog", "load", cls.files / "nested.o", cls.pinned)
        assert loaded.returncode == 0, loaded.stderr
        cls.addClassCleanup(cls.pinned.unlink)

    def record(self, *options):
        trace = self.files / "t.nsl"
        trace.unlink(missing_ok=True)
        done = run(
            *(NSDUMP, "record", "-q", "-k", "programs", "--kernel-recorder=bpf", *options),
            *("-w", trace, "--", sys.executable, "-c", RUN, "bpftool", self.pinned),
            *(RUNS, REPEATS, self.files / "packet"),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        stats = run(NSDUMP, "export", trace, "--what", "stats", "--format", "json")
        self.assertEqual(run(NSDUMP, "check", trace).returncode, 0)
        return json.loads(stats.stdout), trace

    def slices_of(self, stats):
        return {one["name"].removeprefix("kernel:"): one for one in stats["slices"]}

    def test_the_inner_slice_is_off_at_random_and_its_cost_is_measured(self):
        stats, trace = self.record("--thin", "auto")
        slices = self.slices_of(stats)
        self.assertGreater(stats["program_thinning"]["epochs"], 50)
        self.assertEqual(slices["outer"]["count"], RUNS * REPEATS)
        self.assertLess(slices["inner"]["count"], 0.9 * RUNS * REPEATS)
        self.assertGreater(slices["inner"]["count"], 0.4 * RUNS * REPEATS)
        thinning = slices["outer"]["thinning"]
        self.assertIn(thinning["used"], ("thinning", "both"), thinning)
        (inner,) = thinning["costs"]
        self.assertEqual(inner["name"], "kernel:inner")
        self.assertGreater(inner["per_record"], 0)
        explained = run(NSDUMP, "explain", trace, "kernel:outer")
        self.assertIn("off: kernel:inner:", explained.stdout, explained.stderr)

    def test_units_of_the_program_are_compared_between_epochs(self):
        stats, _ = self.record("--thin", "1")
        (unit,) = stats["program_thinning"]["units"]
        self.assertEqual(unit["name"], "kernel:packet")
        self.assertGreater(unit["epochs_off"], 20)

    def test_without_the_option_nothing_is_off(self):
        stats, _ = self.record()
        self.assertNotIn("program_thinning", stats)
        self.assertEqual(self.slices_of(stats)["inner"]["count"], RUNS * REPEATS)


needs.tools("bpftool")
CLANG = next((one for one in ("clang", "clang-14") if shutil.which(one)), None)
if os.geteuid() != 0:
    needs.skip("requires root")
if not pathlib.Path("/sys/kernel/btf/vmlinux").exists() or not CLANG:
    needs.skip("no BTF, or no clang")
if __name__ == "__main__":
    unittest.main()
