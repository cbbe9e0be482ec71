# SPDX-License-Identifier: MIT
# nsreport --system: runs system_measure.sh on this machine and binutils' size on programs -> text
# for results.py.
import os
import shutil
import subprocess
import sys

from .. import signals
from ..errors import EXIT_TOOL, ReportError, cannot_read, shown

SIZES = (64, 128, 256, 512, 1024, 1280, 1518, 4096, 16384, 65536)
VARIANTS = ("without", "idle", "recording")


def plan(options):
    """Describes what will be done to this machine; printed before it is done."""
    runs = options.rounds * len(VARIANTS) * len(SIZES)
    return (
        f"measuring TCP over loopback, {options.rounds} rounds in up to {len(VARIANTS)} variants, "
        f"about {runs * (2 * options.seconds + 1) // 60 + 1} minutes. As root this loads and "
        "unloads the kernel module nsmod in each round and records the kernel; a module that is "
        "already loaded stays loaded. Ctrl-C restores the initial state"
    )


def _check_tools():
    if not shutil.which("sockperf") and not shutil.which("iperf3"):
        raise ReportError(
            EXIT_TOOL,
            "sockperf, iperf3: neither is installed, and one is required (Debian: apt install "
            "sockperf iperf3)",
        )


def measured(share, program, options, work, progress):
    """Runs the script to its end -> its output."""
    _check_tools()
    path = os.path.join(work, "results.txt")
    path_of_user = os.environ.get("PATH", "/usr/bin:/bin")
    environment = os.environ | {
        "PATH": f"{os.path.dirname(program)}:{path_of_user}:/usr/sbin:/sbin"
    }
    command = [
        "sh",
        os.path.join(share, "system_measure.sh"),
        str(options.rounds),
        str(options.seconds),
        " ".join(map(str, SIZES)),
        " ".join(VARIANTS),
    ]
    process = None
    try:
        with signals.held():
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
                errors="replace",
            )
        with open(path, "w", encoding="utf-8") as file:
            for line in process.stdout:
                file.write(line)
                if line.startswith("== "):
                    progress(shown(line[3:].strip()))
        process.wait()
    finally:
        if process:
            with signals.held():
                process.terminate()  # it unloads the module if it loaded it,
                process.stdout.read()  # and may print a fault
                process.stdout.close()
                process.wait()
    with open(path, encoding="utf-8") as file:
        return file.read()


def read(path):
    try:
        if path == "-":
            return sys.stdin.read()
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise cannot_read(path, error, "give data/results.txt of an earlier measurement") from error


def _find(*places):
    return next((place for place in places if place and os.path.exists(place)), None)


def _library(prefix, name):
    for folder in ("lib", "lib64", os.path.join("lib", os.uname().machine + "-linux-gnu")):
        if os.path.exists(place := os.path.join(prefix, folder, name)):
            return place
    return None


def _module_of_system():
    done = (
        subprocess.run(["modinfo", "-n", "nsmod"], capture_output=True, text=True, check=False)
        if shutil.which("modinfo")
        else None
    )
    return done.stdout.strip() if done and done.returncode == 0 else None


def files(program, options):
    """(name, path) of the files to size: the module; an instrumented program and its library, with
    probes and with NETSLICE_DISABLE."""
    prefix = os.path.dirname(os.path.dirname(program))
    bare = options.bare or os.path.join(os.path.dirname(prefix), "bare")
    found = [("nsmod.ko", _find(options.module) if options.module else _find(_module_of_system()))]
    for word, place in (("probes out", bare), ("probes in, off or on", prefix)):
        found.append((f"mapi-count, {word}", _find(os.path.join(place, "bin/mapi-count"))))
        found.append((f"libmapi.so, {word}", _library(place, "libmapi.so")))
    return [(name, path) for name, path in found if path]


def size_line(text, path):
    """binutils' `size`, Berkeley form -> FILE-BYTES TEXT DATA BSS"""
    words = text.splitlines()[1].split()
    return " ".join([str(os.path.getsize(path)), *map(str, map(int, words[:3]))])


def sizes(program, options):
    """Lines that begin with "== size" for the results; none without binutils."""
    tool = shutil.which("size")
    lines = []
    for name, path in files(program, options) if tool else []:
        done = subprocess.run([tool, "-B", path], capture_output=True, text=True, check=False)
        if done.returncode == 0 and len(done.stdout.splitlines()) == 2:
            lines.append(f"== size {size_line(done.stdout, path)} {name}")
    return "".join(f"{line}\n" for line in lines)
