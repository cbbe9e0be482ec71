# SPDX-License-Identifier: MIT
# NETSLICE_FUNCTIONS: functions with XRay sleds or patchable entries -> slices, with exact counts,
# however functions are left; what cannot be recorded is refused before main().
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest

import needs

BUILD = pathlib.Path(os.environ["NETSLICE_BUILD"])
NSDUMP = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsdump"
SOURCES = pathlib.Path(__file__).parent / "functions"
LIBRARY = BUILD / "lib" / "libnsprobe-functions.so"
CLANG = shutil.which("clang") or shutil.which("clang-14") or ""
ENTRY = ["-fpatchable-function-entry=5"]
SLED = ["-fxray-instrument", "-fxray-instruction-threshold=1"]
WAYS = {
    "gcc entry": ("gcc", ENTRY),
    "gcc entry with M": ("gcc", ["-fpatchable-function-entry=8,3"]),
}
if CLANG:
    WAYS["clang entry"] = (CLANG, ENTRY)
    WAYS["clang sled"] = (CLANG, SLED)
# Replaces the first sled at an exit of a function of the program by an instruction of its own.
CHANGER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((constructor)) static void change(void)
{
    static const uint8_t sled[] = {0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84};
    uint8_t *at = dlsym(RTLD_DEFAULT, "multiply_32");

    while (memcmp(at, sled, sizeof(sled)) != 0)
        ++at;
    mprotect((void *)((uintptr_t)at & -4096ul), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(at, "\xf3\xc3", 2); /* another form of `ret` */
    mprotect((void *)((uintptr_t)at & -4096ul), 8192, PROT_READ | PROT_EXEC);
}
"""


def compile_to(folder, name, compiler, *words):
    program = folder / name
    subprocess.run([compiler, *words, "-o", program], check=True, timeout=120)
    return program


# Without the runtime, which the flag would link: sleds do not need it.
def build(folder, name, source, compiler, flags, *words, optimise="-O2"):
    unit = compile_to(folder, f"{name}.o", compiler, optimise, "-fPIC", *flags, "-c", source)
    return compile_to(folder, name, compiler, unit, *words)


def make_code_writable(program):
    """The flags of the segment with the code, in its program header."""
    image = bytearray(program.read_bytes())
    table, size, count = struct.unpack_from("<Q14xHH", image, 32)
    for place in range(table, table + size * count, size):
        kind, flags = struct.unpack_from("<II", image, place)
        if kind == 1 and flags & 1:  # PT_LOAD, PF_X
            struct.pack_into("<I", image, place + 4, flags | 2)  # PF_W
    program.write_bytes(image)


def run(program, expression, *words, options="", **environment):
    return subprocess.run(
        [program, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={
            **os.environ,
            "NETSLICE": options,
            "NETSLICE_FUNCTIONS": expression,
            "LD_PRELOAD": str(LIBRARY),
            **environment,
        },
    )


def stats(trace):
    done = subprocess.run(
        [NSDUMP, "stats", "--json", trace], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def value(slices, name, field="instructions"):
    (one,) = [value for value in slices[name]["values"] if value["field"] == field]
    return one


class Functions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.counted = {}
        for way, (compiler, flags) in WAYS.items():
            folder = cls.folder / way.replace(" ", "_")
            folder.mkdir()
            build(folder, "libadd.so", SOURCES / "library.c", compiler, flags, "-shared")
            link = [f"-L{folder}", "-ladd", f"-Wl,-rpath,{folder}"]
            cls.counted[way] = build(
                folder, "counted", SOURCES / "counted.c", compiler, flags, *link
            )

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def record(self, program, expression, *words, options=""):
        trace = self.folder / "trace.nsl"
        trace.unlink(missing_ok=True)
        done = run(program, expression, *words, options=f"output={trace} {options}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        data = stats(trace)
        return done.stdout, data, {one["name"].split("(")[0]: one for one in data["slices"]}

    def test_each_call_is_a_slice_and_the_program_does_what_it_did(self):
        for way, program in self.counted.items():
            with self.subTest(way):
                text, data, slices = self.record(program, ".", "100")
                plain = subprocess.run([program, "100"], capture_output=True, text=True, check=True)
                self.assertEqual(text, plain.stdout)
                self.assertIn("open pages 0\n", text)
                self.assertIn("values 1234\n", text)
                for name, count in {
                    "call_eight": 100,
                    "multiply_128": 100,
                    "multiply_32": 900,
                    "call_last": 100,
                    "empty": 100,
                    "vary": 100,
                    "multiply_12800": 100,
                    "library_add": 100,
                }.items():
                    self.assertEqual(slices[name]["count"] + slices[name]["migrated"], count, name)
                    self.assertEqual(slices[name]["unmatched_start"], 0, name)
                    self.assertEqual(slices[name]["unmatched_stop"], 0, name)
                self.assertEqual(sum(data["losses"]["lost"].values()), 0)
                info = data["info"]
                used = "functions.by_sled" if "sled" in way else "functions.by_entry"
                self.assertEqual(int(info[used]), len(slices), info)

    def test_counts_of_instructions_are_exact(self):
        for way, program in self.counted.items():
            with self.subTest(way):
                _, _, slices = self.record(
                    program,
                    "^(multiply_(32|128)|call_eight|empty)$",
                    "3",
                    options="counters=instructions source=step",
                )
                self.assertLessEqual(
                    value(slices, "empty")["net"]["mean"], 1
                )  # alignment of a sled
                for name, count in {"multiply_32": 33, "multiply_128": 129}.items():
                    net = value(slices, name)["net"]
                    self.assertEqual((net["min"], net["max"]), (count, count), name)
                # Its own code, with the calls, does not depend on what is recorded inside.
                inside = value(slices, "call_eight")["self"]["mean"]
                _, _, alone = self.record(
                    program,
                    "^call_eight$",
                    "3",
                    options="counters=instructions source=step",
                )
                sleds = 8 * 2 if "sled" in way else 8 * 5 if "gcc" in way else 8
                without = value(alone, "call_eight")["net"]["mean"] - 8 * 33
                self.assertTrue(without - sleds <= inside <= without, (inside, without))

    def test_net_times_are_those_of_the_work(self):
        for way, program in self.counted.items():
            with self.subTest(way):
                _, _, slices = self.record(program, "^multiply_", "3000", options="clock=ordered")
                longest = value(slices, "multiply_12800", "ticks")["net"]["p50"]
                for name in ("multiply_32", "multiply_128"):
                    parts = int(name.split("_")[1]) / 12800
                    near = value(slices, name, "ticks")["net"]["p50"]
                    self.assertLess(abs(near - longest * parts), 30 + 0.05 * near, name)

    def test_recursion_beyond_the_depth_is_counted_and_returns_well(self):
        for way, program in self.counted.items():
            with self.subTest(way):
                text, data, slices = self.record(program, "^recurse$", "1")
                self.assertIn("recursion 200\n", text)
                not_recorded = int(data["info"].get("functions.not_recorded.too_deep", 0))
                seen = slices["recurse"]
                self.assertEqual(
                    seen["count"] + seen["migrated"] + seen["too_deep"] + not_recorded, 201
                )
                self.assertGreater(seen["count"], 60)

    def test_functions_may_be_left_in_every_way(self):
        for way, (compiler, flags) in WAYS.items():
            compiler = {"gcc": "g++"}.get(compiler, compiler + "++" if "-" not in compiler else "")
            compiler = compiler or CLANG.replace("clang", "clang++")
            with self.subTest(way):
                program = build(
                    self.folder,
                    "leaving",
                    SOURCES / "leaving.cpp",
                    compiler,
                    [*flags, "-fno-optimize-sibling-calls"],
                    "-pthread",
                    optimise="-O1",
                )
                expression = "^(inner|middle|catching|rethrowing|jump_from|handle|frames_at|"
                expression += "wait_for_cancel|exit_at|.*Table)"
                text, data, slices = self.record(program, expression, options="ring=64M")
                self.assertEqual(
                    text,
                    "caught 2400\nframes all\ncancelled 1 1\nexited 4\nchild 0\n",
                )
                self.assertEqual(sum(data["losses"]["lost"].values()), 0)
                for name, count in {
                    "catching": 4 * 900 + 50000,
                    "rethrowing": 4 * 900,
                    "middle": 8 * 900 + 50000,
                    "net::Table<long>::find": 8 * 900 + 50000,
                    "jump_from": 100 * 6,
                    "exit_at": 4,
                }.items():
                    if name == "exit_at" and "sled" in way:
                        continue  # nothing follows in that thread by which its end is noticed
                    one = slices[name]
                    self.assertEqual(one["count"] + one["migrated"], count, name)
                    self.assertEqual(one["unmatched_start"] + one["unmatched_stop"], 0, name)
                self.assertGreaterEqual(slices["handle"]["count"], 100)

    def test_stacks_inside_of_a_stack_do_not_change_what_the_program_does(self):
        for way, (compiler, flags) in WAYS.items():
            program = build(
                self.folder,
                "switching",
                SOURCES / "switching.c",
                compiler,
                [*flags, "-fno-optimize-sibling-calls"],
                "-pthread",
            )
            for what, functions in (
                ("inside", "leaf|branch|yield_from|resume|alternate"),
                ("inside", "leaf|branch|yield_from|alternate"),
                ("threads", "leaf|branch|yield_from|resume"),
                ("threads", "leaf|branch|yield_from"),
                ("signals", "leaf|branch"),
            ):
                with self.subTest(way, what=what, functions=functions):
                    plain = run(program, "", what, LD_PRELOAD="")
                    text, data, slices = self.record(
                        program, f"^({functions})$", what, options="ring=64M"
                    )
                    self.assertTrue(plain.stdout)
                    self.assertEqual(text, plain.stdout)
                    self.assertGreater(slices["branch"]["count"], 30)
                    if "entry" in way and what != "signals":
                        self.assertGreater(int(data["info"]["functions.end_unknown"]), 0)
                        self.assertIn("have no known end", " ".join(data["warnings"]))

    def test_a_function_that_returns_on_a_moved_stack_ends_the_program_with_the_reason(self):
        source = self.folder / "moves.c"
        source.write_text(
            "void moves(void);\n"
            '__asm__(".globl moves\\n.type moves, @function\\nmoves:\\n"\n'
            '".byte 0x0f,0x1f,0x44,0,0\\n"\n'
            '"pop %rdx\\nsub $64, %rsp\\npush %rdx\\nret\\n.size moves, . - moves\\n"\n'
            '".section __patchable_function_entries, \\"aw\\"\\n.quad moves\\n.text");\n'
            "int main(void) { moves(); __builtin_trap(); }\n"
        )
        program = compile_to(self.folder, "moves", "gcc", source)
        done = run(program, "^moves$", options=f"output={self.folder / 'moves.nsl'}")
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGABRT, ""))
        self.assertRegex(done.stderr, r"\Anetslice: a recorded function returns .*\n\Z")

    def test_a_thread_s_first_call_may_come_from_a_signal_handler(self):
        for way, (compiler, flags) in WAYS.items():
            with self.subTest(way):
                program = build(
                    self.folder,
                    "handler",
                    SOURCES / "handler.c",
                    compiler,
                    [*flags, "-fno-builtin"],
                    "-pthread",
                )
                text, data, slices = self.record(program, "^handle$")
                self.assertEqual(text, "allocations 0 sum 64\n")
                one = slices["handle"]
                self.assertEqual((one["count"] + one["migrated"], one["unmatched_start"]), (16, 0))
                self.assertEqual([key for key in data["info"] if "not_recorded" in key], [])

    def test_a_recorder_gets_the_functions(self):
        program = self.counted["gcc entry"]
        trace = self.folder / "recorded.nsl"
        done = subprocess.run(
            [NSDUMP, "record", "-w", trace, "--", "env", "NETSLICE_FUNCTIONS=^empty$"]
            + [f"LD_PRELOAD={LIBRARY}", program, "70"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        (only,) = stats(trace)["slices"]
        self.assertEqual((only["name"], only["count"] + only["migrated"]), ("empty()", 70))

    def assert_refused(self, program, expression, text, **environment):
        done = run(program, expression, **environment)
        self.assertEqual((done.returncode, done.stdout), (126, ""))
        self.assertRegex(done.stderr, r"\Anetslice: NETSLICE_FUNCTIONS: [^\n]*\n\Z")
        self.assertIn(text, done.stderr)

    def test_what_cannot_be_recorded_is_refused_before_main(self):
        program = self.counted["gcc entry"]
        counted = [SOURCES / "counted.c", SOURCES / "library.c"]
        plain = compile_to(self.folder, "plain", "gcc", *counted)
        short = compile_to(self.folder, "short", "gcc", "-fpatchable-function-entry=3", *counted)
        self.assert_refused(program, "nothing", '"nothing" matches none of the ')
        self.assert_refused(program, "(", "not a regular expression")
        self.assert_refused(plain, "main", "build with -fpatchable-function-entry=5")
        self.assert_refused(short, "empty", "too short for a call")
        stripped = compile_to(self.folder, "stripped", "gcc", "-s", *ENTRY, *counted)
        self.assert_refused(stripped, "^empty$", "stripped")
        if CLANG:
            premain = {"XRAY_OPTIONS": "patch_premain=true"}
            self.assert_refused(self.counted["clang sled"], "empty", "XRay runtime", **premain)

    def test_an_entry_of_the_longest_instructions_is_patched_whole(self):
        source = self.folder / "padded.c"
        source.write_text(
            'int padded(void);\n__asm__(".globl padded\\n.type padded, @function\\npadded:\\n"\n'
            '".byte 0x0f,0x1f,0x40,0\\n"\n'
            '".byte 0x66,0x66,0x66,0x66,0x66,0x66,0x2e,0x0f,0x1f,0x84,0,1,2,3,4\\n"\n'
            '"mov $7, %eax\\nret\\n.size padded, . - padded\\n"\n'
            '".section __patchable_function_entries, \\"aw\\"\\n.quad padded\\n.text");\n'
            "int main(void) { return padded() + padded(); }\n"
        )
        program = compile_to(self.folder, "padded", "gcc", source)
        trace = self.folder / "padded.nsl"
        done = run(program, "^padded$", options=f"output={trace}")
        self.assertEqual((done.returncode, done.stderr), (14, ""))
        self.assertEqual([one["count"] for one in stats(trace)["slices"]], [2])

    @unittest.skipUnless(CLANG, "clang is required for sleds")
    def test_code_that_was_writable_stays_so(self):
        source = self.folder / "writes.c"
        source.write_text(
            "#include <stdio.h>\n"
            '__attribute__((noinline)) int work(int x) { __asm__ volatile(""); return x + 1; }\n'
            "int main(void) { volatile unsigned char *code = (void *)work; int sum = work(1);\n"
            '*code = *code; sum += work(2); printf("%d\\n", sum); }\n'
        )
        program = build(self.folder, "writes", source, "gcc", ENTRY, "-no-pie")
        make_code_writable(program)
        done = run(program, "^work$", options=f"output={self.folder / 'w.nsl'} calibration=no")
        self.assertEqual((done.returncode, done.stdout), (0, "5\n"), done.stderr)

    def test_a_function_with_a_sled_that_something_else_changed_is_left_out_as_a_whole(self):
        source = self.folder / "changer.c"
        source.write_text(CHANGER)
        changer = compile_to(self.folder, "changer.so", "gcc", "-shared", "-fPIC", source)
        folder = self.folder / "clang_sled"
        program = build(
            folder,
            "exporting",
            SOURCES / "counted.c",
            CLANG,
            SLED,
            *(f"-L{folder}", "-ladd", f"-Wl,-rpath,{folder}", "-rdynamic"),
        )
        plain = subprocess.run([program, "100"], capture_output=True, text=True, check=True)
        trace = self.folder / "changed.nsl"
        done = run(
            program,
            "^(multiply_32|multiply_128)$",
            "100",
            options=f"output={trace}",
            LD_PRELOAD=f"{LIBRARY}:{changer}",  # whose constructor runs first
        )
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", plain.stdout))
        data = stats(trace)
        info = {key: data["info"]["functions." + key] for key in ("by_sled", "by_entry", "changed")}
        self.assertEqual(info, {"by_sled": "1", "by_entry": "0", "changed": "1"})
        (only,) = data["slices"]
        self.assertEqual(only["name"], "multiply_128()")
        self.assertEqual((only["count"], only["unmatched_stop"]), (100, 0))

    def test_all_calls_of_the_programs_own_malloc_in_the_main_thread_are_recorded(self):
        source = self.folder / "allocates.c"
        source.write_text(
            "#include <stddef.h>\nvoid *__libc_malloc(size_t);\nstatic int calls;\n"
            "void *malloc(size_t bytes) { ++calls; return __libc_malloc(bytes); }\n"
            "int main(void)\n{\n"
            "    int before = calls;\n"
            "    for (int i = 0; i < 10; ++i)\n        *(void *volatile *)malloc(8) = NULL;\n"
            "    return calls - before;\n}\n"
        )
        program = compile_to(self.folder, "allocates", "gcc", *ENTRY, "-fno-builtin", source)
        trace = self.folder / "allocates.nsl"
        done = run(program, "^malloc$", options=f"output={trace}")
        self.assertEqual((done.returncode, done.stderr), (10, ""))
        data = stats(trace)
        self.assertEqual([key for key in data["info"] if "not_recorded" in key], [])
        (only,) = data["slices"]
        self.assertGreaterEqual(only["count"] + only["migrated"], 10)

    def test_any_expression_leaves_the_facts_of_the_trace_whole(self):
        program = self.counted["gcc entry"]
        for expression in ("^empty$|a\nfunctions.by_entry=77\n", "^empty$|" + "x" * 4000):
            _, data, slices = self.record(program, expression, "3")
            self.assertEqual(list(slices), ["empty"])
            info = data["info"]
            self.assertEqual((info["functions.by_entry"], info["functions.changed"]), ("1", "0"))
            self.assertTrue(
                expression.replace("\n", "\\x0a").startswith(info["functions.expression"])
            )
            self.assertGreater(len(info["functions.expression"]), 30)

    def test_programs_that_the_program_starts_are_not_patched(self):
        source = self.folder / "starts.c"
        source.write_text(
            "#include <stdlib.h>\n"
            '__attribute__((noinline)) void called(void) { __asm__ volatile(""); }\n'
            'int main(void) { called(); return system("env | grep -c NETSLICE_FUNCTIONS") >> 8; }'
        )
        program = compile_to(self.folder, "starts", "gcc", *ENTRY, source)
        done = run(program, "^called$")
        self.assertEqual((done.returncode, done.stdout), (1, "0\n"), done.stderr)

    def test_the_code_inside_trampolines_changes_no_vector_register(self):
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", LIBRARY],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        seen = set()
        name = ""
        for line in listing.splitlines():
            if found := re.match(r"[0-9a-f]+ <(.+)>:", line):
                name = found[1]
            if re.match(
                r"nsf_(start|stop|enter|leave|unwound|return|skip|may_|drop_|runs_on)|may_|drop_|"
                r"end_top|is_free|is_in_signal|is_taken|nsf_(entry|exit|patched)_",
                name,
            ):
                seen.add(name)
                self.assertNotRegex(line, r"%[xyz]mm|%st|%k[0-7]\b|emms", name)
        needed = {"nsf_start", "nsf_stop", "nsf_enter", "nsf_leave", "nsf_may_leave", "drop_top"}
        self.assertTrue(needed <= seen, needed - seen)


if __name__ == "__main__":
    needs.tools("gcc", "g++", "strip", "objdump")
    unittest.main()
