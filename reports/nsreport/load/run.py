# SPDX-License-Identifier: MIT
# nsreport --load: measures on a veth pair -> document.
import os
import tempfile

from ..traffic import bench, capture, figures, stored
from ..traffic.bench import NONE
from . import plan
from .published import COST
from .search import searched


def announced(options):
    """Describes what will be done to this machine; printed before it is done."""
    minutes = plan.steps(options.rounds) * (options.seconds + 0.3) / 60
    return (
        f"measuring loss and times of captured traffic, {options.rounds} rounds, about "
        f"{minutes:.0f} minutes. As root this makes a veth pair in a network namespace of its own, "
        "which disappears with the program, and turns the kernel's BPF run statistics on for a "
        "part of the time. Ctrl-C ends it"
    )


def measured(program, options, tell):
    document = stored.new(plan.SCHEMA, options)
    with (
        tempfile.TemporaryDirectory() as folder,
        bench.begun(program, document, tell, plan.steps(options.rounds)) as one,
    ):
        systems = one.available(plan.SYSTEMS)
        one.set_steps(plan.steps(options.rounds, systems))
        packets = _packets(folder)
        for turn in range(1, options.rounds + 1):
            for size in plan.SIZES:
                for system in (NONE, *systems):
                    _sweep(one, system, size, turn)
            _costs(one, packets, plan.cost_systems(systems), turn)
    return document


def _packets(folder):
    """Captures of one packet for Table 2, by size."""
    made = {}
    for size in plan.cost_sizes():
        made[size] = os.path.join(folder, f"{size}.pcap")
        capture.write(made[size], [capture.packet(size, 0, plan.SEARCHED.encode())])
    return made


def _sweep(one, system, size, turn):
    with one.reading(system, plan.words_of(system)) as reader:
        losses = [
            _loss(one.measure(reader, size, rate, part="sweep", size=size, round=turn))
            for rate in plan.RATES
        ]
        if system != NONE:
            _search(one, reader, size, turn, losses)


def _loss(row):
    return figures.rate(row), figures.lost(row)


def _search(one, reader, size, turn, losses):
    probes = 0

    def probe(rate):
        nonlocal probes
        probes += 1
        return _loss(one.measure(reader, size, rate, part="search", size=size, round=turn))

    free, lossy, is_sender_limit = searched(losses, plan.STEPS, plan.PROBES, probe)
    one.skip(plan.PROBES - probes)
    found = {"system": one.system, "size": size, "round": turn, "rate": free, "lossy": lossy}
    found["is_sender_limit"] = is_sender_limit
    one.document.setdefault("loss_free", []).append(found)


def _costs(one, packets, systems, turn):
    """Table 2: each function on its own, at the sender's top rate."""
    with one.reading(NONE, (NONE,)) as reader:
        for size in plan.cost_sizes():
            about = {"part": "cost", "size": size, "round": turn}
            one.measure(reader, packets[size], plan.COST_RATE, **about)
    for name in COST:
        for system in systems:
            _cost(one, packets, "cost", name, system, turn)
    if "xdp" in systems:
        for name in COST:  # apart, because the statistics take time themselves
            _cost(one, packets, "program", name, "xdp", turn)


def _cost(one, packets, part, name, system, turn):
    size = COST[name][0]
    about = {"part": part, "function": name, "size": size, "round": turn}
    words = ("mapi", plan.COST_SYSTEMS[system], plan.flow_of(name))
    with one.reading(system, words) as reader:
        if part == "program":
            one.document["no_run_statistics"] = reader.turn_statistics_on()
        row = one.measure(reader, packets[size], plan.COST_RATE, **about)
        row["matched"] = reader.counts("matched")["matched"]
