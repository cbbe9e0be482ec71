# SPDX-License-Identifier: MIT
# The CPUs of sender and reader; times that the kernel counts: waiting, steal, XDP programs.
import contextlib
import os

_STEAL = 8  # field of the first line of /proc/stat


def pinned_cpus():
    """For sender and reader; the same one if there is only one."""
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[0], cpus[min(1, len(cpus) - 1)]


def waited_ns(process):
    """Time that threads of the process were ready to run while others had their CPU."""
    return _sum_of_threads(process, 1)


def ran_ns(process):
    """CPU time of the threads of the process that have not ended."""
    return _sum_of_threads(process, 0)


def _sum_of_threads(process, field):
    folder, sum_ns = f"/proc/{process}/task", 0
    for thread in os.listdir(folder):
        with contextlib.suppress(OSError):  # it has ended, or there is no CONFIG_SCHED_INFO
            with open(os.path.join(folder, thread, "schedstat"), encoding="ascii") as file:
                sum_ns += int(file.read().split()[field])
    return sum_ns


def steal_ns(path="/proc/stat"):
    """What a hypervisor took from all CPUs, in steps of a clock tick."""
    with open(path, encoding="ascii") as file:
        fields = file.readline().split()
    return int(fields[_STEAL]) * (10**9 // os.sysconf("SC_CLK_TCK"))


def _programs(process):
    """Fields of each XDP program that the process holds, by its id."""
    folder, found = f"/proc/{process}/fdinfo", {}
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):  # closed meanwhile
            with open(os.path.join(folder, name), encoding="ascii") as file:
                fields = dict(line.split(":", 1) for line in file if ":" in line)
            if fields.get("prog_type", "").strip() == "6":  # BPF_PROG_TYPE_XDP
                found[int(fields["prog_id"])] = fields
    return found.values()


def program_runs(process):
    """(nanoseconds, runs) of all XDP programs of the process, by the run statistics."""
    fields = list(_programs(process))
    return tuple(sum(int(one.get(key, 0)) for one in fields) for key in ("run_time_ns", "run_cnt"))
