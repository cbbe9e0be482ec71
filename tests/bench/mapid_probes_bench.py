#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of probes in mapid: packets per second of its packet thread's CPU time, relative to a
mapid without probe code.

A mapid that is limited to one processor has no second thread that reads captures ahead, whose share
of the work would vary with other load; only the probes' drain gets a processor of its own.
"""

import itertools
import json
import os
import pathlib
import signal
import statistics
import sys
import time

from big_capture import big_capture, load

PROCESSES, ROUNDS = 8, 14  # new processes, and rounds with each
WARM_S, TURN_S = 0.02, 0.2
EXPRESSION = "tcp port 80"
SKIP = 77


def skip(why):
    print(why, file=sys.stderr)
    sys.exit(SKIP)


def thread_times_ns(process):
    """{thread: CPU time}"""
    folder = pathlib.Path(f"/proc/{process.pid}/task")
    return {
        task: int((folder / task / "schedstat").read_text().split()[0])
        for task in os.listdir(folder)
    }


class Measured:
    """A mapid with one client that counts the packets of an endless capture; it is stopped except
    during its turn."""

    def __init__(self, mapid, program, capture, **environment):
        class Daemon(mapid.Daemon):
            @staticmethod
            def program():
                return str(program)

        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})
        self.daemon = Daemon(
            f"[driver]\ndevice=bench\npath={capture}\nrepeat=forever\n", **environment
        )
        os.sched_setaffinity(0, allowed)
        self.client = self.daemon.client()
        self.client.do(
            "flow = Flow.on_device('bench'); counter = flow.apply('PKT_COUNTER'); "
            f"flow.apply('BPF_FILTER', '{EXPRESSION}')"
        )
        self.client.do("flow.apply('PKT_COUNTER'); flow.connect()")
        for task in pathlib.Path(f"/proc/{self.daemon.process.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == "nsp-drain":
                os.sched_setaffinity(int(task.name), {max(allowed)})
        self.daemon.process.send_signal(signal.SIGSTOP)
        self.packets_per_s = []

    def now(self):
        return self.client.get("flow.word(counter)"), thread_times_ns(self.daemon.process)

    def run(self):
        self.daemon.process.send_signal(signal.SIGCONT)
        time.sleep(WARM_S)
        packets, times_ns = self.now()
        time.sleep(TURN_S)
        after, after_ns = self.now()
        self.daemon.process.send_signal(signal.SIGSTOP)
        packet_thread_ns = max(
            after_ns[task] - times_ns[task] for task in after_ns.keys() & times_ns.keys()
        )
        self.packets_per_s.append((after - packets) * 1e9 / packet_thread_ns)

    def close(self):
        self.daemon.process.send_signal(signal.SIGCONT)
        self.daemon.close()


def in_turn(starts, rounds=ROUNDS):
    """Measures mapids of each of `starts` (functions that start one), one after the other, `rounds`
    times; then new ones.  Of two equal processes one may be 2 % faster throughout, by where its
    memory lies.

    Returns ([start][process][round] packets per second, [start][process] result of its `close()`).
    """
    rates, ends = [[] for _ in starts], [[] for _ in starts]
    for process in range(PROCESSES):
        all_measured = [start() for start in starts[:: 1 if process % 2 else -1]]
        all_measured = all_measured[:: 1 if process % 2 else -1]
        for number in range(rounds):
            for one in all_measured if number % 2 else reversed(all_measured):
                one.run()
        for measured, its_rates, its_ends in zip(all_measured, rates, ends):
            its_rates.append(measured.packets_per_s)
            its_ends.append(measured.close())
    return rates, ends


def figure(name, bar, measured, other, note, **raw):
    """`measured` relative to `other`, each as `in_turn` returns them; without a bar it is None.
    `raw` is listed with the rates."""
    ratios = [[a / b for a, b in zip(*pair)] for pair in zip(measured, other)]
    every = sorted(itertools.chain(*ratios))
    print(
        json.dumps(
            {
                "figure": name,
                "value": statistics.median(every),
                "bar": bar,
                "sense": "at least",
                "unit": "ratio of packets/s",
                "raw": {
                    "packets_per_s": statistics.median(itertools.chain(*measured)),
                    "other_packets_per_s": statistics.median(itertools.chain(*other)),
                    "process_medians": [statistics.median(one) for one in ratios],
                    "ratios": every,
                    **raw,
                },
                "note": (
                    f"{note}; PKT_COUNTER and BPF_FILTER of one client; CPU time of the packet "
                    f"thread, median of {len(every)} rounds in turn, {len(ratios)} processes each"
                ),
            }
        )
    )


def main():
    mapid_path, source, build = sys.argv[1:4]
    bare_path = (
        pathlib.Path(os.environ.get("NETSLICE_BARE_BUILD", pathlib.Path(source) / "build/bare"))
        / "bin/mapid"
    )
    if not bare_path.exists():
        skip(
            "requires a build without probe code: cmake --preset bare && cmake --build --preset "
            "bare --target mapid"
        )
    if not pathlib.Path("/proc/self/schedstat").exists():
        skip("this kernel does not report the CPU time of threads (CONFIG_SCHED_INFO)")
    os.environ["NETSLICE_BUILD"] = build
    os.environ["NETSLICE_SOURCE"] = source
    sys.path.insert(0, os.path.join(source, "tests/flow"))
    import mapid  # pylint: disable=import-outside-toplevel

    capture = os.path.abspath(big_capture(source, build))
    load(capture)
    (bare, off, on), _ = in_turn(
        [
            lambda: Measured(mapid, bare_path, capture),
            lambda: Measured(mapid, mapid_path, capture),
            lambda: Measured(mapid, mapid_path, capture, NETSLICE="output=/dev/null"),
        ]
    )
    figure("mapid_probes_off_ratio", 0.99, off, bare, "probes compiled in, not recorded")
    figure("mapid_probes_on_ratio", 0.97, on, bare, "each batch recorded")


if __name__ == "__main__":
    main()
