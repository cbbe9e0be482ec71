#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packets that user space needs, from one end of a veth pair to a process: AF_XDP, the rings of the
driver xdp and the kernel's ring buffer; packets/s, CPU time of a packet, and losses."""

import json
import os
import pathlib
import statistics
import subprocess
import sys

import live_bench
from live_bench import cpu_s, run, tell

ROUNDS = 7
PACKETS = 2000000
SIZES = (60, 730, 1500)  # without their checksum
CHECKSUM_BYTES = 4
SENDER_CPU, READER_CPU = 0, 1
NONE, OWN = "none", "own"
COMPARED = {
    "kernel": "the kernel's ring buffer",
    "af_xdp": "AF_XDP in copy mode, the packet's time in front of it",
    "af_xdp_without_time": "AF_XDP in copy mode without the packet's time",
}
WAYS = (NONE, OWN, *COMPARED)
# Other programs cannot make it lose packets.
ALONE = ("chrt", "--fifo", "1", "taskset", "-c", str(READER_CPU))
# The sender leaves the reader no time on their shared core.
CROWDED = ("chrt", "--idle", "0", "taskset", "-c", str(SENDER_CPU))
CAUSES = ("ring_full", "rx_dropped", "rx_ring_full", "rx_invalid_descs")
# What the sender's process does is generating, sending and, in softirq, all that the kernel does
# with a packet; ksoftirqd does the rest of the latter.
SOURCES = (
    "sender and softirq: rusage of mapi-gen and schedstat of ksoftirqd, minus those of a program "
    "that only drops; reader: CLOCK_THREAD_CPUTIME_ID"
)


def ksoftirqd():
    for comm in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            if comm.read_text().strip() == f"ksoftirqd/{SENDER_CPU}":
                return comm.parent / "schedstat"
        except OSError:
            pass  # that process has ended
    sys.exit(f"no ksoftirqd/{SENDER_CPU} in /proc")


class Bench:
    def __init__(self, generator, reader):
        self.generator, self.reader = generator, reader
        self.ksoftirqd = ksoftirqd()

    def ksoftirqd_ns(self):
        return int(self.ksoftirqd.read_text().split()[0])

    def send(self, size):
        """What has been sent, in how many seconds, at the cost of how much CPU time."""
        command = [self.generator, "--quiet", "--json", "--method", "xdp"]
        command += ["--size", str(size + CHECKSUM_BYTES), "--count", str(PACKETS)]
        before_ns = self.ksoftirqd_ns()
        process = subprocess.Popen(
            [*command, "--cpus", str(SENDER_CPU), "near"], stdout=subprocess.PIPE, text=True
        )
        sent = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"mapi-gen ended with status {process.returncode}")
        used_ns = cpu_s(usage) * 1e9 + self.ksoftirqd_ns() - before_ns
        return sent["packets"], sent["seconds"], used_ns

    def measure(self, way, size, *prefix):
        """One run of the sender, read in this way."""
        process = subprocess.Popen(
            [*prefix, self.reader, "far", way, str(size)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if process.stdout.readline() != "ready\n":
            sys.exit(f"way_reader {way} ended with status {process.wait()}")
        sent, elapsed_s, sender_ns = self.send(size)
        got = json.loads(process.communicate()[0])
        if not got["is_native"]:
            sys.exit("the program is not attached in native mode")
        arrived = sent if way == NONE else got["packets"]
        drops = got["drops"]
        dropped = sum(drops.get(cause, 0) for cause in CAUSES)
        return {
            "packets_per_s": arrived / elapsed_s,
            "sender_ns": sender_ns / sent,
            "reader_ns": got["cpu_ns"] / sent,
            "sent": sent,
            "arrived": arrived,
            "off": sent - arrived - dropped,
            "different": got["different"],
            "sum": got["first_sum"],
            "drops": drops,
        }

    def rounds(self, size):
        """By way: the runs.  In each round the ways have another order."""
        runs = {way: [] for way in WAYS}
        for number in range(ROUNDS):
            turn = number % len(WAYS)
            for way in WAYS[turn:] + WAYS[:turn]:
                runs[way].append(self.measure(way, size, *ALONE))
        return runs


def used_ns(one):
    return (one["sender_ns"] + one["reader_ns"]) * one["sent"]


def added_ns(runs, way):
    """CPU time for each packet that arrives, in addition to dropping all of them, by round."""
    return [
        (used_ns(one) - used_ns(none)) / one["arrived"] for one, none in zip(runs[way], runs[NONE])
    ]


def median_of(runs, key):
    return statistics.median(one[key] for one in runs)


def row(runs, way):
    drops = sum(sum(one["drops"].get(cause, 0) for cause in CAUSES) for one in runs[way])
    return {
        "packets_per_s": median_of(runs[way], "packets_per_s"),
        "sender_ns": median_of(runs[way], "sender_ns"),
        "reader_ns": median_of(runs[way], "reader_ns"),
        "added_ns": statistics.median(added_ns(runs, way)),
        "dropped_share": drops / sum(one["sent"] for one in runs[way]),
        "drops": runs[way][-1]["drops"],
    }


def table(rows):
    yield f"{'way':<20} {'Mpackets/s':>10} {'sender ns':>10} {'reader ns':>10} {'added ns':>9} lost"
    for way, its in rows.items():
        yield (
            f"{way:<20} {its['packets_per_s'] / 1e6:>10.2f} {its['sender_ns']:>10.1f} "
            f"{its['reader_ns']:>10.1f} {its['added_ns']:>9.1f} {its['dropped_share']:.2%}"
        )


def ratios(runs, way):
    """Relative to the driver's rings, by round: packets/s, and CPU time that a packet adds."""
    own = runs[OWN]
    rates = [one["packets_per_s"] / two["packets_per_s"] for one, two in zip(runs[way], own)]
    costs = [one / two for one, two in zip(added_ns(runs, way), added_ns(runs, OWN))]
    return {"rate": statistics.median(rates), "cpu": statistics.median(costs)}


def tell_size(size, runs, zero_copy):
    rows = {way: row(runs, way) for way in WAYS}
    raw = {"rounds": ROUNDS, "packets": PACKETS, "zero_copy": zero_copy, "ways": rows}
    notes = {
        "rate": "packets/s from an interface that is only watched to a process",
        "cpu": f"CPU time that a packet adds there, softirq and process ({SOURCES})",
    }
    for way, name in COMPARED.items():
        for kind, value in ratios(runs, way).items():
            figure = {
                "figure": f"mapi_{way}_{size}_bytes_{kind}_ratio",
                "value": value,
                "unit": "ratio",
                "raw": raw,
                "note": f"{notes[kind]}: {name}, relative to the driver's ring",
                "lines": list(table(rows)) if way == "kernel" and kind == "rate" else [],
            }
            print(json.dumps(figure), flush=True)


def main():
    bench = Bench(*sys.argv[1:3])
    live_bench.make_pair()
    zero_copy = json.loads(run(bench.reader, "far", "zero_copy", "0"))
    off = different = 0
    for size in SIZES:
        runs = bench.rounds(size)
        tell_size(size, runs, zero_copy)
        arrived = [one for way in WAYS if way != NONE for one in runs[way]]
        off += sum(abs(one["off"]) for one in arrived)
        different += sum(one["different"] + (one["sum"] != arrived[0]["sum"]) for one in arrived)
    crowded = {way: bench.measure(way, SIZES[-1], *CROWDED) for way in WAYS if way != NONE}
    off += sum(abs(one["off"]) for one in crowded.values())
    different += sum(one["different"] for one in crowded.values())
    tell(
        "mapi_ways_equation_off_packets",
        off + different,
        0,
        "equal",
        "packets",
        {"different": different, "overloaded": crowded},
        "in all ways, also deliberately overloaded: sent - read - drops by cause, and packets that "
        "differ from what was sent",
    )


if __name__ == "__main__":
    if not os.environ.get(live_bench.INSIDE):
        os.execvpe(
            "unshare",
            ["unshare", "-n", sys.executable, "-B", *sys.argv],
            os.environ | {live_bench.INSIDE: "1"},
        )
    main()
