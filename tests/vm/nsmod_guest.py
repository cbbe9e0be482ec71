# SPDX-License-Identifier: MIT
# The kernel module, built for each supported kernel, in guests of the build's architecture.
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest
import zlib

import guest
import kernel_modules

BUILD = pathlib.Path(os.environ.get("NETSLICE_BUILD", "build/release"))
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "nsmod"
CASES = pathlib.Path(__file__).resolve().parent / "cases"
BUILT = {}  # kernel -> {file name: path} of the modules built for it

# Shell: waits until the writer has committed records.
WRITES = (
    'until [ -s count ] && [ "$(od -A n -t u8 count | tr -d " ")" -gt 0 ]; do usleep 5000; done'
)

# Shell: statistics of a trace, for documents().
STATS = """
stats() { # NAME: the statistics of NAME.nsl
    nsdump check $1.nsl | tail -n 1
    echo "json $1"; nsdump export $1.nsl --what stats --format json 2>/dev/null; echo "end of json"
}
"""

# Shell, a script: `sh stream ADDRESS PORT` sends the file data to the file got; SERVE: prefix for
# the commands of the receiving side.
STREAM = """
mkfifo hold
cat >stream <<"END"
    # Its input stays open, because nc would hang up at the end of input.
    $SERVE nc -l -p $2 <>hold >got &
    until $SERVE netstat -ltn | grep -q ":$2 "; do usleep 50000; done
    nc $1 $2 <data
    wait
END
"""


def documents(output):
    """The JSON documents that the script printed, each after a line `json NAME`."""
    found = {}
    for name, rest in re.findall(r"^json (\w+)\r?\n(.*?)^end of json", output, re.M | re.S):
        found[name] = json.loads(rest)
    return found


def guest_class():
    """Guests that run the build's programs."""
    program = BUILD / "bin/nsdump"
    machine = program.read_bytes()[18] if program.exists() else 0
    return guest.Arm64Guest if machine == 183 else guest.Amd64Guest


GUEST = guest_class()
NAMES_KERNELS = "NETSLICE_KERNELS" in os.environ
KERNELS = tuple(
    os.environ.get("NETSLICE_KERNELS", "6.1" if GUEST is guest.Arm64Guest else "6.1 6.12").split()
)


def build_modules(*parts):
    """For setUpModule(): builds nsmod and, in order, modules of its subfolders, without
    warnings."""
    for kernel in KERNELS:
        machine = GUEST(BUILD, kernel=kernel)
        BUILT[kernel] = kernel_modules.build_once(
            SOURCE, machine.kernel, machine.architecture, BUILD, parts
        )


def build_changed(name, edits, *cases):
    """
    For setUpModule(), in addition to the module: builds a variant as BUILT[kernel]["NAME.ko"], with
    (file, old text, new text) replaced in its source, and the modules of folders in cases/.
    """
    folder = tempfile.TemporaryDirectory(prefix="netslice-nsmod-")
    unittest.addModuleCleanup(folder.cleanup)
    source = pathlib.Path(folder.name) / SOURCE.name
    shutil.copytree(SOURCE, source)
    for file, old, new in edits:
        text = (source / file).read_text()
        if text.count(old) != 1:
            raise RuntimeError(f"{file} does not have {old!r} once")
        (source / file).write_text(text.replace(old, new))
    for case in cases:
        shutil.copytree(CASES / case, source / case)
    for kernel in KERNELS:
        machine = GUEST(BUILD, kernel=kernel)
        place = pathlib.Path(folder.name) / kernel
        files, _ = kernel_modules.build(source, machine.kernel, machine.architecture, place)
        BUILT[kernel][f"{name}.ko"] = files["nsmod.ko"].rename(
            files["nsmod.ko"].with_name(f"{name}.ko")
        )
        for case in cases:
            BUILT[kernel].update(
                kernel_modules.make(
                    place / SOURCE.name / case, machine.kernel, machine.architecture
                )[0]
            )


class NsmodTest(unittest.TestCase):
    programs = ()  # names below tests/ of the build, in addition to nsdump
    modules = ()  # modules of the kernel's own
    timeout_s = 240

    def kernels(self):
        """The kernels named in the environment, or one, which is fixed for each test."""
        if not NAMES_KERNELS:
            return (KERNELS[zlib.crc32(self.id().encode()) % len(KERNELS)],)
        return KERNELS

    def run_guests(self, script, check, prepare=lambda machine: None):
        """Runs the script in a guest of each of kernels() with the module loaded; no kernel may log
        a fault; calls check(result).  SLOW: factor for time limits."""
        for kernel in self.kernels():
            with self.subTest(kernel=kernel):
                # An emulated machine with a debug kernel is several times slower.
                slow = 6 if kernel.endswith("debug") else 1
                machine = GUEST(BUILD, kernel=kernel, cpus=2, timeout_s=self.timeout_s * slow)
                machine.add("bin/nsdump")
                for program in self.programs:
                    machine.add(f"tests/{program}")
                for module in self.modules:
                    machine.add_module(module)
                machine.add_built_module(BUILT[kernel]["nsmod.ko"])
                prepare(machine)
                result = machine.run(f"SLOW={slow}\ninsmod /modules/nsmod.ko\n{script}")
                self.assertEqual(result.kernel_faults, [], result.output[-500:])
                check(result)

    def check_words(self, *words):
        def check(result):
            for word in words:
                self.assertRegex(result.output, word)

        return check


def run_tests():
    guest.run_tests(GUEST)
