# SPDX-License-Identifier: MIT
# nsreport --load: measures on a veth pair -> document.
from ..traffic import bench, cpu_time, figures, stored
from ..traffic.bench import NONE
from . import plan
from .published import COST
from .search import searched


def announced(options):
    """Describes what will be done to this machine; printed before it is done."""
    minutes = plan.steps(options.rounds) * (options.seconds + 0.25) / 60
    return (
        f"measuring loss and CPU time of captured traffic, {options.rounds} rounds, about "
        f"{minutes:.0f} minutes. As root this makes a veth pair in a network namespace of its own, "
        "which disappears with the program, and turns the kernel's BPF run statistics on for a "
        "part of the time. Ctrl-C ends it"
    )


def measured(program, options, tell):
    document = stored.new(plan.SCHEMA, options)
    with bench.begun(program, document, tell, plan.steps(options.rounds)) as one:
        systems = [NONE] + [
            system
            for system, words in plan.SYSTEMS.items()
            if system not in plan.OPTIONAL or one.can_open(system, words)
        ]
        for turn in range(1, options.rounds + 1):
            for size in plan.SIZES:
                for system in systems:
                    _sweep(one, system, size, turn)
            _costs(one, turn)
    return document


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


def _costs(one, turn):
    """Table 2: each function on its own, at the sender's top rate."""
    with one.reading(NONE, (NONE,)) as reader:
        for size in plan.cost_sizes():
            one.measure(reader, size, plan.COST_RATE, part="cost", size=size, round=turn)
    for name in COST:
        for system in plan.COST_SYSTEMS:
            _cost(one, "cost", name, system, turn)
    with cpu_time.run_statistics() as has_statistics:
        one.document["has_run_statistics"] = has_statistics
        for name in COST:  # apart, because the statistics take time themselves
            _cost(one, "program", name, "xdp", turn)


def _cost(one, part, name, system, turn):
    size = COST[name][0]
    about = {"part": part, "function": name, "size": size, "round": turn}
    words = ("mapi", plan.COST_SYSTEMS[system], plan.flow_of(name))
    with one.reading(system, words) as reader:
        one.measure(reader, size, plan.COST_RATE, **about)
