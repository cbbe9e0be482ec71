# SPDX-License-Identifier: MIT
# bench_context: the machine -> the block of context that every figure needs.
import datetime
import os
import pathlib
import platform
import re
import subprocess


def _read(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return None


def _cpu():
    found = re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo") or "", re.M)
    return found.group(1) if found else platform.machine()


def _virtualised():
    if " hypervisor" in (_read("/proc/cpuinfo") or ""):
        names = (_read("/sys/class/dmi/id/sys_vendor"), _read("/sys/class/dmi/id/product_name"))
        return " ".join(name for name in names if name) or _read("/sys/hypervisor/type") or "yes"
    return "none"


def _compiler(build):
    cache = _read(build / "CMakeCache.txt") or ""
    value = {key: text for key, text in re.findall(r"^(\w+):\w+=(.*)$", cache, re.M)}
    compiler = value.get("CMAKE_CXX_COMPILER")
    if not compiler:
        return {"compiler": None, "flags": None}
    try:
        version = subprocess.run(
            [compiler, "--version"], capture_output=True, text=True, check=True
        ).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        version = compiler
    kind = value.get("CMAKE_BUILD_TYPE", "")
    of_kind = value.get("CMAKE_CXX_FLAGS_" + kind.upper(), "")
    flags = f"{value.get('CMAKE_CXX_FLAGS', '')} {of_kind}".strip()
    return {
        "compiler": version,
        "flags": flags,
        "sanitizer": value.get("NETSLICE_SANITIZE") or None,
    }


def _commit():
    top = pathlib.Path(__file__).resolve().parents[2]
    git = ["git", "-c", "safe.directory=*", "-C", str(top)]
    try:
        commit = subprocess.run(
            [*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
        changed = subprocess.run(
            [*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit + ("-changed" if changed.strip() else "")


def context(bin_folder):
    load = os.getloadavg()[0]
    block = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "arch": platform.machine(),
        "cpus": os.cpu_count(),
        "cpus_usable": len(os.sched_getaffinity(0)),
        "smt": _read("/sys/devices/system/cpu/smt/active"),
        "kernel": platform.release(),
        "virtualised": _virtualised(),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "clocksource": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "mitigations_spectre_v2": _read("/sys/devices/system/cpu/vulnerabilities/spectre_v2"),
        "load_1min": load,
        "commit": _commit(),
        **_compiler(bin_folder.resolve().parent),
    }
    block["warnings"] = warnings(block)
    return block


def warnings(block):
    reported = []
    if block["virtualised"] != "none":
        reported.append(
            f"a virtual machine ({block['virtualised']}): its neighbours affect the figures"
        )
    if block["governor"] not in (None, "performance"):
        reported.append(f"governor is {block['governor']}: the clock rate varies")
    if block["load_1min"] > 0.5:
        reported.append(f"load is {block['load_1min']:.2f}: other programs affect the figures")
    if block.get("sanitizer"):
        reported.append(f"built with -fsanitize={block['sanitizer']}: figures are not valid")
    return reported
