# SPDX-License-Identifier: MIT
# Programs and modules -> run in an emulated virtual machine -> their output, exit code and the
# kernel's log.
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import kernel_modules

SKIP = 77
# A line of the kernel's log that fails a test, whatever the test's programs report.
KERNEL_FAULT = re.compile(
    r"\b(BUG|WARNING|Oops|Kernel panic|INFO: (task|trying|possible|suspicious|lockdep)|rcu: "
    r"INFO|soft lockup|hung_task|KASAN|UBSAN|unreferenced object|kmemleak: \d+ new|general "
    r"protection fault,|list_(add|del) corruption|refcount_t:)"
)
# Debug kernels announce their checks when they boot ("RCU lockdep checking is enabled"): not a
# fault. "module verification failed" and "taints kernel" are expected, as these guests load
# out-of-tree modules.

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /tmp
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
export PATH=/test:/bin HOME=/tmp
while read -r module; do insmod /modules/$module || echo "cannot load $module"; done </modules/order
cd /tmp
dmesg -c >/dev/null # faults of the boot, which a busy host can cause, are not the test's
echo "<guest output>"
sh /test/script
echo "<guest exit $?>"
if mount -t debugfs debug /sys/kernel/debug 2>/dev/null && [ -e /sys/kernel/debug/kmemleak ]; then
    sleep 6 # kmemleak does not check younger memory
    echo scan >/sys/kernel/debug/kmemleak
    cat /sys/kernel/debug/kmemleak >/dev/kmsg
fi
dmesg
echo "<guest end>"
poweroff -f
"""


class Unavailable(Exception):
    """What is missing for a guest on this machine."""


class GuestError(Exception):
    """The guest did not finish."""


class Result:
    def __init__(self, code, output, kernel_log):
        self.code = code
        self.output = output
        self.kernel_faults = [line for line in kernel_log if KERNEL_FAULT.search(line)]


def cache_folder(architecture):
    """Where fetch.sh has put system root and kernels."""
    named = os.environ.get("NETSLICE_VM_CACHE")
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return (pathlib.Path(named) if named else base / "netslice") / architecture


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def find_library(name, folders):
    place = next((folder / name for folder in folders if (folder / name).exists()), None)
    if not place:
        raise Unavailable(f"library {name} not found in {', '.join(map(str, folders))}")
    return place


def needed_libraries(program, folders):
    """Libraries that the program's dynamic linker loads, including indirect dependencies."""
    found, left = {}, [program]
    while left:
        listing = subprocess.run(
            ["readelf", "-dW", left.pop()], capture_output=True, text=True, check=True
        ).stdout
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", listing):
            if name not in found:
                found[name] = find_library(name, folders)
                left.append(found[name])
    return found.values()


class Guest:
    """An emulated machine: programs, modules and a script -> output, exit code, the kernel's
    log."""

    architecture = emulator_name = emulator_package = console = loader = library_place = (
        kernel_options
    ) = ""

    def __init__(self, build, cache=None, kernel="6.1", cpus=1, timeout_s=400):
        self.build = pathlib.Path(build)
        self.cache = pathlib.Path(cache or cache_folder(self.architecture))
        self.kernel = self.cache / "kernels" / kernel
        self.cpus, self.timeout_s = cpus, timeout_s
        self.files = {}
        self.libraries = []
        self.modules, self.built_modules = {}, {}  # in load order
        self.emulator = shutil.which(self.emulator_name)
        if not self.emulator:
            raise Unavailable(
                f"{self.emulator_name} is not installed (package {self.emulator_package})"
            )
        for tool in ("cpio", "readelf"):
            if not shutil.which(tool):
                raise Unavailable(f"{tool} is not installed")
        if not (self.kernel / "vmlinuz").exists():
            raise Unavailable(
                f"{self.kernel}/vmlinuz is missing; run tests/vm/fetch.sh {self.architecture} "
                f"{self.cache}"
            )

    def library_folders_in(self, sysroot):
        raise NotImplementedError

    def machine_options(self):
        raise NotImplementedError

    def add_module(self, name):
        """A module of the kernel's own, with its dependencies, for `load NAME` in the script."""
        for one in kernel_modules.needed(self.kernel, name):
            self.modules.setdefault(one.name, one)

    def add_built_module(self, path):
        """A module built for this kernel, with those of the kernel's own modules that it needs."""
        for name in kernel_modules.depends(path):
            if f"{name}.ko" not in self.built_modules:
                self.add_module(name)
        self.built_modules[pathlib.Path(path).name] = pathlib.Path(path)

    def add(self, path, name=None):
        """A file from the build (relative) or from anywhere (absolute), as /test/NAME."""
        place = self.build / path
        if not place.exists():
            raise Unavailable(f"{place} is not built")
        self.files[name or place.name] = place

    def add_library(self, name):
        """A library that a program loads at run time, with its dependencies."""
        self.libraries.append(name)

    def run(self, script):
        with tempfile.TemporaryDirectory(prefix="netslice-guest-") as folder:
            image = pathlib.Path(folder) / "initrd"
            self._make_image(pathlib.Path(folder) / "root", image, script)
            return self._boot(image)

    def _make_image(self, root, image, script):
        sysroot = self.cache / "sysroot"
        folders = [self.build / "lib", *self.library_folders_in(sysroot)]
        library_folder = root / self.library_place
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
        loader = root / self.loader
        if (library_folder / loader.name).exists():
            loader.parent.mkdir(exist_ok=True)
            os.symlink(f"/{self.library_place}/{loader.name}", loader)
        (root / "modules").mkdir()
        for name, place in self.built_modules.items():
            shutil.copy(place, root / "modules" / name)
        for one in self.modules.values():
            (root / "modules" / one.name).write_bytes(one.read())
        (root / "modules/order").write_text("".join(f"{name}\n" for name in self.modules))
        (root / "test/script").write_text(script)
        (root / "init").write_text(INIT)
        (root / "init").chmod(0o755)
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*"))) + "\n"
        packed = subprocess.run(
            ["cpio", "-o", "-H", "newc", "--quiet"],
            cwd=root,
            input=names.encode(),
            stdout=subprocess.PIPE,
            check=True,
        )
        image.write_bytes(gzip.compress(packed.stdout, 1))

    def _boot(self, image):
        command = [
            self.emulator,
            *self.machine_options(),
            "-smp",
            str(self.cpus),
            "-m",
            "512",
            "-nic",
            "none",
            "-nographic",
            "-no-reboot",
            "-kernel",
            self.kernel / "vmlinuz",
            "-initrd",
            image,
            "-append",
            f"console={self.console} quiet panic=-1 {self.kernel_options}",
        ]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=self.timeout_s,
            )
            said = done.stdout
        except subprocess.TimeoutExpired as error:
            raise GuestError(
                f"timed out after {self.timeout_s} s; the last lines:\n"
                f"{_text(error.stdout)[-2000:]}"
            ) from error
        return _parse(_text(said))


class Arm64Guest(Guest):
    """Counts instructions exactly: one virtual nanosecond each (-icount shift=0)."""

    architecture = "arm64"
    emulator_name, emulator_package = "qemu-system-aarch64", "qemu-system-arm"
    console, loader, library_place = "ttyAMA0", "lib/ld-linux-aarch64.so.1", "lib/aarch64-linux-gnu"

    def __init__(self, build, cpu_model="max", **options):
        super().__init__(build, **options)
        self.cpu_model = cpu_model

    def library_folders_in(self, sysroot):
        return [
            sysroot / folder
            for folder in ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib")
        ]

    def machine_options(self):
        # Linux signs return addresses.  The emulation of the architecture's algorithm takes two
        # thirds of a guest's time; this CPU model may have one of its own instead.
        model = self.cpu_model + (",pauth-impdef=on" if self.cpu_model.startswith("max") else "")
        return ["-accel", "tcg", "-M", "virt", "-cpu", model, "-icount", "shift=0"]


class Amd64Guest(Guest):
    """Runs programs built for this machine, with this machine's libraries."""

    architecture = "amd64"
    emulator_name, emulator_package = "qemu-system-x86_64", "qemu-system-x86"
    console, loader, library_place = "ttyS0", "lib64/ld-linux-x86-64.so.2", "lib/x86_64-linux-gnu"
    # tsc: the guest's CPUs share one thread of the emulator.  no_timer_check: on a busy host the
    # emulated timer may not tick while the kernel tests it, and the kernel gives up.
    # watchdog_thresh: the guest's clock advances while a busy host does not run the emulator, and
    # runs too fast if that happens while the kernel calibrates it.  A soft lockup is reported after
    # 120 s.
    kernel_options = "tsc=reliable no_timer_check watchdog_thresh=60"

    def library_folders_in(self, _sysroot):
        return [
            pathlib.Path(folder)
            for folder in (
                "/lib/x86_64-linux-gnu",
                "/usr/lib/x86_64-linux-gnu",
                "/lib64",
                "/usr/lib",
            )
        ]

    def machine_options(self):
        return ["-accel", "tcg,thread=single", "-cpu", "max"]


def _text(said):
    return (said or b"").decode("utf-8", "replace").replace("\r", "")


def _parse(said):
    parts = re.search(r"<guest output>\n(.*?)<guest exit (\d+)>\n(.*?)<guest end>", said, re.S)
    if not parts:
        raise GuestError(f"the guest did not finish; output:\n{said[-2000:]}")
    return Result(int(parts.group(2)), parts.group(1), parts.group(3).splitlines())


def run_tests(guest=Arm64Guest):
    """unittest's main(), or the exit code of a skipped test if no guest is available."""
    try:
        guest(os.environ["NETSLICE_BUILD"])
    except Unavailable as lack:
        print(f"skipped: {lack}")
        sys.exit(SKIP)
    unittest.main()
