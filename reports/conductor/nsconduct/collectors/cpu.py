# SPDX-License-Identifier: MIT
# cpu: CPU time by kind, softirqs by kind, interrupts and context switches of the player's machine.
from ..environment import cpu_times
from .snapshot import SnapshotCollector

_STAT, _SOFTIRQS = "/proc/stat", "/proc/softirqs"


def _counters(text):
    """Counters of /proc/stat that are one number, or begin with their sum."""
    fields = (line.split() for line in text.splitlines())
    return {words[0]: int(words[1]) for words in fields if len(words) > 1}


def _by_cpu(text):
    """Times of each CPU of /proc/stat."""
    lines = (line for line in text.splitlines() if line.startswith("cpu"))
    numbered = ((line.split(None, 1)[0][3:], line) for line in lines)
    return {
        int(number): cpu_times.parsed("cpu " + line.split(None, 1)[1])
        for number, line in numbered
        if number
    }


def _softirqs(text):
    """Sums over all CPUs."""
    rows = (line.split(":", 1) for line in text.splitlines()[1:] if ":" in line)
    return {name.strip(): sum(map(int, counts.split())) for name, counts in rows}


class CpuCollector(SnapshotCollector):
    NAME = "cpu"
    FILES = (_STAT, _SOFTIRQS)

    def difference(self, before, after):
        old, new = before[_STAT], after[_STAT]
        times = cpu_times.difference(cpu_times.parsed(old), cpu_times.parsed(new))
        first, last = _counters(old), _counters(new)
        cpus, then = _by_cpu(new), _by_cpu(old)
        busy = {
            number: cpu_times.busy(cpu_times.difference(then.get(number, {}), cpus[number]))
            for number in cpus
        }
        return {
            "cpus": len(cpus),
            "cpu_s": {**times, "busy": cpu_times.busy(times)},
            "busiest_cpu_s": max(busy.values(), default=0.0),
            "softirqs": cpu_times.difference(
                _softirqs(before[_SOFTIRQS]), _softirqs(after[_SOFTIRQS])
            ),
            "interrupts": last.get("intr", 0) - first.get("intr", 0),
            "context_switches": last.get("ctxt", 0) - first.get("ctxt", 0),
            "processes": last.get("processes", 0) - first.get("processes", 0),
        }
