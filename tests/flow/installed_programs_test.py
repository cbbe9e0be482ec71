#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that `cmake --install` installs: each has a manual page and completions, and says its
version."""

import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["NETSLICE_SOURCE"])
BUILD = pathlib.Path(os.environ["NETSLICE_BUILD"])
BIN = pathlib.Path(os.environ["NETSLICE_BIN"])
INSTALLED = re.compile(r'file\(INSTALL DESTINATION "([^"]*)" TYPE (\w+)[^"]*FILES((?:\s+"[^"]*")+)')
# Examples, and programs that only others of the toolkit run.
OWN_USE = {"appendix_a", "appendix_b", "ktime-runner", "mapi-reader"}
VERSION = re.search(r"VERSION (\d+\.\d+\.\d+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def installed():
    """[(folder, type, file)]"""
    found = []
    for script in BUILD.rglob("cmake_install.cmake"):
        for folder, kind, files in INSTALLED.findall(script.read_text()):
            found += [
                (folder.removeprefix("${CMAKE_INSTALL_PREFIX}/"), kind, pathlib.Path(file))
                for file in re.findall(r'"([^"]*)"', files)
            ]
    return found


def run(*words):
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, timeout=60
    )


class InstalledPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = installed()
        cls.programs = sorted(
            file.name
            for folder, kind, file in cls.files
            if folder == "bin" and kind in ("EXECUTABLE", "PROGRAM")
        )
        cls.built = [program for program in cls.programs if (BIN / program).exists()]

    def test_every_built_program_is_installed(self):
        self.assertIn("nsdump", self.built)
        left = {path.name for path in BIN.iterdir()} - set(self.built)
        self.assertLessEqual(left, OWN_USE)

    def test_every_program_has_a_manual_page_that_describes_it(self):
        pages = {
            file.stem: file
            for folder, _, file in self.files
            if re.fullmatch(r"share/man/man[18]", folder)
        }
        self.assertEqual(set(self.programs) - set(pages), set())
        for program in self.programs:
            name = pages[program].read_text().split(".SH NAME\n")[1].split("\n")[0]
            self.assertTrue(name.replace("\\", "").startswith(f"{program} - "), name)

    def test_every_program_says_its_version_and_helps(self):
        for program in self.built:
            version = run(BIN / program, "--version")
            self.assertEqual((version.returncode, version.stderr), (0, ""), program)
            self.assertEqual(version.stdout, f"{program} {VERSION}\n")
            usage = run(BIN / program, "--help")
            self.assertEqual((usage.returncode, usage.stderr), (0, ""), program)
            self.assertIn(f"sage: {program} ", usage.stdout)

    def test_every_program_has_completions_for_each_shell(self):
        for folder, name in (
            ("share/bash-completion/completions", "{}"),
            ("share/zsh/site-functions", "_{}"),
            ("share/fish/vendor_completions.d", "{}.fish"),
        ):
            names = sorted(file.name for place, _, file in self.files if place == folder)
            self.assertEqual(names, sorted(name.format(program) for program in self.programs))


if __name__ == "__main__":
    unittest.main()
