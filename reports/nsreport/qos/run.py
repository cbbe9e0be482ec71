# SPDX-License-Identifier: MIT
# nsreport --qos: source, node and sink on this machine -> document.
import contextlib
import os
import tempfile
import time

from ..text import plural
from ..traffic import bench, checked, cpu_time, namespace, programs, sender
from ..traffic.progress import Progress
from . import monitor, node, packets, plan

_NEEDED = (*programs.PAIR, "mapi-gen", "mapi-impair", "mapi-qos")
_QUIET_S, _LOOK_S, _MOST_S = 0.3, 0.05, 10


def announced(options):
    """Describes what will be done to this machine; printed before it is done."""
    return (
        f"measuring delay and loss of {plan.BIT_RATE / 1e6:g} Mbit/s through a node that impairs "
        f"them, {len(plan.STEPS)} steps of {options.seconds:g} s, "
        f"about {plural(round(plan.minutes(options)), 'minute')}. As root this makes two veth "
        "pairs in a network namespace of its own, which disappears with the program. Ctrl-C ends it"
    )


def measured(program, options, tell):
    found = programs.find_all(program, _NEEDED)
    document = checked.new(plan, options)
    progress = Progress(tell, plan.steps(options.rounds))
    with tempfile.TemporaryDirectory() as folder, namespace.pairs(found, *plan.ENDS):
        document["kernel"] = " ".join(os.uname()[i] for i in (0, 2, 4))
        document["cpu"] = bench.cpu_words()
        capture = os.path.join(folder, "sent.pcap")
        count = int(plan.PACKETS_PER_S * options.seconds) + 1
        tell(f"making {count} packets")
        packets.write(capture, plan.WIRE_BYTES, count)
        one = _Experiment(found, folder, capture, options.seconds)
        for turn in range(1, options.rounds + 1):
            for number, step in enumerate(plan.STEPS):
                progress.step(f"{step.part} {step.set:g}, round {turn}")
                seed = turn * len(plan.STEPS) + number
                row = {"part": step.part, "set": step.set, "round": turn, "seed": seed}
                document["points"].append({**row, **one.measure(step, seed)})
        document["method"] = one.sender.method
    return document


class _Experiment:
    def __init__(self, found, folder, capture, seconds):
        self._programs, self._folder = found, folder
        self._capture, self._seconds = capture, seconds
        sending_cpu, self._node_cpu = cpu_time.pinned_cpus()
        self.sender = sender.Sender(found, sending_cpu)
        # XDP live frames take a page pool for each packet at such a rate, which the kernel frees
        # late on a busy machine: it has numbers for 65,533
        self.sender.method = "af_packet"

    def measure(self, step, seed):
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            store = os.path.join(folder, "qos.db")
            with contextlib.ExitStack() as stack:
                ends = [one for pair in plan.ENDS for one in pair][1:3]
                impairing = stack.enter_context(
                    node.started(self._programs, ends, step.impairment(), seed, self._node_cpu)
                )
                collectors = [
                    stack.enter_context(
                        monitor.collecting(self._programs, interface, store, plan.COLLECTED)
                    )
                    for interface in (plan.FIRST, plan.SECOND)
                ]
                sent = self.sender.send(
                    self._capture, bit_rate=plan.BIT_RATE, seconds=self._seconds
                )
                _wait_until_quiet(plan.SECOND)
                for collector in collectors:
                    collector.end()
                done = impairing.end()
            reports = [
                monitor.report(self._programs, store, plan.FIRST, plan.SECOND, rate)
                for rate in step.rates
            ]
        return _row(sent, done, reports)


def _row(sent, done, reports):
    points = reports[-1]["points"]
    return {
        "generated": sent["packets"],
        "seconds": sent["seconds"],
        "sender_refused": sent["refused"],
        "sender_behind": sent["behind"],
        "sender_dropped": sent["dropped"],
        "first_lost": points[plan.FIRST]["lost"],
        "second_lost": points[plan.SECOND]["lost"],
        "node": done,
        "reports": reports,
    }


def _received(interface):
    with open("/proc/thread-self/net/dev", encoding="ascii") as file:
        lines = dict(line.split(":", 1) for line in file if ":" in line)
    by_name = {name.strip(): fields.split() for name, fields in lines.items()}
    return int(by_name[interface][1])


def _wait_until_quiet(interface, clock=time.monotonic, sleep=time.sleep, received=None):
    """No packet arrives any more: the node has none left."""
    received = received or _received
    begin_s = quiet_s = clock()
    count = received(interface)
    while clock() - quiet_s < _QUIET_S and clock() - begin_s < _MOST_S:
        sleep(_LOOK_S)
        later = received(interface)
        if later != count:
            count, quiet_s = later, clock()
