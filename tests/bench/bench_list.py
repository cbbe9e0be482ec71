# SPDX-License-Identifier: MIT
# bench_list: benches.txt -> what to run, which figures it prints, what it needs.
import dataclasses
import os
import pathlib
import shlex
import shutil

NEEDS = (
    "root",
    "once",
    "runs",
    "seconds",
    "cpus",
    "tool",
    "file",
    "pmu",
    "built",
    "asked",
    "table",
)


def _install(packages):
    return f": install {' '.join(packages.split(','))}" if packages else ""


@dataclasses.dataclass
class Bench:
    name: str
    figures: list
    command: list
    needs: list

    def runs(self, repeats):
        """`once` is for long programs that repeat internally, `runs=N` for programs that need more
        runs to settle."""
        if "once" in self.needs:
            return 1
        return next(
            (
                max(repeats, int(need.split("=")[1]))
                for need in self.needs
                if need.startswith("runs=")
            ),
            repeats,
        )

    @property
    def group(self):
        """`GROUP/NAME`: run together if GROUP is requested."""
        return self.name.rpartition("/")[0]

    @property
    def is_only_asked(self):
        return "asked" in self.needs

    @property
    def is_in_table(self):
        return "table" in self.needs

    @property
    def timeout_seconds(self):
        return next(
            (int(need.split("=")[1]) for need in self.needs if need.startswith("seconds=")), 300
        )

    def missing(self, source, bin_folder):
        """The first requirement that this machine lacks, or None."""
        for need in self.needs:
            word, _, value = need.partition("=")
            if word == "root" and os.geteuid() != 0:
                return "requires root"
            if word == "cpus" and (os.cpu_count() or 1) < int(value):
                return f"requires {value} CPUs, this machine has {os.cpu_count()}"
            value, _, packages = value.partition(":")
            if word == "tool" and not shutil.which(
                value, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
            ):
                return f"requires the program {value}{_install(packages)}"
            if word == "built" and not (bin_folder.parent / "tests" / value).exists():
                return f"{value} is not built{_install(packages)}"
            if word == "file" and not (source / value).exists():
                return f"requires {value}"
            if (
                word == "pmu"
                and not any(pathlib.Path("/sys/bus/event_source/devices").glob("*cpu*"))
                and not any(pathlib.Path("/sys/bus/event_source/devices").glob("armv*"))
            ):
                return "requires hardware counters, but the kernel exposes no PMU"
        return None


def parse(path):
    benches = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        columns = [column.strip() for column in line.split(" : ")]
        if len(columns) not in (3, 4):
            raise ValueError(f"{path}:{number}: not 'name : figures : command : needs'")
        needs = columns[3].split() if len(columns) == 4 else []
        wrong = [need for need in needs if need.split("=")[0] not in NEEDS]
        if wrong:
            raise ValueError(f"{path}:{number}: unknown need {wrong[0]}; known: {' '.join(NEEDS)}")
        benches.append(Bench(columns[0], columns[1].split(), shlex.split(columns[2]), needs))
    return benches
