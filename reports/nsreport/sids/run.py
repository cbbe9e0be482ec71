# SPDX-License-Identifier: MIT
# nsreport --sids: rules on a veth pair -> document.
import os
import tempfile
import time

from ..text import plural
from ..traffic import bench, capture, checked, cpu_time, namespace, programs, sender
from ..traffic.progress import Progress
from . import plan, watcher

_NEEDED = (*programs.PAIR, "mapi-gen", "sids")
_PATIENCE_S = 0.3  # for packets that wait in a buffer; those that it gets later are lost or late


def announced(options):
    """Describes what will be done to this machine; printed before it is done."""
    return (
        f"measuring load and loss of sids with up to {max(plan.numbers(options))} rules, "
        f"{plural(options.rounds, 'round')}, about "
        f"{plural(round(plan.minutes(options)), 'minute')}. As root this makes a veth pair in a "
        "network namespace of its own, which disappears with the program. Ctrl-C ends it"
    )


def measured(program, options, tell):
    found = programs.find_all(program, _NEEDED)
    document = checked.new(plan, options)
    document |= {"rate": plan.PACKETS_PER_S, "bytes": plan.WIRE_BYTES}
    progress = Progress(tell, plan.steps(options))
    with tempfile.TemporaryDirectory() as folder, namespace.pair(found):
        document["kernel"] = " ".join(os.uname()[i] for i in (0, 2, 4))
        document["cpu"] = bench.cpu_words()
        traffic = os.path.join(folder, "sent.pcap")
        capture.write(traffic, [plan.packet()])
        one = _Experiment(found, traffic, options.seconds)
        for turn, number, figure, variant in _order(options):
            progress.step(f"{figure}, {number} rules, {variant}, round {turn}")
            about = {"figure": figure, "variant": variant, "number": number, "round": turn}
            document["points"].append({**about, **one.measure(figure, variant, number)})
        document["method"] = one.sender.method
    return document


def _order(options):
    """Variants in turns for each number, so that disturbances of the machine affect both."""
    for turn in range(1, options.rounds + 1):
        for number in plan.numbers(options):
            for figure in plan.FIGURES:
                for variant in plan.VARIANTS:
                    yield turn, number, figure, variant


class _Experiment:
    def __init__(self, found, traffic, seconds):
        self._programs, self._traffic, self._seconds = found, traffic, seconds
        sending_cpu, self._reading_cpu = cpu_time.pinned_cpus()
        self.sender = sender.Sender(found, sending_cpu)

    def measure(self, figure, variant, number):
        rules, are_together = plan.rules(figure, number), plan.VARIANTS[variant]
        begin_s = time.monotonic()
        with watcher.started(
            self._programs, rules, namespace.RECEIVING, are_together, self._reading_cpu
        ) as sids:
            idle_share = sids.wait_until_ready()
            start_s = time.monotonic() - begin_s
            before = (sids.cpu_s(), sids.waited_s(), cpu_time.steal_ns() / watcher.NS_PER_S)
            begin_s = time.monotonic()
            sent = self.sender.send(self._traffic, rate=plan.PACKETS_PER_S, seconds=self._seconds)
            wall_s = time.monotonic() - begin_s
            after = (sids.cpu_s(), sids.waited_s(), cpu_time.steal_ns() / watcher.NS_PER_S)
            time.sleep(_PATIENCE_S)
            received = sids.end()
        cpu_s, waited_s, steal_s = (end - begin for begin, end in zip(before, after))
        return {
            "sent": sent["packets"],
            "received": received,
            "seconds": sent["seconds"],
            "behind": sent["behind"],
            "refused": sent["refused"],
            "sender_dropped": sent["dropped"],
            "cpu_s": cpu_s,
            "wall_s": wall_s,
            "idle_share": idle_share,
            "waited_s": waited_s,
            "steal_s": steal_s,
            "start_s": start_s,
        }
