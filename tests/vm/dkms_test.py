# SPDX-License-Identifier: MIT
# DKMS on the installed tree: add, build, install for a guest's kernel, in this test's own folders
# -> the resulting module, loaded in a guest.
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import guest

KERNEL = "6.1"
PREFIX = pathlib.Path(os.environ["NETSLICE_PREFIX"])
VERSION = (pathlib.Path(__file__).resolve().parents[2] / "nsmod/release").read_text().strip()


class Dkms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="netslice-dkms-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.machine = guest.Amd64Guest(os.environ["NETSLICE_BUILD"], kernel=KERNEL, cpus=2)
        self.release = (self.machine.kernel / "modules").resolve().name

    def dkms(self, action, *options, release=None, headers=None):
        """One action of dkms -> its exit code and output.  sign_file: no key is created or used on
        this machine."""
        release = release or self.release
        (self.folder / "tree").mkdir(exist_ok=True)
        (self.folder / "modules" / release).mkdir(parents=True, exist_ok=True)
        of_kernel = (
            []
            if action == "add"
            else ["-k", release, "--kernelsourcedir", headers or self.machine.kernel / "headers"]
        )
        done = subprocess.run(
            [
                "dkms",
                action,
                f"nsmod/{VERSION}",
                "--dkmstree",
                self.folder / "tree",
                "--sourcetree",
                PREFIX / "src",
                "--installtree",
                self.folder / "modules",
                *of_kernel,
                *options,
            ],
            env=os.environ | {"sign_file": "/none"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def test_what_dkms_builds_and_installs_is_loaded_and_gives_a_trace(self):
        for action, options in (("add", []), ("build", []), ("install", ["--no-depmod"])):
            code, said = self.dkms(action, *options)
            self.assertEqual(code, 0, said)
        made = list((self.folder / "modules" / self.release).rglob("nsmod.ko*"))
        self.assertEqual(len(made), 1, "modules installed")
        self.machine.add("bin/nsdump")
        self.machine.add("tests/vm_writer")
        self.machine.add_built_module(made[0])
        result = self.machine.run("""
            insmod /modules/nsmod.ko && echo "version $(cat /sys/module/nsmod/version)"
            NETSLICE=recorder=nsmod vm_writer 1000 &
            cat /dev/nsmod >trace.nsl
            nsdump check trace.nsl
            """)
        self.assertEqual(result.kernel_faults, [])
        self.assertRegex(result.output, rf"version {VERSION}\b")
        self.assertRegex(result.output, r"trace.nsl: whole; \d+ records, every one accounted for")

    def test_a_kernel_that_is_too_old_is_left_alone_in_words(self):
        headers = self.folder / "headers"
        (headers / "include/config").mkdir(parents=True)
        (headers / "Makefile").write_text("modules:\n\t@echo compiled\n")
        (headers / "include/config/kernel.release").write_text("5.10.0-1-amd64\n")
        (headers / ".config").write_text("CONFIG_X86_64=y\n")
        self.assertEqual(self.dkms("add")[0], 0)
        code, said = self.dkms("build", release="5.10.0-1-amd64", headers=headers)
        self.assertNotEqual(code, 0)
        self.assertRegex(said, "BUILD_EXCLUSIVE")
        self.assertNotIn("Bad return status", said)


if __name__ == "__main__":
    for lack, is_there in (
        ("dkms is not installed", shutil.which("dkms")),
        ("dkms requires root", os.geteuid() == 0),
    ):
        if not is_there:
            print(f"skipped: {lack}")
            sys.exit(guest.SKIP)
    guest.run_tests(guest.Amd64Guest)
