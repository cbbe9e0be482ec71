# SPDX-License-Identifier: MIT
# Programs of a cross-build -> run in a virtual machine under emulation -> their output, exit code and the kernel's log.
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIP = 77
LIBRARY_FOLDERS = ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu")
# A line of the kernel's log that fails a test, whatever the test's programs say.
KERNEL_FAULT = re.compile(r"\b(BUG|WARNING|Oops|Kernel panic|lockdep|rcu: INFO|soft lockup|hung_task)\b")

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /tmp
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
export PATH=/test:/bin HOME=/tmp
cd /tmp
echo "<guest output>"
sh /test/script
echo "<guest exit $?>"
dmesg
echo "<guest end>"
poweroff -f
"""


class Unavailable(Exception):
    """What is missing for a guest on this machine."""


class GuestError(Exception):
    """The guest did not come to its end."""


class Result:
    def __init__(self, code, output, kernel_log):
        self.code = code
        self.output = output
        self.kernel_faults = [line for line in kernel_log if KERNEL_FAULT.search(line)]


def cache_folder():
    """Where fetch_arm64.sh has put system root and kernel."""
    named = os.environ.get("NETSLICE_VM_CACHE")
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return pathlib.Path(named) if named else base / "netslice" / "arm64"


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def find_library(name, folders):
    place = next((folder / name for folder in folders if (folder / name).exists()), None)
    if not place:
        raise Unavailable(f"library {name} is nowhere in {', '.join(map(str, folders))}")
    return place


def needed_libraries(program, folders):
    """Files that the program's dynamic linker will look for, with those that they need themselves."""
    found, left = {}, [program]
    while left:
        listing = subprocess.run(["readelf", "-dW", left.pop()], capture_output=True, text=True, check=True).stdout
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", listing):
            if name not in found:
                found[name] = find_library(name, folders)
                left.append(found[name])
    return found.values()


class Arm64Guest:
    """A guest that counts instructions exactly: one virtual nanosecond each (-icount shift=0)."""

    def __init__(self, build, cache=None, cpus=1, cpu_model="max", timeout_s=300):
        self.build = pathlib.Path(build)
        self.cache = pathlib.Path(cache or cache_folder())
        self.cpus, self.cpu_model, self.timeout_s = cpus, cpu_model, timeout_s
        self.files = {}
        self.libraries = []
        self.emulator = shutil.which("qemu-system-aarch64")
        if not self.emulator:
            raise Unavailable("qemu-system-aarch64 is not installed (package qemu-system-arm)")
        for tool in ("cpio", "readelf"):
            if not shutil.which(tool):
                raise Unavailable(f"{tool} is not installed")
        self.kernel = self.cache / "kernel/boot/vmlinuz"
        if not self.kernel.exists():
            raise Unavailable(f"{self.kernel} is not there; tests/vm/fetch_arm64.sh {self.cache} makes it")

    def add(self, path, name=None):
        """A file from the build (relative) or from anywhere (absolute), as /test/NAME."""
        place = self.build / path
        if not place.exists():
            raise Unavailable(f"{place} is not built")
        self.files[name or place.name] = place

    def add_library(self, name):
        """A library that a program looks up while it runs, with those that it needs."""
        self.libraries.append(name)

    def run(self, script):
        with tempfile.TemporaryDirectory(prefix="netslice-guest-") as folder:
            image = pathlib.Path(folder) / "initrd"
            self._make_image(pathlib.Path(folder) / "root", image, script)
            return self._boot(image)

    def _make_image(self, root, image, script):
        sysroot = self.cache / "sysroot"
        folders = [self.build / "lib", *(sysroot / folder for folder in LIBRARY_FOLDERS)]
        library_folder = root / "lib/aarch64-linux-gnu"
        for folder in ("bin", "proc", "sys", "dev", "tmp", "test"):
            (root / folder).mkdir(parents=True)
        library_folder.mkdir(parents=True)
        shutil.copy(sysroot / "bin/busybox", root / "bin/busybox")
        programs = []
        for name, place in self.files.items():
            shutil.copy(place, root / "test" / name)
            if is_elf(place):
                programs.append(place)
        libraries = {find_library(name, folders) for name in self.libraries}
        for needing in [*programs, *libraries]:
            libraries.update(needed_libraries(needing, folders))
        for library in libraries:
            shutil.copy(library, library_folder / library.name)
        if (library_folder / "ld-linux-aarch64.so.1").exists():
            os.symlink("aarch64-linux-gnu/ld-linux-aarch64.so.1", root / "lib/ld-linux-aarch64.so.1")
        (root / "test/script").write_text(script)
        (root / "init").write_text(INIT)
        (root / "init").chmod(0o755)
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*"))) + "\n"
        packed = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=names.encode(), stdout=subprocess.PIPE, check=True)
        image.write_bytes(gzip.compress(packed.stdout, 1))

    def _boot(self, image):
        command = [self.emulator, "-accel", "tcg", "-M", "virt", "-cpu", self.cpu_model, "-smp", str(self.cpus), "-icount", "shift=0",
                   "-m", "512", "-nic", "none", "-nographic", "-no-reboot", "-kernel", self.kernel, "-initrd", image,
                   "-append", "console=ttyAMA0 quiet panic=-1"]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=self.timeout_s)
            said = done.stdout
        except subprocess.TimeoutExpired as error:
            raise GuestError(f"no end after {self.timeout_s} s; the last lines:\n{_text(error.stdout)[-2000:]}") from error
        return _parse(_text(said))


def _text(said):
    return (said or b"").decode("utf-8", "replace").replace("\r", "")


def _parse(said):
    parts = re.search(r"<guest output>\n(.*?)<guest exit (\d+)>\n(.*?)<guest end>", said, re.S)
    if not parts:
        raise GuestError(f"the guest did not come to its end; it said:\n{said[-2000:]}")
    return Result(int(parts.group(2)), parts.group(1), parts.group(3).splitlines())


def run_tests():
    """unittest's main(), or the exit code of a skipped test where no guest can be had."""
    try:
        Arm64Guest(os.environ["NETSLICE_BUILD"])
    except Unavailable as lack:
        print(f"skipped: {lack}")
        sys.exit(SKIP)
    unittest.main()
