# SPDX-License-Identifier: MIT
# A part -> the commands that measure it and make its report.
import glob
import os
import shutil
import sys
from dataclasses import dataclass

from ..errors import EXIT_TOOL, ReportError
from ..traffic.programs import PLACES_OF_ROOT
from .parts import EXPERIMENTS, LONG, REPORT

EXPERIMENT_FOLDER = "NETSLICE_EXPERIMENTS"
_SHORT_TRIALS = ("--trials", "2", "--warmup", "0")
_SHORT_EXPERIMENT = {"EXPERIMENT_SECONDS": "1"}
_SHORT_PACKETS = ("-c", "50000")


@dataclass
class Command:
    words: list  # with the place of the program
    makes: str = ""  # file without which the part has no result
    environment: dict = None

    def _names(self):
        """Its words from the program on, without the program's place."""
        is_python = os.path.basename(self.words[0]).startswith("python")
        program, *rest = self.words[1:] if is_python else self.words
        return [os.path.basename(program), *rest]

    @property
    def name(self):
        return self._names()[0]

    def shown(self, *folders):
        """As it would be typed in one of these folders."""
        made = self._names()
        for folder in folders:
            made = [word.replace(folder.rstrip("/") + "/", "") for word in made]
        variables = [f"{key}={value}" for key, value in (self.environment or {}).items()]
        return " ".join([*variables, *made])


def tool(program, name):
    """Next to nsreport, or in PATH."""
    path = ":".join(
        [os.path.dirname(program), os.environ.get("PATH", "/usr/bin:/bin"), PLACES_OF_ROOT]
    )
    found = shutil.which(name, path=path)
    if not found:
        raise ReportError(EXIT_TOOL, f"{name}: not found (install the toolkit)")
    return found


def _nsreport(program, *words):
    return Command([sys.executable, program, *words, "-q"])


def _option(part, program, folder, is_long):
    form = [] if is_long else ["--quick"]
    return [_nsreport(program, part.option, *form, "-o", os.path.join(folder, REPORT))]


def _budget(_part, program, folder, _is_long):
    """The rate and size of the slides, with the costs of this machine if they are there."""
    costs = os.path.join(os.path.dirname(folder), "cost", "mapi-cost.json")
    words = ["--budget", *([costs] if os.path.exists(costs) else [])]
    words += ["--rate", "100G", "--bytes", "64", "-o", os.path.join(folder, REPORT)]
    return [_nsreport(program, *words)]


def _calibrate(_part, program, folder, is_long):
    form = ["--thorough"] if is_long else []
    path = os.path.join(folder, "calibration.json")
    words = [tool(program, "nscalibrate"), "--paper", *form, "-q", "--json", "-o", path]
    return [Command(words, path)]


def capture(share):
    return os.environ.get("NETSLICE_CAPTURE") or os.path.join(share, "demo.pcap")


def _cost(_part, program, folder, is_long, share):
    path = os.path.join(folder, "mapi-cost.json")
    measure = [tool(program, "mapi-cost"), "-r", capture(share), "-q", "-w", path]
    measure += ["-o", os.path.join(folder, "mapi-cost.txt")]
    measure += [] if is_long else _SHORT_PACKETS
    return [Command(measure, path), _nsreport(program, path, "-o", os.path.join(folder, REPORT))]


def _send(_part, program, folder, is_long):
    """The sender ends with the recording; see sender.py."""
    trace, stats = os.path.join(folder, "send.nsl"), os.path.join(folder, "stats.json")
    words = [tool(program, "nsdump"), "kernel", "--preset", "tcp-send", "-w", trace]
    words += ["-d", "10" if is_long else "3", "--json", "-o", stats, "-q"]
    made = [Command(words, stats)]
    return [*made, _nsreport(program, trace, "-o", os.path.join(folder, REPORT))]


def experiment_folder(share):
    return os.environ.get(EXPERIMENT_FOLDER) or os.path.join(os.path.dirname(share), "experiments")


def masters(share, name):
    """Master files of an experiment's folder: those with trials."""
    found = []
    for path in sorted(glob.glob(os.path.join(experiment_folder(share), name, "*.cfg"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            if "\n[Test]" in "\n" + file.read():
                found.append(path)
    if not found:
        raise ReportError(
            EXIT_TOOL,
            f"{os.path.join(experiment_folder(share), name)}: no experiment (install the toolkit, "
            f"or set {EXPERIMENT_FOLDER})",
        )
    return found


def _experiment(part, program, folder, is_long, share):
    form = [] if is_long else _SHORT_TRIALS
    made = []
    for master in masters(share, part.name):
        place = os.path.join(folder, os.path.splitext(os.path.basename(master))[0])
        words = [tool(program, "nsconduct"), "run", master, "-o", place, *form, "--quiet"]
        environment = None if is_long else _SHORT_EXPERIMENT
        made.append(Command(words, os.path.join(place, part.results), environment))
    return made


def commands(part, program, share, folder, form):
    is_long = form == LONG
    if part.name in EXPERIMENTS:
        return _experiment(part, program, folder, is_long, share)
    if part.name == "cost":
        return _cost(part, program, folder, is_long, share)
    made = {"calibrate": _calibrate, "send": _send, "budget": _budget}.get(part.name, _option)
    return made(part, program, folder, is_long)
