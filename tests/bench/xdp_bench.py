#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What watching one end of a veth pair adds to the CPU time of its traffic: functions in the kernel
(xdp), in the engine (af_packet), and tcpdump; and whether any packet is uncounted."""

import ctypes
import json
import os
import statistics
import subprocess
import sys
import threading
import time

import live_bench
from live_bench import cpu_s, run, tell

ROUNDS = 5
PACKETS = 2000000
BYTES = 60  # 64 with a checksum
SENDER_CPU, RECEIVER_CPU = 0, 1
REPLACEMENTS = 1000
PORT_FLOWS = 500
MAPI_IN_ENGINE = 3  # of mapi_set_flow_option()
FUNCTIONS = (("BPF_FILTER", "udp"), ("PKT_COUNTER",))


def send(sender, packets=PACKETS):
    """The sender's core also receives; it has no time to spare, so its time is its CPU time."""
    sent, elapsed_s = run(
        "taskset", "-c", str(SENDER_CPU), sender, "near", str(packets), str(BYTES)
    ).split()
    return int(sent), float(elapsed_s)


class Watcher:
    """A flow whose last function counts."""

    def __init__(self, library, device, *functions, in_engine=False):
        os.sched_setaffinity(0, {RECEIVER_CPU})  # inherited by its packet thread
        self.library, self.device = library, device
        self.flow = library.Flow.on_device(device)
        library.Flow.library.mapi_set_flow_option(
            self.flow.fd, MAPI_IN_ENGINE, ctypes.c_ulonglong(in_engine)
        )
        self.ids = [self.flow.apply(*function) for function in functions]
        self.flow.connect()

    def count(self, expected):
        """Of the last function, once it comes to what is expected, or after 5 s."""
        end = time.monotonic() + 5
        while self.flow.word(self.ids[-1]) < expected and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.05)
        return self.flow.word(self.ids[-1])

    def drops(self):
        return self.library.stats_of(self.device).drop_kernel

    def receive(self, sender):
        before_s = time.process_time()
        sent, elapsed_s = send(sender)
        time.sleep(0.05)
        used_s = time.process_time() - before_s
        counted, drops = self.count(sent), self.drops()
        self.flow.close()
        return (elapsed_s + used_s) / sent * 1e9, sent - counted - drops, drops


def tcpdump(sender):
    os.sched_setaffinity(0, {RECEIVER_CPU})
    process = subprocess.Popen(
        ["tcpdump", "-Z", "root", "-n", "-i", "far", "-w", "/dev/null", "udp"],
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stderr.readline()  # it is listening
    sent, elapsed_s = send(sender)
    time.sleep(0.3)
    process.terminate()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return (elapsed_s + cpu_s(usage)) / sent * 1e9


def replace(library, sender):
    """Programs come and go under full traffic: packets that a flow that stays has not counted."""
    stays = Watcher(library, "xdp:far", *FUNCTIONS)
    sent, is_over = 0, threading.Event()

    def send_all():
        nonlocal sent
        while not is_over.is_set():
            sent += send(sender, 200000)[0]

    thread = threading.Thread(target=send_all)
    thread.start()
    for _ in range(REPLACEMENTS // 2):
        Watcher(library, "xdp:far", ("BPF_FILTER", "port 7"), ("PKT_COUNTER",)).flow.close()
    is_over.set()
    thread.join()
    uncounted = sent - stays.count(sent)
    stays.flow.close()
    return uncounted, sent


def top_rates(library, sender):
    """The rate of the sender, whose core also receives, by device: of the rounds without a loss."""
    rates = {"xdp:far,drop": [], "xdp:far": [], "far": []}
    for _ in range(ROUNDS):
        for device, its in rates.items():
            watcher = Watcher(library, device, *FUNCTIONS)
            sent, elapsed_s = send(sender)
            if watcher.count(sent) == sent and watcher.drops() == 0:
                its.append(sent / elapsed_s)
            watcher.flow.close()
    return {device: statistics.median(its) if its else 0 for device, its in rates.items()}


def port_rates(library, sender, flows):
    """The sender's rates with flows of a port each on the other end, which end with a process of
    their own: to close each of many takes minutes."""
    reading_end, writing_end = os.pipe()
    if os.fork() == 0:
        try:
            for port in range(1000, 1000 + flows):
                Watcher(library, "xdp:far", ("BPF_FILTER", f"udp port {port}"), ("PKT_COUNTER",))
            rates = [sent / elapsed_s for sent, elapsed_s in (send(sender) for _ in range(ROUNDS))]
            os.write(writing_end, json.dumps(rates).encode())
        finally:
            os._exit(0)
    os.close(writing_end)
    with os.fdopen(reading_end) as answers:
        rates = json.load(answers)
    os.wait()
    return rates


def port_flows(library, sender):
    """Rates with one flow, before and after those with PORT_FLOWS."""
    one = port_rates(library, sender, 1)
    many = port_rates(library, sender, PORT_FLOWS)
    return one + port_rates(library, sender, 1), many


def overload(library, sender):
    """The reader gets no CPU time: sent - read - dropped for lack of room."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    library.Flow.library.mapi_set_device_option(b"xdp:far", b"buffer_mb", b"1")
    functions = (("STR_SEARCH", "|00 00|", 0, 0), ("PKT_COUNTER",))  # need whole packets
    watcher = Watcher(library, "xdp:far", *functions, in_engine=True)
    os.sched_setaffinity(0, {SENDER_CPU})
    for task in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(task), {SENDER_CPU})
    sent, _ = send(sender)
    off = sent - watcher.count(sent - watcher.drops()) - watcher.drops()
    return off, watcher.drops()


def main():
    sender, source = sys.argv[1:3]
    sys.path.insert(0, os.path.join(source, "tests/flow"))
    import mapi_library

    live_bench.make_pair()
    for end in "near", "far":
        run("ethtool", "-K", end, "gro", "on")  # frames are taken as on a driver with XDP
    added = {"xdp": [], "af_packet": [], "tcpdump": []}
    off = 0
    for _ in range(ROUNDS):
        sent, elapsed_s = send(sender)
        unwatched_ns = elapsed_s / sent * 1e9
        for name, device in ("xdp", "xdp:far"), ("af_packet", "far"):
            all_ns, missing, _ = Watcher(mapi_library, device, *FUNCTIONS).receive(sender)
            added[name].append(all_ns - unwatched_ns)
            off += abs(missing)
        added["tcpdump"].append(tcpdump(sender) - unwatched_ns)
    raw = {f"{name}_added_ns": statistics.median(values) for name, values in added.items()}
    raw |= {"unwatched_ns": unwatched_ns, "rounds": ROUNDS, "packets": PACKETS}
    for other, bar in ("tcpdump", 0.15), ("af_packet", 0.3):
        ratios = [own / its for own, its in zip(added["xdp"], added[other])]
        tell(
            f"mapi_xdp_over_{other}_cpu_ratio",
            statistics.median(ratios),
            bar,
            "at most",
            "ratio",
            raw,
            "CPU time that watching adds to a packet, softirq and process together: BPF_FILTER and "
            f"PKT_COUNTER on xdp: relative to {other}",
        )
    tell("mapi_xdp_live_off_packets", off, 0, "equal", "packets", raw, "sent - counted - drops")
    uncounted, sent = replace(mapi_library, sender)
    tell(
        "mapi_xdp_replaced_uncounted_packets",
        uncounted,
        0,
        "equal",
        "packets",
        {"sent": sent, "replacements": REPLACEMENTS},
        "the program is replaced under full traffic",
    )
    rates = top_rates(mapi_library, sender)
    tell(
        "mapi_xdp_top_rate_ratio",
        rates["xdp:far,drop"] / rates["far"],
        2,
        "at least",
        "ratio",
        {f"{device}_packets_per_s": rate for device, rate in rates.items()},
        "highest rate without a loss that a core can send to itself, 64 bytes: xdp:far,drop "
        "relative to far",
    )
    one, many = (statistics.median(rates) for rates in port_flows(mapi_library, sender))
    tell(
        "mapi_xdp_500_port_flows_ratio",
        many / one,
        0.9,
        "at least",
        "ratio",
        {"one_packets_per_s": one, "many_packets_per_s": many, "rounds": ROUNDS},
        f"packets/s with {PORT_FLOWS} flows of a port each, relative to one such flow",
    )
    off, drops = overload(mapi_library, sender)
    tell(
        "mapi_xdp_equation_off_packets",
        off,
        0,
        "equal",
        "packets",
        {"drops": drops},
        f"deliberately overloaded: {drops} of {PACKETS} dropped; sent - counted - drops",
    )


if __name__ == "__main__":
    if not os.environ.get(live_bench.INSIDE):
        os.execvpe(
            "unshare",
            ["unshare", "-n", sys.executable, "-B", *sys.argv],
            os.environ | {live_bench.INSIDE: "1"},
        )
    main()
