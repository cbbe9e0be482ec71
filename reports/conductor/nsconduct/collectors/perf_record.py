# SPDX-License-Identifier: MIT
# perf-record: call stacks of all CPUs of the player's machine, by perf record -> a perf.data file.
import re

from . import perf
from .background import BackgroundCollector, reason

FREQUENCY_HZ = 99  # not in step with what runs every 10 ms
_WROTE = re.compile(r"Captured and wrote .*?perf\.data(?: \(~?(\d+) samples\))?")


class PerfRecordCollector(BackgroundCollector):
    """Without a PMU it samples by the clock of each CPU."""

    NAME = "perf-record"
    PROGRAMS = ("perf",)

    def start(self):
        tried = self.run(perf.TRY, "try", may_fail=True).text
        self._event = "cycles" if perf.has_pmu(tried) else "cpu-clock"
        options = f"-a -g -F {FREQUENCY_HZ} -e {self._event} -o perf.data"
        self.begin(f"{perf.PATH}exec perf record {options}")

    def stop(self):
        text = self.end()
        found = _WROTE.search(text)
        if not found:
            raise reason("perf", text)
        path = self.fetch(f"{self.place}/perf.data", "perf.data")
        return {
            "event": self._event,
            "frequency_hz": FREQUENCY_HZ,
            "samples": int(found[1] or 0),
            "file": path.name,
            "bytes": path.stat().st_size,
            "cost": self.cost.as_json(),
        }
