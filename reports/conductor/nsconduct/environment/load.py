# SPDX-License-Identifier: MIT
# A span of time on this machine -> the share of its CPUs that others used, and what a hypervisor
# took.
#
# Others are what is neither this process nor a descendant of it.  A descendant whose parent ended
# without waiting for it leaves the family, and counts as one of the others; so do interrupts, also
# those that the experiment causes.
import contextlib
import os
import resource
import time

from . import cpu_times


def _stat(process):
    """(parent, CPU time of the process and of the children it waited for), or None: it ended."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[1]), sum(map(int, fields[11:15])) / cpu_times.TICKS_PER_S
    return None


def _running_descendants_s():
    """CPU time of descendants that have not ended, and of those that they waited for."""
    found = {int(name): _stat(name) for name in os.listdir("/proc") if name.isdigit()}
    found = {process: stat for process, stat in found.items() if stat}
    children = {}
    for process, (parent, _) in found.items():
        children.setdefault(parent, []).append(process)
    waiting, total = list(children.get(os.getpid(), ())), 0.0
    while waiting:
        process = waiting.pop()
        total += found[process][1]
        waiting += children.get(process, ())
    return total


def _own_s():
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    usages = [resource.getrusage(kind) for kind in kinds]
    ended = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return ended + _running_descendants_s()


class LoadMeter:
    """Begins when it is made; stop() ends the span."""

    def __init__(self, stat="/proc/stat"):
        self._stat = stat
        self._cpus = os.cpu_count() or 1
        self._own, self._times, self._start = _own_s(), self._read(), time.monotonic()

    def _read(self):
        with open(self._stat, encoding="ascii") as file:
            return cpu_times.parsed(file.readline())

    def stop(self):
        """{"load_by_others", "steal"}: shares of the time of all CPUs.  The kernel counts in ticks,
        usually of 10 ms, so that a span of a tenth of a second has a coarse value."""
        whole = self._cpus * (time.monotonic() - self._start)
        times = cpu_times.difference(self._times, self._read())
        others = cpu_times.busy(times) - (_own_s() - self._own)
        return {
            "load_by_others": min(1.0, max(0.0, others / whole)) if whole > 0 else 0.0,
            "steal": min(1.0, max(0.0, times["steal"] / whole)) if whole > 0 else 0.0,
        }
