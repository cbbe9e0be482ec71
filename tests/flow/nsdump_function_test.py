# SPDX-License-Identifier: MIT
# nsdump record --function by uprobes, on this machine's own kernel: programs in C and C++ that are
# built here, with known numbers of calls and known work.
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time
import unittest

import needs
from function_programs import (
    BUSY_CALLS,
    BUSY_NS,
    C_SOURCE,
    CALLS,
    CPP_SOURCE,
    LEAVES,
    NSDUMP,
    PROBED_SOURCE,
    THROWING_SOURCE,
    WITHOUT_LINKS,
    ProgramsTest,
    run,
)

UPROBES = "--function-by=uprobes"
KILLS = 20
TRIES = 5


class Functions(ProgramsTest):
    def build_c(self):
        return self.build("calls", C_SOURCE, "gcc")

    def record(self, program, *arguments, functions, options=(), code=0):
        self.trace = self.folder / "trace.nsl"
        self.trace.unlink(missing_ok=True)
        chosen = [word for one in functions for word in ("--function", one)]
        done = run(
            NSDUMP,
            "record",
            *chosen,
            UPROBES,
            "-w",
            self.trace,
            *options,
            "--",
            program,
            *arguments,
        )
        self.assertEqual(done.returncode, code, done.stderr)
        self.words, self.printed = done.stderr, done.stdout
        return self.stats()

    def stats(self):
        done = run(NSDUMP, "export", self.trace, "--what", "stats", "--format", "json")
        self.assertTrue(done.stdout, done.stderr)
        self.all = json.loads(done.stdout)
        return {one["name"]: one for one in self.all["slices"]}

    def slices(self):
        done = run(NSDUMP, "export", self.trace, "--what", "slices", "--format", "json")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def net_ns(self, name):
        hz = self.all["clock"]["hz"]
        return statistics.median(
            one["net_ticks"] / hz * 1e9
            for one in self.slices()
            if one["name"] == name and one["class"] in ("ok", "below-noise")
        )

    def total(self, slice):
        return slice["count"] + slice["migrated"]

    def test_each_call_is_a_slice_with_each_compiler_and_kind_of_program(self):
        variants = [("gcc", "-pie", "-fPIE"), ("gcc", "-no-pie", "-fno-pie"), ("gcc", "-static")]
        variants += [("gcc", "-fcf-protection=full"), ("gcc", "-fpatchable-function-entry=5")]
        if shutil.which("clang-14"):
            variants += [("clang-14", "-fno-pie", "-no-pie"), ("clang-14", "-fPIE", "-pie")]
        for number, (compiler, *options) in enumerate(variants):
            with self.subTest(compiler=compiler, options=options):
                program = self.build(f"variant{number}", C_SOURCE, compiler, *options)
                stats = self.record(program, functions=["^leaf$"])
                self.assertEqual(list(stats), ["leaf()"])
                self.assertEqual(self.total(stats["leaf()"]), CALLS)
                self.assertFalse(stats["leaf()"]["kernel"])
                self.assertIn("1 function by uprobes", self.words)
                text = run(NSDUMP, "stats", "--all", self.trace).stdout
                self.assertIn("functions 1 by uprobes (requested), recorder bpf", text)

    def test_names_of_cpp_are_those_of_the_source_and_overloads_stay_apart(self):
        for compiler in ("g++", "clang++-14"):
            if not shutil.which(compiler):
                continue
            with self.subTest(compiler=compiler):
                program = self.build(f"shapes-{compiler}", CPP_SOURCE, compiler)
                stats = self.record(program, functions=["shapes::(Square::area|add)"])
                counts = {name: self.total(one) for name, one in stats.items()}
                areas = {name: count for name, count in counts.items() if "area" in name}
                self.assertEqual(
                    areas,
                    {
                        "shapes::Square::area(int) const": CALLS,
                        "shapes::Square::area(double) const": 2 * CALLS,
                    },
                )
                self.assertEqual(sum(counts.values()), 4 * CALLS)

    def test_recursive_calls_nest_and_each_has_its_end(self):
        stats = self.record(self.build_c(), "fib", functions=["^fib$"])
        calls = 465  # fib(12)
        fib = stats["fib()"]
        self.assertEqual(self.total(fib), calls)
        self.assertEqual((fib["unmatched_start"], fib["unmatched_stop"]), (0, 0))
        self.assertEqual(max(one["depth"] for one in self.slices()), 11)

    def test_calls_deeper_than_the_kernel_traps_returns_are_left_out_and_counted(self):
        stats = self.record(self.build_c(), "deep", "99", functions=["^deep$"])
        self.assertEqual(self.printed, "100\n")
        deep = stats["deep()"]
        self.assertEqual(self.total(deep), 64)
        self.assertEqual(
            (deep["unmatched_start"], deep["unmatched_stop"], deep["too_deep"]), (0, 0, 0)
        )
        self.assertTrue(
            any("36 calls" in one for one in self.all["warnings"]), self.all["warnings"]
        )

    def test_threads_are_paired_each_by_itself(self):
        stats = self.record(self.build_c(), "threads", functions=["^(leaf|thread)$"])
        self.assertEqual(self.total(stats["leaf()"]), 4 * CALLS)
        self.assertEqual(self.total(stats["thread()"]), 4)
        self.assertEqual(len({one["thread"] for one in self.slices()}), 4)
        self.assertEqual(stats["leaf()"]["unmatched_start"], 0)

    def test_a_call_that_is_left_by_longjmp_has_no_end_and_harms_no_other(self):
        stats = self.record(self.build_c(), "jumps", functions=["^(jumps|catches)$"])
        self.assertEqual(stats["jumps()"]["unmatched_start"], CALLS)
        self.assertEqual(self.total(stats["catches()"]), CALLS)
        self.assertEqual(stats["catches()"]["unmatched_stop"], 0)

    def test_a_tail_call_ends_with_its_caller(self):
        stats = self.record(self.build_c(), "tail", functions=["^(tail|last)$"])
        self.assertEqual(self.total(stats["tail()"]), CALLS)
        self.assertEqual(self.total(stats["last()"]), CALLS)
        self.assertEqual(stats["tail()"]["unmatched_start"], 0)
        self.assertEqual(stats["last()"]["unmatched_stop"], 0)

    def test_functions_of_shared_objects_are_found_by_the_object(self):
        stats = self.record(self.build_c(), "fib", functions=["libc:^(puts|__?printf_chk|printf)$"])
        self.assertEqual(sum(map(self.total, stats.values())), 1, stats)

    def test_a_forked_child_is_not_recorded(self):
        stats = self.record(self.build_c(), "fork", functions=["^leaf$"])
        self.assertEqual(self.total(stats["leaf()"]), CALLS)

    def test_net_times_of_known_work_are_near_the_truth_with_other_functions_inside(self):
        # Functions begin with a push, which the kernel emulates.
        program = self.build("pushes", C_SOURCE, "gcc", "-O0")
        # Other tests may slow down the calibration and not the work, or the reverse.
        for _ in range(TRIES):
            bare = [int(line) for line in run(program, "around").stdout.split()]
            stats = self.record(program, "around", functions=["^(around|busy|leaf)$"])
            self.assertEqual(self.total(stats["leaf()"]), LEAVES * BUSY_CALLS)
            self.assertNotIn("single-steps", self.words)
            truth = statistics.median(bare)
            busy, around, leaf = (self.net_ns(name) for name in ("busy()", "around()", "leaf()"))
            found = f"busy {busy:.0f}, around {around:.0f} (bare {truth}), leaf {leaf:.0f} ns"
            print(found)
            if (
                abs(busy - BUSY_NS) <= 0.05 * BUSY_NS
                and abs(around - truth) <= 0.1 * truth
                and abs(leaf) < 0.02 * BUSY_NS
            ):
                return
        self.fail(found)

    def test_functions_nest_in_slices_of_probes_and_belong_to_their_units(self):
        source = pathlib.Path(os.environ["NETSLICE_SOURCE"])
        libraries = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "lib"
        program = self.build(
            "probed",
            PROBED_SOURCE,
            "gcc",
            *(f"-I{source / folder}" for folder in ("libnsprobe/include", "nsmod/uapi")),
            f"-L{libraries}",
            f"-Wl,-rpath,{libraries}",
            "-Wl,--no-as-needed",
            "-lnsprobe",
        )
        for _ in range(TRIES):
            stats = self.record(program, functions=["^parse$"])
            self.assertEqual(self.total(stats["parse()"]), BUSY_CALLS)
            self.assertEqual(stats["parse()"]["packets"], stats["parse()"]["count"])
            parse = [one for one in self.slices() if one["name"] == "parse()"]
            self.assertEqual({(one["depth"], one["unit"]) for one in parse}, {(1, "packet")})
            nets = {name: self.net_ns(name) for name in ("work", "parse()")}
            print(nets)
            if all(abs(net - BUSY_NS) <= 0.05 * BUSY_NS for net in nets.values()):
                return
        self.fail(f"{nets} ns of {BUSY_NS}")

    def test_exceptions_inside_of_a_function_are_caught_there_and_others_are_warned_of(self):
        program = self.build("throwing", THROWING_SOURCE, "g++")
        stats = self.record(program, functions=["^guarded"])
        self.assertEqual(self.total(stats["guarded(int)"]), CALLS)
        self.assertIn("uses C++ exceptions", self.words)

    def test_a_program_that_switches_stacks_is_warned_of(self):
        source = (
            "#include <ucontext.h>\n"
            "int leaf(int x) { return x + 1; }\n"
            "int main(int count, char **words) { static ucontext_t own, other;\n"
            "(void)words; if (count > 9) swapcontext(&own, &other); return leaf(1) != 2; }\n"
        )
        self.record(self.build("switching", source, "gcc", "-O0"), functions=["^leaf$"])
        self.assertIn("switches stacks", self.words)

    def test_the_entry_of_a_program_which_has_no_return_address_is_no_function(self):
        done = run(NSDUMP, "functions", self.build_c(), "^_start$")
        self.assertEqual((done.returncode, "_start" in done.stdout), (3, False), done.stderr)

    def test_a_program_with_sleds_is_recorded_by_them(self):
        libraries = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "lib"
        if not (libraries / "libnsprobe-functions.so").exists():
            self.skipTest("this build has no libnsprobe-functions.so")
        program = self.build("entries", C_SOURCE, "gcc", "-fpatchable-function-entry=5")
        self.trace = self.folder / "trace.nsl"
        done = run(NSDUMP, "record", "--function", "^leaf$", "-w", self.trace, "--", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("by sleds", done.stderr)
        counts = {name: self.total(one) for name, one in self.stats().items()}
        self.assertEqual(list(counts.values()), [CALLS], counts)

    def test_each_function_has_uprobes_of_its_own_on_a_kernel_without_links_for_many(self):
        self.trace = self.folder / "trace.nsl"
        chosen = ("--function", "^(leaf|thread)$", UPROBES, "-w", self.trace)
        before = self.build("without_links.so", WITHOUT_LINKS, "gcc", "-shared", "-fPIC")
        refused = self.folder / "refused"
        done = run(
            *(NSDUMP, "record", *chosen, "--", self.build_c(), "threads"),
            env={**os.environ, "LD_PRELOAD": str(before), "REFUSED": str(refused)},
        )
        self.assertTrue(refused.exists(), "no link was tried")
        self.assertEqual(done.returncode, 0, done.stderr)
        counts = {name: self.total(one) for name, one in self.stats().items()}
        self.assertEqual(counts, {"leaf()": 4 * CALLS, "thread()": 4})

    def test_a_running_process_is_recorded_without_probes_of_its_own(self):
        program = subprocess.Popen([self.build_c(), "forever"])
        self.addCleanup(lambda: (program.kill(), program.wait()))
        self.trace = self.folder / "trace.nsl"
        done = run(
            NSDUMP,
            "record",
            "--function",
            "^leaf$",
            "-w",
            self.trace,
            "-d",
            "1",
            "--pid",
            program.pid,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(self.total(self.stats()["leaf()"]), 20)
        self.assertIsNone(program.poll())

    def test_show_prints_functions_on_the_stack_of_their_thread(self):
        self.record(self.build_c(), "fib", functions=["^fib$"])
        shown = run(NSDUMP, "show", self.trace).stdout
        self.assertRegex(shown, r"\n.*  START fib\(\)\n.*    START fib\(\)\n")

    def test_a_stripped_program_is_told_from_a_wrong_name(self):
        stripped = self.folder / "stripped"
        self.assertEqual(run("strip", "-o", stripped, self.build_c()).returncode, 0)
        done = run(NSDUMP, "record", "--function", "^leaf$", "--", stripped)
        self.assertEqual(done.returncode, 3)
        self.assertIn("stripped", done.stderr)
        done = run(NSDUMP, "record", "--function", "^laef$", "--", self.build_c())
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"similar: .*\bleaf\b")
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_bad_expressions_scripts_and_objects_are_refused(self):
        script = self.folder / "script"
        script.write_text("#!/bin/sh\ntrue\n")
        script.chmod(0o755)
        for words, code, says in (
            (["--function", "(", "--", "true"], 2, "("),
            (["--function-by", "uprobes", "--", "true"], 2, "requires --function"),
            (["--function", "x", "--", script], 3, "is a script"),
            (["--function", "libnone:x", "--", self.build_c()], 3, "no shared object libnone"),
            (["--function", ".", "--", "nonesuch"], 3, "No such file"),
            (["--function", "leaf", "--function-by", "sleds", "--", self.build_c()], 2, "neither"),
        ):
            done = run(NSDUMP, "record", *words)
            self.assertEqual((done.returncode, says in done.stderr), (code, True), done.stderr)

    def test_without_the_capabilities_the_message_names_them(self):
        copy = self.folder / "nsdump"
        shutil.copy(NSDUMP, copy)
        done = run(
            copy,
            "record",
            "--function",
            "^leaf$",
            "-w",
            "/dev/null",
            "--",
            self.build_c(),
            user=65534,
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("CAP_BPF and CAP_PERFMON", done.stderr)

    def test_functions_are_listed_with_their_ways(self):
        program = self.build("entries", C_SOURCE, "gcc", "-fpatchable-function-entry=5")
        listed = json.loads(run(NSDUMP, "functions", program, "^leaf$", "--json").stdout)
        (leaf,) = listed["functions"]
        self.assertEqual((leaf["name"], leaf["ways"]), ("leaf()", ["entry", "uprobe"]))
        if shutil.which("clang-14"):
            xray = ("-fxray-instrument", "-fxray-instruction-threshold=1")
            compiled = self.build("sleds.o", C_SOURCE, "clang-14", "-c", *xray)
            sleds = self.folder / "sleds"  # without XRay's runtime, which may not be installed
            self.assertEqual(run("clang-14", compiled, "-o", sleds, "-pthread").returncode, 0)
            listed = json.loads(run(NSDUMP, "functions", sleds, "^leaf$", "--json").stdout)
            self.assertEqual(listed["functions"][0]["ways"], ["sled", "uprobe"])
        self.assertIn("leaf()", run(NSDUMP, "functions", self.build_c()).stdout)

    def test_entries_are_found_where_the_library_finds_them(self):
        source = "int i(int n) { return n; }\nint main(void) { return i(0); }\n"
        for number, options in enumerate(
            (
                ["-fpatchable-function-entry=8,3"],
                ["-fpatchable-function-entry=5", "-fcf-protection=full"],
                ["-fpatchable-function-entry=8,3", "-fcf-protection=full", "-static"],
            )
        ):
            program = self.build(f"one{number}", source, "gcc", "-fno-inline", *options)
            listed = json.loads(run(NSDUMP, "functions", program, "^i$", "--json").stdout)
            (only,) = listed["functions"]
            self.assertEqual((only["name"], only["ways"]), ("i()", ["entry", "uprobe"]), options)
        short = self.build("short", source, "gcc", "-fpatchable-function-entry=6,3")
        listed = json.loads(run(NSDUMP, "functions", short, "^i$", "--json").stdout)
        self.assertEqual(listed["functions"][0]["ways"], ["uprobe"])

    def test_a_killed_recorder_leaves_no_trap_in_the_program(self):
        program = subprocess.Popen([self.build_c(), "forever"])
        self.addCleanup(lambda: (program.kill(), program.wait()))
        for _ in range(KILLS):
            trace = self.folder / "killed.nsl"
            trace.unlink(missing_ok=True)
            recorder = subprocess.Popen(
                [
                    NSDUMP,
                    "record",
                    "-q",
                    "--function",
                    "^leaf$",
                    "-w",
                    trace,
                    "--pid",
                    str(program.pid),
                ],
                stderr=subprocess.DEVNULL,
            )
            deadline = time.monotonic() + 20
            while not self.are_attached():
                self.assertIsNone(recorder.poll())
                self.assertLess(time.monotonic(), deadline, "it did not attach")
                time.sleep(0.02)
            recorder.kill()
            recorder.wait()
            deadline = time.monotonic() + 10
            while self.programs() and time.monotonic() < deadline:
                time.sleep(0.02)
            self.assertEqual(self.programs(), {})
        self.assertIsNone(program.poll())

    def bpftool(self, kind):
        folders = {**os.environ, "PATH": "/usr/sbin:/usr/bin"}
        return json.loads(run("bpftool", kind, "list", "--json", env=folders).stdout or "[]")

    def programs(self):
        programs = {one["id"]: one.get("name", "") for one in self.bpftool("prog")}
        return {id: name for id, name in programs.items() if name.startswith("function_")}

    def are_attached(self):
        linked = {one.get("prog_id") for one in self.bpftool("link")}
        programs = self.programs()
        return len(programs) >= 2 and programs.keys() <= linked


if __name__ == "__main__":
    needs.tools("gcc", "g++", "strip", "bpftool")
    needs.uprobes()
    unittest.main()
