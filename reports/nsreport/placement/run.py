# SPDX-License-Identifier: MIT
# nsreport --placement: measures on a veth pair -> document.
import os
import tempfile
import time

from ..traffic import bench, capture, stored
from ..traffic.bench import NONE
from . import plan


def announced(options):
    """Describes what will be done to this machine; printed before it is done."""
    minutes = plan.steps(options.rounds) * (options.seconds + 0.4) / 60
    return (
        f"measuring times and loss of captured traffic in {len(plan.SYSTEMS)} systems, "
        f"{options.rounds} rounds, about {minutes:.0f} minutes, and up to 5 more "
        "for flows that connect. As root this makes a veth pair in a network namespace of its own, "
        "which disappears with the program. Ctrl-C ends it"
    )


def measured(program, options, tell):
    document = stored.new(plan.SCHEMA, options)
    with (
        tempfile.TemporaryDirectory() as folder,
        bench.begun(program, document, tell, plan.steps(options.rounds)) as one,
    ):
        systems = one.available(plan.openings())
        one.set_steps(plan.steps(options.rounds, systems))
        mixed = os.path.join(folder, "mixed.pcap")
        capture.write(mixed)
        packets = {plan.BYTES: plan.BYTES, plan.MIXED: mixed}
        for turn in range(1, options.rounds + 1):
            _unwatched(one, packets, turn)
            for part in plan.PARTS:
                _part(one, packets, part, systems, turn)
        longest_s = plan.QUICK_LONGEST_S if options.quick else plan.LONGEST_S
        for part in plan.PARTS:
            if grows(part) and plan.GROWS in systems:
                _growing(one, packets, part, options.rounds, longest_s)
    return document


def grows(part):
    return len(plan.PARTS[part][3]) > 1


def _unwatched(one, packets, turn):
    with one.reading(NONE, (NONE,)) as reader:
        for size, rates in plan.sweeps():
            for rate in rates:
                about = {"part": "unwatched", "packets": size, "round": turn}
                one.measure(reader, packets[size], rate, **about)


def _part(one, packets, part, systems, turn):
    """Systems in turns for each number, so that disturbances of the machine affect all."""
    work, size, rates, numbers = plan.PARTS[part]
    for number in numbers:
        for system in systems:
            if system == plan.GROWS and grows(part):
                continue
            about = _about(part, number, turn)
            with one.reading(system, plan.words_of(system, work, number)) as reader:
                for rate in rates:
                    one.measure(reader, packets[size], rate, plan.PATIENCE_S, **about)


def _about(part, number, turn):
    work, size, _, _ = plan.PARTS[part]
    return {
        "part": part,
        "packets": size,
        "number": number,
        "round": turn,
        "is_filtered": work == "filters" and number == 1,
    }


def _growing(one, packets, part, rounds, longest_s=plan.LONGEST_S):
    """The system whose flows take long to connect: one reader for all numbers."""
    work, size, rates, numbers = plan.PARTS[part]
    with one.reading(plan.GROWS, plan.words_of(plan.GROWS, work, numbers[-1], True)) as reader:
        took_s = 0
        for number in numbers:
            expected_s = plan.FURTHER_TAKES * took_s
            if expected_s > longest_s:
                one.skip(rounds * len(rates))
                one.document.setdefault("too_long", []).append([part, number, round(expected_s)])
                took_s = expected_s
                continue
            took_s = _connected(reader, number)
            reader.measure_idle()
            for turn in range(1, rounds + 1):
                for rate in rates:
                    about = _about(part, number, turn)
                    one.measure(reader, packets[size], rate, plan.PATIENCE_S, **about)


def _connected(reader, number, clock=time.monotonic):
    """Returns how many seconds it took."""
    begin_s = clock()
    reader.connect(number)
    return clock() - begin_s
