# SPDX-License-Identifier: MIT
# nsreport --ktime: runs on a veth pair -> document.
import os
import random

from ..errors import EXIT_TOOL, ReportError
from ..traffic import bench, cpu_time, namespace, programs
from ..traffic.progress import Progress
from . import plan, runner, stored

_SETTING = "/proc/sys/kernel/bpf_stats_enabled"


def announced(options):
    """Describes what will be done to this machine; printed before it is done."""
    minutes = options.rounds * options.runs * len(plan.programs()) * plan.RUN_S / 60
    minutes += options.rounds * plan.before_runs(options.runs) * len(plan.BEFORE) * 0.1 / 60
    return (
        f"measuring the time of an XDP program by two clocks, {options.rounds} executions of "
        f"{options.runs} runs, about {max(minutes, 0.1):.1f} minutes. As root this makes a veth "
        "pair in a network namespace of its own, which disappears with the program, and turns the "
        "kernel's run statistics of BPF programs on until it ends. Ctrl-C ends it"
    )


def new(options):
    return {
        "schema": plan.SCHEMA,
        "rounds": options.rounds,
        "runs": options.runs,
        "programs": {p: {"run_ns": [], "clock_ns": []} for p in plan.programs()},
        "warm": {p: {"run_ns": [], "clock_ns": []} for p in plan.programs()},
        "before": {
            before: {p: {"run_ns": [], "clock_ns": []} for p in plan.BEFORE_PROGRAMS}
            for before in plan.BEFORE
        },
        "pauses": [],
        "timeouts": {},
        "others": {},
        "kernel": " ".join(os.uname()[i] for i in (0, 2, 4)),
        "cpu": bench.cpu_words(),
        "load": [os.getloadavg()[0]],
        "setting": [setting()],
    }


def setting(path=_SETTING):
    """kernel.bpf_stats_enabled, which is neither needed nor changed; None without it."""
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def measured(program, options, tell):
    found = programs.find_all(program, (*programs.PAIR, "ktime-runner"))
    runner.check(found)
    document = new(options)
    document["cpu_number"] = cpu_time.pinned_cpus()[1]
    with (
        namespace.pair(found),
        runner.opened(found, document["cpu_number"], plan.TIMEOUT_MS) as one,
    ):
        document.update(one.about)
        Experiment(one, document, Progress(tell, plan.steps(options))).execute()
    document["load"].append(os.getloadavg()[0])
    document["setting"].append(setting())
    if stored.damaged(document):
        raise ReportError(
            EXIT_TOOL, "too few packets reached the XDP programs (measure again, with more --runs)"
        )
    return document


class Experiment:
    """All programs take turns, in an order that changes, so that whatever drifts has the same part
    in each."""

    def __init__(self, one, document, progress):
        self._runner, self._document, self._progress = one, document, progress
        self._random = random.Random(1)
        self._runs = 0
        self._silent = 0  # runs from the begin without any packet; None once one has arrived

    def execute(self):
        for execution in range(1, self._document["rounds"] + 1):
            for program in self._document["programs"].values():
                program["run_ns"].append([])
                program["clock_ns"].append([])
            for turn in range(self._document["runs"]):
                self._progress.step(f"execution {execution}, run {turn + 1}")
                self._all_programs(plan.PACKETS if turn % plan.WARM_EVERY == 0 else 1)
            for turn in range(plan.before_runs(self._document["runs"])):
                self._all_before(execution, turn)

    def _all_programs(self, packets):
        names = plan.programs()
        self._random.shuffle(names)
        for name in names:
            answer = self._arrived(name, packets)
            if answer:
                self._keep(self._document["programs"][name], answer, lambda v: v[0])
            if answer and packets > 1:
                self._keep_warm(self._document["warm"][name], answer)
            self._runs += 1
            if self._runs % plan.PAUSES_EVERY == 0:
                seen = self._runner.pauses()
                keys = ("watched_ns", "lost_ns", "pauses", "longest_ns")
                self._document["pauses"].append([seen[key] for key in keys])

    def _all_before(self, execution, turn):
        for before in plan.BEFORE:
            self._progress.step(f"execution {execution}, before a packet: {before}, {turn + 1}")
            is_first = before == "test_run"
            for name in plan.BEFORE_PROGRAMS:
                answer = self._arrived(name, 1 if is_first else plan.BEFORE_PACKETS, before)
                place = self._document["before"][before][name]
                for key in ("run_ns", "clock_ns") if answer else ():
                    place[key] += answer[key] if is_first else answer[key][1:]

    @staticmethod
    def _keep(place, answer, of):
        place["run_ns"][-1].append(of(answer["run_ns"]))
        if answer["clock_ns"]:
            place["clock_ns"][-1].append(of(answer["clock_ns"]))

    @staticmethod
    def _keep_warm(place, answer):
        place["run_ns"].append(answer["run_ns"][1:])
        if answer["clock_ns"]:
            place["clock_ns"].append(answer["clock_ns"][1:])

    def _arrived(self, name, packets, before="nothing"):
        """The answer; None, and counted, if a packet did not arrive or others ran the program."""
        answer = self._runner.run(name, packets, before)
        self._document.setdefault("mode", answer["mode"])
        is_whole = len(answer["run_ns"]) == packets
        if not is_whole:
            self._count("timeouts", name)
        if answer["others"]:
            self._count("others", name)
        self._give_up_if_silent(bool(answer["run_ns"]))
        return answer if is_whole and not answer["others"] else None

    def _give_up_if_silent(self, is_heard):
        if is_heard:
            self._silent = None
        elif self._silent is not None:
            self._silent += 1
            if self._silent >= plan.GIVE_UP:
                raise ReportError(
                    EXIT_TOOL,
                    f"no ICMP packet reached the XDP program: {self._silent} packets, each within "
                    f"{plan.TIMEOUT_MS} ms (check that nothing else filters on veth devices)",
                )

    def _count(self, key, name):
        counts = self._document[key]
        counts[name] = counts.get(name, 0) + 1
