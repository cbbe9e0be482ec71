# SPDX-License-Identifier: MIT
# /proc/stat -> CPU time of all CPUs by what it was spent on, in seconds.
import os

_NAMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_IDLE = ("idle", "iowait", "steal")  # nobody here had the CPU


def parsed(text, ticks_per_s=TICKS_PER_S):
    """The line "cpu", whose user time includes that of guests."""
    fields = text.split(None, 1 + len(_NAMES))
    if len(fields) < 5 or fields[0] != "cpu":
        raise ValueError("no line of all CPUs")
    values = [int(field) for field in fields[1 : 1 + len(_NAMES)]]
    return {name: value / ticks_per_s for name, value in zip(_NAMES, values)}


def difference(before, after):
    """Rounded, because ticks as seconds are not exact."""
    return {name: round(after[name] - before.get(name, 0), 6) for name in after}


def busy(times):
    return round(sum(value for name, value in times.items() if name not in _IDLE), 6)
