#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A counter on one end of a veth pair while one core sends 64-byte packets (60 without their
checksum) into the other end at its top rate."""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

INSIDE = "NETSLICE_BENCH_INSIDE"
ROUNDS = 5
PACKETS = 2000000
BYTES = 60
SENDER_CPU, RECEIVER_CPU = 0, 1


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def make_pair():
    run("ip", "link", "add", "near", "type", "veth", "peer", "name", "far")
    for end in ("near", "far"):
        pathlib.Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1")
        run("ip", "link", "set", end, "up")
    while json.loads(run("ip", "-json", "link", "show", "near"))[0]["operstate"] != "UP":
        time.sleep(0.01)


def send(sender, packets=PACKETS):
    sent, elapsed_s = run(
        "chrt",
        "--other",
        "0",
        "taskset",
        "-c",
        str(SENDER_CPU),
        sender,
        "near",
        str(packets),
        str(BYTES),
    ).split()
    return int(sent), float(elapsed_s)


def cpu_s(usage):
    return usage.ru_utime + usage.ru_stime


class Counter:
    """A flow with PKT_COUNTER; its CPU time is that of this process."""

    def __init__(self, library, cpu):
        os.sched_setaffinity(0, {cpu})  # inherited by its packet thread
        self.flow = library.Flow.on_device("far")
        self.count = self.flow.apply("PKT_COUNTER")
        self.flow.connect()
        time.sleep(0.1)
        self.stats_of = library.stats_of

    def receive(self, sender, packets=PACKETS):
        before = cpu_s(resource.getrusage(resource.RUSAGE_SELF))
        sent, elapsed_s = send(sender, packets)
        deadline = time.monotonic() + 20
        stats = self.stats_of("far")
        while stats.ps_recv + stats.drop_kernel < sent and time.monotonic() < deadline:
            time.sleep(0.05)
            stats = self.stats_of("far")
        used_s = cpu_s(resource.getrusage(resource.RUSAGE_SELF)) - before
        counted = self.flow.word(self.count)
        self.flow.close()
        return {
            "sent": sent,
            "counted": counted,
            "drop_kernel": stats.drop_kernel,
            "drops": stats.ps_drop,
            "mpackets_per_s": sent / elapsed_s * 1e-6,
            "cpu_s": used_s,
        }


def tcpdump(sender):
    """CPU seconds; without `sender`, those of a run without packets."""
    os.sched_setaffinity(0, {RECEIVER_CPU})
    process = subprocess.Popen(
        ["tcpdump", "-Z", "root", "-n", "-i", "far", "-w", "/dev/null"],
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stderr.readline()  # it is listening
    if sender:
        send(sender)
    time.sleep(0.3)
    process.terminate()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    text = process.stderr.read()
    captured = int(next(line for line in text.splitlines() if "captured" in line).split()[0])
    return cpu_s(usage), captured


def tell(figure, value, bar, sense, unit, raw, note):
    print(
        json.dumps(
            {
                "figure": figure,
                "value": value,
                "bar": bar,
                "sense": sense,
                "unit": unit,
                "raw": raw,
                "note": note,
            }
        )
    )


def main():
    sender, source = sys.argv[1:3]
    sys.path.insert(0, os.path.join(source, "tests/flow"))
    import mapi_library

    make_pair()
    ours, ours_ns, theirs_ns = [], [], []
    for _ in range(ROUNDS):
        ours.append(Counter(mapi_library, RECEIVER_CPU).receive(sender))
        ours_ns.append(
            (ours[-1]["cpu_s"] - Counter(mapi_library, RECEIVER_CPU).receive(sender, 1)["cpu_s"])
            / ours[-1]["counted"]
            * 1e9
        )
        used_s, captured = tcpdump(sender)
        theirs_ns.append((used_s - tcpdump(None)[0]) / captured * 1e9)
    ratios = [own / other for own, other in zip(ours_ns, theirs_ns)]
    raw = {
        "mpackets_per_s": statistics.median(one["mpackets_per_s"] for one in ours),
        "mapi_cpu_ns": statistics.median(ours_ns),
        "tcpdump_cpu_ns": statistics.median(theirs_ns),
        "rounds": ROUNDS,
        "packets": PACKETS,
    }
    tell(
        "mapi_live_lost_packets",
        sum(one["sent"] - one["counted"] for one in ours),
        0,
        "equal",
        "packets",
        raw,
        "sender and receiver on separate cores",
    )
    tell(
        "mapi_live_over_tcpdump_cpu_ratio",
        statistics.median(ratios),
        0.25,
        "at most",
        "ratio",
        raw,
        "CPU time per packet of the receiving process, minus that of a run without packets: "
        "PKT_COUNTER relative to tcpdump -w /dev/null",
    )
    # The sender leaves the receiver no time on their shared core.
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    mapi_library.Flow.library.mapi_set_device_option(b"far", b"buffer_mb", b"2")
    crowded = [Counter(mapi_library, SENDER_CPU).receive(sender) for _ in range(3)]
    tell(
        "mapi_live_equation_off_packets",
        sum(abs(one["sent"] - one["counted"] - one["drops"]) for one in crowded),
        0,
        "equal",
        "packets",
        {"runs": crowded},
        f"deliberately overloaded: {sum(one['drop_kernel'] for one in crowded)} of {3 * PACKETS} "
        "dropped; sent - counted - drops by cause",
    )


if __name__ == "__main__":
    if not os.environ.get(INSIDE):
        os.execvpe(
            "unshare",
            ["unshare", "-n", sys.executable, "-B", *sys.argv],
            os.environ | {INSIDE: "1"},
        )
    main()
