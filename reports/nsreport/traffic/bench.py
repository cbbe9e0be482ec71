# SPDX-License-Identifier: MIT
# What all measurements of one report have in common: programs, CPUs, the veth pair, progress.
import contextlib
import os

from ..errors import EXIT_TOOL, ReportError
from . import cpu_time, namespace, point, programs, reader, sender
from .progress import Progress

NONE = "none"  # the system that reads nothing


class Bench:
    """document: gets the points and what is unavailable."""

    def __init__(self, found, document, tell, steps):
        self.programs, self.document = found, document
        self.sending_cpu, self.reading_cpu = cpu_time.pinned_cpus()
        self.sender = sender.Sender(found, self.sending_cpu)
        self._progress = Progress(tell, steps)
        self.seconds = document["seconds"]

    @contextlib.contextmanager
    def reading(self, system, words):
        with reader.opened(self.programs, words, self.reading_cpu) as one:
            self.document.setdefault("ticks_per_s", one.about["ticks_per_s"])
            self.document.setdefault("no_instructions", one.about["instructions"])
            self.document.setdefault("no_softirq", one.about["softirq"])
            self.system = system
            one.measure_idle()
            yield one

    def measure(self, one, traffic, rate, patience_s=point.PATIENT_S, **about):
        """about: the part, the round and what else distinguishes the point."""
        what = f"{about['part']}, {self.system}, {rate or 'top rate'}"
        self._progress.step(f"{what}{' packets/s' if rate else ''}, round {about['round']}")
        made = point.measured(
            one, self.sender, traffic, patience_s, rate=rate, seconds=self.seconds
        )
        row = {"system": self.system, "rate": rate, **about, **made}
        self.document.setdefault("method", made["method"])
        self.document["points"].append(row)
        return row

    def skip(self, steps):
        for _ in range(steps):
            self._progress.step("skipped")

    def set_steps(self, steps):
        self._progress.steps = steps

    def available(self, systems):
        """systems: words of mapi-reader by name -> those that can be opened; the document says
        why the others cannot."""
        found = [name for name, words in systems.items() if self._can_open(name, words)]
        if not found:
            name, why = next(iter(self.document["unavailable"].items()))
            raise ReportError(EXIT_TOOL, f"no system can be measured: {name}: {why}")
        return found

    def _can_open(self, system, words):
        try:
            with reader.opened(self.programs, words, self.reading_cpu):
                return True
        except ReportError as error:
            self.document["unavailable"][system] = str(error)
            return False


@contextlib.contextmanager
def begun(program, document, tell, steps):
    """Checks what is required, then yields a Bench inside a namespace with a veth pair."""
    found = programs.find_all(program)
    document["kernel"] = " ".join(os.uname()[i] for i in (0, 2, 4))
    document["cpu"] = cpu_words()
    with namespace.pair(found):
        made = Bench(found, document, tell, steps)
        document["cpus"] = [made.sending_cpu, made.reading_cpu]
        yield made


def cpu_words(path="/proc/cpuinfo"):
    with open(path, encoding="utf-8") as file:
        lines = [line.split(":", 1) for line in file if ":" in line]
    model = next((value.strip() for name, value in lines if name.strip() == "model name"), "")
    count = sum(name.strip() == "processor" for name, _ in lines)
    return f"{model or os.uname().machine}, {count} CPUs"
