# SPDX-License-Identifier: MIT
# Sections of gather.py's text -> kernel, CPU, frequency, mitigations, hypervisor, clock source.
import re

_CPU = "/sys/devices/system/cpu"


def _field(text, name):
    found = re.search(rf"^{re.escape(name)}\s*:\s*(.+)$", text, re.M)
    return found.group(1).strip() if found else None


def _assigned(text, name):
    found = re.search(rf'^{re.escape(name)}="?(.*?)"?$', text, re.M)
    return found.group(1) if found else None


def _pairs(text):
    """Lines "path:value" -> (path, value)."""
    return [tuple(line.split(":", 1)) for line in text.splitlines() if ":" in line]


def _frequency(text):
    """What the CPUs' frequency files have: one value if they agree, otherwise all of them."""
    values = {}
    for path, value in _pairs(text):
        values.setdefault(path.rsplit("/", 1)[-1], set()).add(value.strip())
    joined = {name: ", ".join(sorted(found)) for name, found in values.items()}
    return {
        "governor": joined.get("scaling_governor"),
        "driver": joined.get("scaling_driver"),
        "min_khz": joined.get("scaling_min_freq"),
        "max_khz": joined.get("scaling_max_freq"),
    }


def _turbo(found):
    boost, no_turbo = found.get(f"{_CPU}/cpufreq/boost"), found.get(f"{_CPU}/intel_pstate/no_turbo")
    if boost in ("0", "1"):
        return boost == "1"
    return no_turbo == "0" if no_turbo in ("0", "1") else None


def _hypervisor(found):
    """Its name as the firmware has it; "yes" if only the CPU says so; None on bare hardware."""
    flags = _field(found.get("/proc/cpuinfo", ""), "flags") or ""
    kind = found.get("/sys/hypervisor/type")
    if "hypervisor" not in flags.split() and not kind:
        return None
    names = [found.get(f"/sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name")]
    return " ".join(name for name in names if name) or kind or "yes"


def _number(text):
    return int(text) if text and text.isdigit() else None


def facts(found):
    uname = [*found.get("uname", "").splitlines(), "", "", "", ""]
    info = found.get("/proc/cpuinfo", "")
    memory = re.match(r"(\d+)", _field(found.get("/proc/meminfo", ""), "MemTotal") or "")
    smt = found.get(f"{_CPU}/smt/active")
    return {
        "system": _assigned(found.get("/etc/os-release", ""), "PRETTY_NAME"),
        "kernel": uname[1] or None,
        "kernel_version": uname[2] or None,
        "kernel_arguments": found.get("/proc/cmdline"),
        "architecture": uname[3] or None,
        "cpu": _field(info, "model name") or _field(info, "CPU part"),
        "microcode": _field(info, "microcode"),
        "cpus": _number(found.get("cpus")),
        "smt": smt == "1" if smt in ("0", "1") else None,
        "frequency": {**_frequency(found.get("cpufreq", "")), "turbo": _turbo(found)},
        "memory_kb": int(memory.group(1)) if memory else None,
        "mitigations": dict(_pairs(found.get("mitigations", ""))),
        "hypervisor": _hypervisor(found),
        "clock_source": found.get(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        ),
    }
