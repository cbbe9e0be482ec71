# SPDX-License-Identifier: MIT
# perf: counters of all CPUs of the player's machine, by perf stat.
from .background import BackgroundCollector, reason
from .collector import CollectorError

HARDWARE = ("cycles", "instructions", "branches", "branch-misses")
HARDWARE += ("cache-references", "cache-misses")
SOFTWARE = ("task-clock", "context-switches", "cpu-migrations", "page-faults")
PATH = "PATH=$PATH:/usr/sbin:/sbin; LC_ALL=C; export LC_ALL; "
TRY = PATH + "perf stat -a -x ';' -e cycles true 2>&1"


def counters(text):
    """Lines "VALUE;UNIT;EVENT;..." of perf stat -x -> {event: value, or None if not counted}."""
    found = {}
    for line in text.splitlines():
        fields = line.split(";")
        if len(fields) > 2 and fields[2]:
            try:
                found[fields[2].partition(":")[0]] = float(fields[0])
            except ValueError:  # <not supported>, <not counted>
                found[fields[2].partition(":")[0]] = None
    return found


def has_pmu(text):
    """What TRY printed -> whether cycles are counted; raises CollectorError with perf's reason."""
    found = counters(text)
    if "cycles" not in found:
        raise reason("perf", text.partition("==> ")[0])
    return found["cycles"] is not None


class PerfCollector(BackgroundCollector):
    NAME = "perf"
    PROGRAMS = ("perf",)

    def start(self):
        if not has_pmu(self.run(TRY, "try", may_fail=True).text):
            raise CollectorError("no PMU")
        events = ",".join((*HARDWARE, *SOFTWARE))
        self.begin(f"{PATH}exec perf stat -a -x ';' -e {events}")

    def stop(self):
        text = self.end()
        found = counters(text)
        if not found:
            raise reason("perf", text)
        cycles, instructions = found.get("cycles"), found.get("instructions")
        ratio = instructions / cycles if cycles and instructions is not None else None
        return {"counters": found, "instructions_per_cycle": ratio, "cost": self.cost.as_json()}
