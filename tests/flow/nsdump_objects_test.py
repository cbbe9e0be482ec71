# SPDX-License-Identifier: MIT
# nsdump functions: in which files the code of a program or process is, without executing anything.
import json
import os
import pathlib
import subprocess
import sys
import unittest

import needs
from function_programs import NSDUMP, ProgramsTest, run


class Objects(ProgramsTest):
    def test_objects_of_a_program_are_found_and_nothing_that_it_names_is_executed(self):
        library = "int in_library(int n) { return n; }\n"
        source = "int in_library(int);\nint main(void) { return in_library(0); }\n"
        mark = self.folder / "executed"
        evil = self.folder / "evil"
        evil.write_text(f'#!/bin/sh\ntouch "{mark}"\n')
        evil.chmod(0o755)
        auditor = f'__attribute__((constructor)) void run(void) {{ system("touch {mark}"); }}\n'
        auditor = "#include <stdlib.h>\n" + auditor
        auditor += "unsigned la_version(unsigned version) { return version; }\n"
        shared = ["-shared", "-fPIC"]
        audit = self.build("audit.so", auditor, "gcc", *shared)
        (self.folder / "inner").mkdir()
        self.build("inner/libinner.so", library, "gcc", *shared)
        link = [f"-L{self.folder}/inner", "-linner"]
        paths = ["-Wl,-rpath,$ORIGIN/inner"]
        for number, options in enumerate(
            (
                [],
                ["-Wl,--disable-new-dtags"],
                [f"-Wl,--dynamic-linker={evil}"],
                [f"-Wl,--audit={audit}"],
            )
        ):
            options = ["-Wl,--no-as-needed", *link, *paths, *options]
            program = self.build(f"needs{number}", source, "gcc", *options)
            done = run(NSDUMP, "functions", program, "^(in_library|puts)$", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            found = [one["file"].split("/")[-1] for one in json.loads(done.stdout)["functions"]]
            self.assertEqual(found, ["libinner.so", "libc.so.6"], options)
            self.assertFalse(mark.exists(), options)

    def check_found_as_by_the_loader(self, program, prefix=(), **environment):
        """The function of the library is found in the file that the loader maps."""
        given = {"env": {**os.environ, **environment}}
        shown = run(*prefix, "env", "LD_TRACE_LOADED_OBJECTS=1", program, **given)
        mapped = [line.split()[-2] for line in shown.stdout.splitlines() if "libbest.so" in line]
        done = run(*prefix, NSDUMP, "functions", program, "^in_library$", "--json", **given)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [one["file"] for one in json.loads(done.stdout)["functions"]]
        self.assertEqual([pathlib.Path(one) for one in found], [pathlib.Path(*mapped)])
        return found[0]

    def test_libraries_for_this_processor_are_preferred_as_by_the_loader(self):
        shared, folders = ["-shared", "-fPIC", "-Wl,-soname,libbest.so"], self.folder / "best"
        for level in ("", *(f"glibc-hwcaps/x86-64-v{number}" for number in (2, 3, 4))):
            (folders / level).mkdir(parents=True)
            self.build(
                f"best/{level}/libbest.so", "int in_library(void) { return 1; }\n", "gcc", *shared
            )
        source = "int in_library(void);\nint main(void) { return in_library(); }\n"
        link = [f"-L{folders}", "-Wl,--no-as-needed", "-lbest"]
        needs_it = self.build("needs_best", source, "gcc", *link, f"-Wl,-rpath,{folders}")
        without_path = self.build("needs_best_bare", source, "gcc", *link)
        other = self.build("needs_none", "int main(void) { return 0; }\n", "gcc")
        found = {
            self.check_found_as_by_the_loader(needs_it),
            self.check_found_as_by_the_loader(without_path, LD_LIBRARY_PATH=str(folders)),
            self.check_found_as_by_the_loader(
                other, LD_LIBRARY_PATH=str(folders), LD_PRELOAD="libbest.so"
            ),
        }
        cache, configuration = self.folder / "cache", self.folder / "cache.conf"
        configuration.write_text(f"{folders}\ninclude /etc/ld.so.conf\n")
        self.assertEqual(
            run("/sbin/ldconfig", "-X", "-C", cache, "-f", configuration).returncode, 0
        )
        mount = 'mount --bind "$0" /etc/ld.so.cache && exec "$@"'
        found.add(
            self.check_found_as_by_the_loader(
                without_path, prefix=("unshare", "-m", "sh", "-c", mount, cache)
            )
        )
        self.assertEqual(len(found), 1, found)
        given = {"env": {**os.environ, "LD_PRELOAD": str(folders / "libbest.so")}}
        done = run(NSDUMP, "functions", other, "^in_library$", "--json", **given)
        (named,) = json.loads(done.stdout)["functions"]  # a path is taken as it is
        self.assertEqual(named["file"], str(folders / "libbest.so"))

    def test_code_in_files_that_are_not_elf_files_is_passed_over(self):
        code = self.folder / "generated"
        code.write_bytes(bytes(4096))
        maps = "import mmap, sys, time; f = open(sys.argv[1], 'rb')\n"
        maps += "m = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)\n"
        maps += "print('mapped', flush=True); time.sleep(100)"
        program = subprocess.Popen([sys.executable, "-c", maps, code], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (program.kill(), program.wait(), program.stdout.close()))
        self.assertEqual(program.stdout.readline(), b"mapped\n")
        self.assertIn(str(code), pathlib.Path(f"/proc/{program.pid}/maps").read_text())
        done = run(NSDUMP, "functions", "--pid", program.pid, "libc:^printf$")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("printf()", done.stdout)


if __name__ == "__main__":
    needs.tools("gcc", "unshare")
    if os.geteuid() != 0:
        needs.skip("root is required")
    unittest.main()
