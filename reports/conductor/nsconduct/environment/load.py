# SPDX-License-Identifier: MIT
# A span of time on this machine -> the share of its CPUs that others used, and what a hypervisor
# took.
#
# Others are what is neither this process nor a descendant of it.  A descendant whose parent ended
# without waiting for it leaves the family, and counts as one of the others; so do interrupts, also
# those that the experiment causes.
import contextlib
import dataclasses
import os
import resource
import time

from . import cpu_times


@dataclasses.dataclass(frozen=True)
class _Process:
    name: str
    parent: int
    cpu_s: float  # its own, and of the children it waited for


def _processes():
    """All that run, by number."""
    found = {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended
            with open(f"/proc/{number}/stat", encoding="ascii", errors="replace") as file:
                head, _, rest = file.read().rpartition(")")
            fields = rest.split()
            cpu_s = sum(map(int, fields[11:15])) / cpu_times.TICKS_PER_S
            found[int(number)] = _Process(head.partition("(")[2], int(fields[1]), cpu_s)
    return found


def _family(processes):
    """Numbers of this process and its descendants."""
    children, waiting = {}, [os.getpid()]
    for number, process in processes.items():
        children.setdefault(process.parent, []).append(number)
    for number in waiting:
        waiting += children.get(number, ())
    return set(waiting)


class _Reading:
    """CPU time so far: of the machine by kind, of this family, of each other process."""

    def __init__(self, stat):
        with open(stat, encoding="ascii") as file:
            self.times = cpu_times.parsed(file.readline())
        processes = _processes()
        family = _family(processes)
        kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        usages = [resource.getrusage(kind) for kind in kinds]
        self.own_s = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        self.own_s += sum(
            process.cpu_s
            for number, process in processes.items()
            if number in family and number != os.getpid()
        )
        self.others = {n: process for n, process in processes.items() if n not in family}
        self.monotonic_s = time.monotonic()


class LoadMeter:
    """Begins when it is made; stop() ends the span."""

    def __init__(self, stat="/proc/stat"):
        self._stat = stat
        self._cpus = os.cpu_count() or 1
        self._first = _Reading(stat)

    def stop(self):
        """{"load_by_others", "steal"}: shares of the time of all CPUs, and "busiest_other": the
        name and share of the process that had most of it, of those that still run; None if none
        has.  The kernel counts in ticks, usually of 10 ms, so that a span of a tenth of a second
        has coarse values."""
        first, last = self._first, _Reading(self._stat)
        all_s = self._cpus * (last.monotonic_s - first.monotonic_s)
        times = cpu_times.difference(first.times, last.times)
        used_s = {
            number: process.cpu_s - first.others[number].cpu_s if number in first.others else 0.0
            for number, process in last.others.items()
        }
        busiest = max(used_s, key=used_s.get, default=None)
        other = None
        if busiest is not None and used_s[busiest] > 0:
            name = last.others[busiest].name
            other = {"name": name, "share": _share(used_s[busiest], all_s)}
        return {
            "load_by_others": _share(cpu_times.busy(times) - (last.own_s - first.own_s), all_s),
            "steal": _share(times["steal"], all_s),
            "busiest_other": other,
        }


def _share(part_s, all_s):
    return min(1.0, max(0.0, part_s / all_s)) if all_s > 0 else 0.0
