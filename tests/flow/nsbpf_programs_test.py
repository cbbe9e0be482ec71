# SPDX-License-Identifier: MIT
# Probes in BPF programs: the example program, built as its Makefile says, on a pair of interfaces;
# known packets -> exact counts of its slices.
import json
import os
import pathlib
import signal
import tempfile
import time
import unittest

import mapi_interfaces
import needs
from nsbpf_example import BLOCKED, OTHER, RECORDS, Checks, Loader, build
from nsbpf_library import (
    BPF,
    CLANG,
    NSDUMP,
    Pins,
    Recording,
    compile_program,
    counts,
    run,
    stats_of,
    stop,
    udp_frame,
)

OWN = {"packet", "parse", "lookup", "port"}  # other programs on this machine may have probes, too
NUMBERS = 1792  # of sites
PROBES, CALLS = 600, 5


NO_IP = bytes(6) + b"\2\0\0\0\0\1" + b"\x88\xb5" + bytes(50)


class Programs(Checks):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="netslice-programs-")
        cls.folder = pathlib.Path(cls.temporary.name)
        build(cls.folder)
        mapi_interfaces.make_pair("near", "far")

    @classmethod
    def tearDownClass(cls):
        run("ip", "link", "del", "near")
        cls.temporary.cleanup()

    def setUp(self):
        self.trace = self.folder / "programs.nsl"

    def load(self, *options, **words):
        loader = Loader(self.folder, *options, **words)
        self.addCleanup(stop, loader.process)
        return loader

    def record(self, *options, groups="programs"):
        recording = Recording(self.trace, groups, *options)
        self.addCleanup(stop, recording.process)
        return recording

    def check_issued(self, stats, packets):
        if stats["info"]["kernel.programs"] == "xdp_ports":
            self.assertEqual(stats["losses"]["issued"], packets * RECORDS)
        else:
            self.assertGreaterEqual(stats["losses"]["issued"], packets * RECORDS)

    def test_each_packet_of_a_loader_that_is_recorded_has_its_slices_and_values(self):
        loader = self.load(
            "-w", record=(NSDUMP, "record", "-k", "programs", BPF, "-w", self.trace, "--")
        )
        mapi_interfaces.send("near", udp_frame(BLOCKED), count=300)
        mapi_interfaces.send("near", udp_frame(OTHER), count=200)
        mapi_interfaces.send("near", NO_IP, count=100)
        loader.end()
        stats = stats_of(self.trace)
        self.check_whole(self.trace)
        self.check_packets(stats, packets=600, with_port=500)
        (unit,) = (one for one in stats["units"] if one["name"] == "kernel:packet")
        self.assertEqual(unit["bytes"], 500 * len(udp_frame(0)) + 100 * len(NO_IP))
        (port,) = (one for one in stats["marks"] if one["name"] == "kernel:port")
        self.assertEqual((port["min"], port["max"]), (BLOCKED, OTHER))
        self.assertAlmostEqual(port["mean"], BLOCKED + 0.4)
        for one in stats["slices"]:
            self.assertGreater(one["values"][0]["raw"]["mean"], 0)
        self.assertEqual(sum(stats["losses"]["lost"].values()), 0)
        self.assertIn("xdp_ports", stats["info"]["kernel.programs"].split(","))

    def test_a_trace_shows_each_units_records_in_their_order(self):
        self.load()
        recording = self.record()
        mapi_interfaces.send("near", udp_frame(OTHER), count=50)
        recording.end()
        events = [
            line.split()[3:5] for line in run(NSDUMP, "show", self.trace).stdout.splitlines()[1:]
        ]
        events = [one for one in events if one[1].removeprefix("kernel:") in OWN]
        unit = [
            ["INIT", "kernel:packet"],
            ["START", "kernel:parse"],
            ["STOP", "kernel:parse"],
            ["MARK", "kernel:port"],
            ["START", "kernel:lookup"],
            ["STOP", "kernel:lookup"],
            ["EXIT", "kernel:packet"],
        ]
        self.assertEqual(events, unit * 50)

    def test_probes_and_tracepoints_of_a_cpu_are_one_stream_in_order_of_time(self):
        self.load()
        recording = self.record(groups="programs,softirq,net_rx,net_tx")
        mapi_interfaces.send("near", udp_frame(OTHER), count=2000)
        stats = recording.end()
        self.check_whole(self.trace)  # times that go back would be a finding
        found = counts(stats)
        self.assertEqual(found["packet"], 2000)
        self.assertEqual(found["parse"], 2000)
        self.assertGreater(found["softirq"], 0)
        self.assertNotIn("kernel.recorder.late", stats["info"])

    def test_a_flood_into_small_rings_is_counted(self):
        self.load("-r", 4096)
        recording = self.record()
        recording.process.send_signal(signal.SIGSTOP)
        mapi_interfaces.send("near", udp_frame(OTHER), count=1000)
        recording.process.send_signal(signal.SIGCONT)
        mapi_interfaces.send("near", udp_frame(OTHER), count=2000)
        stats = recording.end()
        losses = stats["losses"]
        self.check_whole(self.trace)
        self.assertTrue(losses["equation_holds"])
        self.assertGreater(losses["lost"]["full"], 0)
        self.check_issued(stats, 3000)

    def test_a_recorder_that_was_killed_is_taken_over(self):
        self.load()
        killed = self.record()
        mapi_interfaces.send("near", udp_frame(OTHER), count=10)
        killed.kill()
        mapi_interfaces.send("near", udp_frame(OTHER), count=50000)  # its rings are full
        recording = self.record()
        mapi_interfaces.send("near", udp_frame(OTHER), count=300)
        stats = recording.end()
        self.check_whole(self.trace)
        self.check_packets(stats, packets=300, with_port=300)
        self.check_issued(stats, 300)

    def test_a_second_recorder_gets_the_name_of_the_first_and_the_program_after_it(self):
        self.load()
        first = self.record()
        other = Recording(self.folder / "second.nsl", "programs")
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        self.check_packets(first.end(), packets=100, with_port=100)
        time.sleep(0.3)
        mapi_interfaces.send("near", udp_frame(OTHER), count=50)
        self.check_packets(other.end(), packets=50, with_port=50)
        self.assertIn(
            f"xdp_ports is not recorded: process {first.process.pid} already records it",
            other.words,
        )
        self.assertEqual(other.words.count("xdp_ports is not recorded"), 1)

    def test_records_of_a_program_that_was_unloaded_are_kept(self):
        first = self.load()
        recording = self.record()
        mapi_interfaces.send("near", udp_frame(OTHER), count=200)
        first.end()
        time.sleep(1.5)  # until the recorder gives its rings up
        second = self.load("-w")
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        second.end()
        stats = recording.end()
        self.check_whole(self.trace)
        self.check_packets(stats, packets=300, with_port=300)
        self.check_issued(stats, 300)

    def test_rules_select_slices_and_marks(self):
        self.load()
        recording = self.record("--slices", "look*")
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        found = counts(recording.end())
        own = {name: number for name, number in found.items() if name in OWN}
        self.assertEqual(own, {"packet": 100, "lookup": 100})

    def test_nothing_is_recorded_and_counted_without_a_recorder(self):
        self.load()
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        recording = self.record()
        stats = recording.end()
        self.check_issued(stats, 0)

    def test_probes_of_loaded_programs_are_listed(self):
        self.load()
        shown = run(NSDUMP, "kernel", "--list").stdout
        self.assertIn("programs: probes of BPF programs that are loaded", shown)
        places = json.loads(run(NSDUMP, "kernel", "--list", "--json").stdout)["places"]
        found = [
            one
            for one in places
            if (one["group"], one["says"]) == ("programs", "in program xdp_ports")
        ]
        self.assertEqual(
            [(one["kind"], one["slice"]) for one in found],
            [
                ("INIT", "packet"),
                ("START", "parse"),
                ("STOP", "parse"),
                ("MARK", "port"),
                ("START", "lookup"),
                ("STOP", "lookup"),
                ("EXIT", "packet"),
            ],
        )

    def test_without_the_capability_the_group_is_refused_and_others_go_on(self):
        few = ("setpriv", "--bounding-set", "-all,+bpf,+perfmon", NSDUMP, "kernel")
        done = run(*few, "programs", BPF, "-d", "0.2", "-w", self.trace)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("requires the capability CAP_SYS_ADMIN", done.stderr)
        done = run(*few, "programs,sched", BPF, "-d", "0.5", "-w", self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("requires the capability CAP_SYS_ADMIN", done.stderr)
        stats = stats_of(self.trace)
        self.assertGreater(counts(stats)["sched_switch"], 0)
        self.assertEqual(stats["info"]["kernel.groups.refused"], "programs")

    def test_programs_of_the_own_loader_are_recorded_without_the_capability(self):
        few = ("setpriv", "--bounding-set", "-all,+bpf,+perfmon,+net_admin")
        self.load()  # somebody else's
        loader = Loader(
            *(self.folder, "-w"),
            record=(*few, NSDUMP, "record", "-k", "programs", BPF, "-w", self.trace, "--"),
            interface="near",
        )
        self.addCleanup(stop, loader.process)
        mapi_interfaces.send("far", udp_frame(OTHER), count=150)
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        words = loader.end()
        self.assertIn("only BPF programs of the program started here are recorded", words)
        stats = stats_of(self.trace)
        self.check_whole(self.trace)
        self.check_packets(stats, packets=150, with_port=150)
        self.assertEqual(stats["losses"]["issued"], 150 * RECORDS)

    def test_the_module_is_refused_as_recorder_of_programs(self):
        done = run(NSDUMP, "kernel", "programs", "--kernel-recorder=nsmod", "-w", self.trace)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("probes of BPF programs are recorded by BPF, not by nsmod", done.stderr)


class Objects(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="netslice-programs-")
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def test_a_build_without_probes_has_neither_sites_nor_rings(self):
        build(self.folder)
        with_probes = (self.folder / "xdp_ports.bpf.o").read_bytes()
        self.assertTrue(b"nslice_rings" in with_probes)
        (self.folder / "xdp_ports.bpf.o").unlink()
        build(self.folder, "BPF_DISABLE=-DNETSLICE_DISABLE")
        without = (self.folder / "xdp_ports.bpf.o").read_bytes()
        for words in b"nslice", b"nsring":
            self.assertFalse(words in without, words)

    def test_a_loader_that_waits_learns_at_once_that_its_object_has_no_probes(self):
        build(self.folder, "BPF_DISABLE=-DNETSLICE_DISABLE")
        begin = time.monotonic()
        done = run(self.folder / "xdp_ports", "-w", "lo", BLOCKED)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no recorder: No such file or directory", done.stderr)

    def test_the_header_also_compiles_after_vmlinux(self):
        vmlinux = run("bpftool", "btf", "dump", "file", "/sys/kernel/btf/vmlinux", "format", "c")
        (self.folder / "vmlinux.h").write_text(vmlinux.stdout)
        compile_program(
            '#include "vmlinux.h"\n#include <bpf/bpf_helpers.h>\n#include <nslice/bpf.h>\n'
            'SEC("xdp") int own(struct xdp_md *context)\n'
            "{\n\t(void)context;\n\tNET_SLICE_START(all);\n\tNET_SLICE_STOP(all);\n"
            "\treturn NET_SLICE_IS_ON();\n}\n",
            self.folder,
        )

    def pin(self, program, name):
        """Loaded until the end of the test."""
        if not hasattr(self, "pins"):
            self.pins = Pins(self.folder)
            self.addCleanup(self.pins.end)
        return self.pins.load(program, name)

    def pin_own(self, name, statements):
        source = (
            "#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\n#include <nslice/bpf.h>\n"
            f'SEC("xdp") int {name}(struct xdp_md *context)\n{{\n\t(void)context;\n'
            f"{statements}\treturn XDP_PASS;\n}}\n"
        )
        return self.pin(compile_program(source, self.folder), name)

    def record_calls(self, *programs):
        """Returns the statistics, and what nsdump says."""
        recording = Recording(self.folder / "k.nsl", "programs")
        self.addCleanup(stop, recording.process)
        for program in programs:
            done = run(*self.pins.run_words(program, CALLS))
            self.assertEqual(done.returncode, 0, done.stderr)
        return recording.end(), recording.words

    def test_a_program_with_very_many_probes_leaves_numbers_for_others(self):
        greedy = self.pin_own("greedy", "\tNET_SLICE_MARK(much, 1);\n" * PROBES)
        modest = self.pin_own("modest", "\tNET_SLICE_START(little);\n\tNET_SLICE_STOP(little);\n")
        stats, words = self.record_calls(greedy, modest)
        self.assertRegex(words, r"program greedy \(id \d+\): \d+ of its probes are not recorded")
        self.assertNotIn("program modest", words)
        unnamed = stats["losses"]["unnamed_kernel_sites"]
        self.assertGreaterEqual(unnamed, PROBES - NUMBERS // 4)
        found = counts(stats)
        self.assertEqual(found["little"], CALLS)
        self.assertGreaterEqual(found["much"], (PROBES - unnamed) * CALLS)

    def test_records_with_the_numbers_of_other_programs_are_lost_and_reported(self):
        forger = self.pin_own(
            "forger",
            "\tNET_SLICE_MARK(own, 1);\n"
            "\tfor (__u64 i = 0; NET_SLICE_IS_ON() && i < 4; ++i)\n"
            "\t\tnslice_bpf_record((0xf100 + i) << 32 | (__u64)NSLICE_KIND_START << 48);\n",
        )
        honest = self.pin_own("honest", "\tNET_SLICE_START(work);\n\tNET_SLICE_STOP(work);\n")
        stats, _ = self.record_calls(forger, honest)
        self.assertEqual(counts(stats)["own"], CALLS)
        self.assertEqual(counts(stats)["work"], CALLS)
        self.assertEqual(stats["info"]["kernel.recorder.foreign"], str(4 * CALLS))
        self.assertEqual(stats["losses"]["lost"]["torn"], 4 * CALLS)
        self.assertEqual(stats["classes"]["unmatched_start"], 0)

    def test_a_program_with_fewer_rings_than_cpus_is_named_with_the_remedy(self):
        if os.cpu_count() < 2:
            self.skipTest("one CPU")
        build(self.folder, "BPF_DISABLE=-DNSLICE_BPF_CPUS=1")
        self.pin(self.folder / "xdp_ports.bpf.o", "one")
        done = run(NSDUMP, "kernel", "programs", BPF, "-d", "0.2", "-w", self.folder / "k.nsl")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("program xdp_ports", done.stderr)
        self.assertIn("it has rings for 1 of", done.stderr)
        self.assertIn("nsp_bpf_prepare()", done.stderr)


needs.tools("make", "bpftool", "ip", "setpriv")
if os.geteuid() != 0:
    needs.skip("requires root")
if not pathlib.Path("/sys/kernel/btf/vmlinux").exists() or not CLANG:
    needs.skip("no BTF, or no clang")
mapi_interfaces.enter_name_space(is_own_user=False)
if __name__ == "__main__":
    unittest.main()
