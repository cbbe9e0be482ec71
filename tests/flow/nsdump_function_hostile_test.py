# SPDX-License-Identifier: MIT
# nsdump record --function and nsdump functions with programs that are not what they seem: files in
# other mount namespaces, FIFOs, set-user-ID programs, calls that were left by longjmp().
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import needs

NSDUMP = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsdump"
CALLS = 100
ENTRY = "-fpatchable-function-entry=5"
LEAF = r"""
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline, noipa)) int NAME(int x) { __asm__ volatile(""); return x + 1; }
int main(int count, char **words)
{
    (void)words;
    puts("begins");
    fflush(stdout);
    for (int i = 0; i < CALLS || count > 1; ++i) { NAME(i); if (count > 1) usleep(1000); }
    return 0;
}
"""
JUMPS = r"""
#include <setjmp.h>
static jmp_buf back;
__attribute__((noinline, noipa)) void deep(int n)
{
    if (n == 0) longjmp(back, 1);
    deep(n - 1);
    __asm__ volatile("");
}
__attribute__((noinline, noipa)) int leaf(int n) { __asm__ volatile(""); return n + 1; }
__attribute__((noinline, noipa)) int all(int depth)
{
    volatile int sum = 0;
    for (volatile int i = 0; i < 10; i = i + 1) {
        if (setjmp(back) == 0) deep(depth);
        sum = leaf(sum);
    }
    return sum;
}
int main(int count, char **words)
{
    (void)words;
    int sum = all(count > 1 ? 100 : 20);
    return sum + leaf(sum) != 21;
}
"""


def run(*words, **options):
    return subprocess.run(
        [*map(str, words)], capture_output=True, text=True, check=False, timeout=60, **options
    )


class Hostile(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="netslice-hostile-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.folder.chmod(0o755)
        self.trace = self.folder / "trace.nsl"

    def build(self, path, source, *options):
        path.parent.mkdir(exist_ok=True)
        file = self.folder / "source.c"
        file.write_text(source)
        done = run("gcc", "-O2", f"-DCALLS={CALLS}", *options, file, "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def start(self, *words):
        program = subprocess.Popen([*map(str, words)], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (program.kill(), program.wait(), program.stdout.close()))
        self.assertEqual(program.stdout.readline(), b"begins\n")
        return program.pid

    def record(self, *words, code=0):
        done = run(NSDUMP, "record", "-w", self.trace, *words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.words = done.stderr

    def stats(self):
        done = run(NSDUMP, "stats", "--json", self.trace)
        self.all = json.loads(done.stdout)
        return {one["name"]: one["count"] + one["migrated"] for one in self.all["slices"]}

    def slice(self, name):
        (one,) = [one for one in self.all["slices"] if one["name"] == name]
        return one

    def assert_leaf_is_recorded(self, pid):
        listed = run(NSDUMP, "functions", "--pid", pid, "^(leaf|other)$", "--json")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        found = [one["name"] for one in json.loads(listed.stdout)["functions"]]
        self.assertEqual(found, ["leaf()"])
        self.record("--function", "^leaf$", "-d", "1", "--pid", pid)
        self.assertGreater(self.stats()["leaf()"], 20)

    def start_in_namespace(self):
        """A program whose path leads to another file outside of its mount namespace."""
        own = self.build(self.folder / "own" / "program", LEAF, "-DNAME=leaf")
        seen = self.folder / "seen"
        seen.mkdir()
        script = f"mount --bind {own.parent} {seen} && exec {seen}/program forever"
        return self.start("unshare", "-m", "sh", "-c", script), seen / "program"

    def test_the_file_that_a_process_has_mapped_is_read_in_another_mount_namespace(self):
        pid, outside = self.start_in_namespace()
        self.build(outside, LEAF, "-DNAME=other")
        self.assert_leaf_is_recorded(pid)

    def test_a_fifo_in_its_place_is_not_waited_for(self):
        pid, outside = self.start_in_namespace()
        os.mkfifo(outside)
        self.assert_leaf_is_recorded(pid)
        for words in (("functions", outside), ("record", "--function", "x", "--", outside)):
            done = run(NSDUMP, *words)
            self.assertEqual(done.returncode, 3)
            self.assertIn("is not a regular file", done.stderr)

    def test_a_program_whose_file_was_replaced_or_deleted_is_recorded(self):
        for what in ("replaced", "covered", "deleted"):
            with self.subTest(what):
                program = self.build(self.folder / what, LEAF, "-DNAME=leaf")
                pid = self.start(program, "forever")
                if what == "covered":
                    other = self.build(self.folder / "other", LEAF, "-DNAME=other")
                    self.assertEqual(run("mount", "--bind", other, program).returncode, 0)
                    self.addCleanup(run, "umount", program)
                else:
                    program.unlink()
                if what == "replaced":
                    self.build(program, LEAF, "-DNAME=other")
                self.assert_leaf_is_recorded(pid)

    def test_a_set_user_id_program_is_recorded_by_uprobes_since_its_loader_ignores_libraries(self):
        program = self.build(self.folder / "setuid", LEAF, "-DNAME=leaf", ENTRY)
        chosen = ("--function", "^leaf$")
        self.record(*chosen, "--", program)
        self.assertIn("1 function by sleds", self.words)
        for owner, mode in ((65534, 0o4755), (0, 0o755)):
            os.chown(program, owner, owner)
            program.chmod(mode)
            self.record(*chosen, "--", program)
            is_privileged = mode == 0o4755
            self.assertEqual("is set-user-ID, set-group-ID" in self.words, is_privileged)
            self.assertEqual("1 function by uprobes" in self.words, is_privileged, self.words)
            self.assertEqual(self.stats(), {"leaf()": CALLS})
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        self.record(*chosen, "--function-by", "sleds", "--", program, code=2)
        self.assertIn("its dynamic loader ignores the library", self.words)
        self.assertIn("(use uprobes, as root)", self.words)

    def test_calls_without_traps_since_calls_left_by_longjmp_have_them_are_counted_as_such(self):
        program = self.build(self.folder / "jumps", JUMPS)
        chosen = ("--function-by", "uprobes", "--function", "^(leaf|deep)$")
        self.record(*chosen, "--", program)
        self.assertEqual(self.stats()["leaf()"], 3)  # with 3 * 21 open, no other fits
        self.assertEqual(self.slice("leaf()")["too_deep"], 8)
        self.assertEqual(self.all["info"]["functions.traps_left"], "0")
        self.assertIn("stay open until a recorded function", " ".join(self.all["warnings"]))
        self.record(*chosen, "--", program, "deep")
        self.assertEqual(self.stats().get("leaf()", 0), 0)
        info = self.all["info"]
        counts = (int(info["functions.too_deep"]), int(info["functions.traps_left"]))
        self.assertEqual(self.slice("deep()")["unmatched_start"], 64)
        self.assertEqual(sum(counts), 10 * 101 + 11 - 64)
        self.assertGreaterEqual(counts[1], 11)
        self.assertTrue(any("left by longjmp()" in one for one in self.all["warnings"]))
        # A recorded function around them ends them when it returns, and gives the traps back.
        chosen = ("--function-by", "uprobes", "--function", "^(leaf|deep|all)$")
        self.record(*chosen, "--", program, "deep")
        self.assertEqual(self.stats()["leaf()"], 1)
        every = self.slice("all()")
        self.assertEqual(every["count"] + every["migrated"], 1)


if __name__ == "__main__":
    needs.tools("gcc", "mount", "umount", "unshare")
    needs.uprobes()
    unittest.main()
