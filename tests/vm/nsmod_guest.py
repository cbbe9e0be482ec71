# SPDX-License-Identifier: MIT
# The kernel module, built for each kernel that it is for, and guests that have it loaded.
import os
import pathlib
import tempfile
import unittest

import guest
import kernel_modules

KERNELS = tuple(os.environ.get("NETSLICE_KERNELS", "6.1 6.12").split())
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "nsmod"

# Shell: the writer has committed records.
WRITES = 'until [ -s count ] && [ "$(od -A n -t u8 count | tr -d " ")" -gt 0 ]; do usleep 5000; done'


def build_for_all(folder, *parts):
    """nsmod and, in their order, modules of its subfolders, without a warning -> {kernel: {file name: path}}."""
    built = {}
    for kernel in KERNELS:
        machine = guest.Amd64Guest(os.environ["NETSLICE_BUILD"], kernel=kernel)
        files, said = kernel_modules.build(SOURCE, machine.kernel, machine.architecture, pathlib.Path(folder) / kernel, "W=1")
        for part in parts:
            more, also_said = kernel_modules.make(pathlib.Path(folder) / kernel / SOURCE.name / part, machine.kernel, machine.architecture, "W=1")
            files.update(more)
            said += also_said
        if "warning:" in said:
            raise AssertionError(said)
        built[kernel] = files
    return built


def build_for_tests(*parts):
    """The same in a folder that lives as long as a test's module."""
    folder = tempfile.TemporaryDirectory(prefix="netslice-nsmod-")
    unittest.addModuleCleanup(folder.cleanup)
    return build_for_all(folder.name, *parts)


class GuestTestCase(unittest.TestCase):
    BUILT = {}  # by build_for_tests()

    def run_guests(self, script, check, prepare=lambda machine: None):
        """The script in a guest of each kernel, the module loaded, and a fault in no kernel's log; check(result)."""
        for kernel in KERNELS:
            with self.subTest(kernel=kernel):
                machine = guest.Amd64Guest(os.environ["NETSLICE_BUILD"], kernel=kernel, cpus=2)
                for name in ("bin/nsdump", "tests/vm_writer", "tests/vm_kernel_recorder"):
                    machine.add(name)
                machine.add_built_module(self.BUILT[kernel]["nsmod.ko"])
                prepare(machine)
                result = machine.run("insmod /modules/nsmod.ko\n" + script)
                self.assertEqual(result.kernel_faults, [])
                check(result)

    def check_words(self, *words):
        def check(result):
            for word in words:
                self.assertRegex(result.output, word)
        return check
