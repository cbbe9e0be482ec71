# SPDX-License-Identifier: MIT
# Raw values of measured traffic, as nsreport stores them, for tests of its pages.
import itertools

from nsreport.load import plan as load_plan
from nsreport.load.published import COST
from nsreport.placement import plan as placement_plan

NS_OF = {"none": 0, "xdp, drop": 10, "xdp": 50, "kernel": 50, "plain": 300, "user": 300}


def point(system, rate, turn, **about):
    """Unwatched packets take 100 ns of softirq; a watched one more, and 20 ns in the process."""
    sent = (rate or 1000000) // 2
    is_watched = system != "none"
    return {
        "system": system,
        "rate": rate,
        "round": turn,
        "sent": sent,
        "bytes": sent * 64,
        "refused": 0,
        "seconds": 0.5,
        "behind": 0,
        "sender_s": 0.3,
        "softirq_ns": sent * (100 + NS_OF.get(system, 400)),
        "received": sent if is_watched else 0,
        "dropped": 0,
        "reader_ns": sent * 20 if is_watched else 0,
        "waited_ns": 0,
        "method": "xdp",
        "sender_dropped": 0,
        "reader_s": 0.5,
        "idle_share": 0.0,
        "steal_ns": 0,
        "instructions": None,
        "program_ns": 0,
        "program_runs": 0,
        "place": "engine" if is_watched else "",
        **about,
    }


def head(schema):
    return {
        "schema": schema,
        "rounds": 3,
        "seconds": 0.5,
        "unavailable": {},
        "kernel": "Linux 6.1 x86_64",
        "cpu": "a CPU, 2 CPUs",
        "cpus": [0, 1],
        "ticks_per_s": 2e9,
        "no_instructions": "no PMU",
        "no_softirq": "",
    }


def load():
    """libpcap loses a tenth from 50000 packets/s on."""
    points, free = [], []
    for turn, size in itertools.product((1, 2, 3), load_plan.SIZES):
        for system, rate in itertools.product(("none", *load_plan.SYSTEMS), load_plan.RATES):
            made = point(system, rate, turn, part="sweep", size=size)
            if system == "libpcap" and (rate or 50000) >= 50000:
                made["received"] -= made["sent"] // 10
            points.append(made)
        for system in load_plan.SYSTEMS:
            rates = (40000 + turn, 50000) if system == "libpcap" else (2000000, None)
            free.append({"system": system, "size": size, "round": turn})
            free[-1] |= {"rate": rates[0], "lossy": rates[1]}
    for turn in (1, 2, 3):
        for size in load_plan.cost_sizes():
            points.append(point("none", None, turn, part="cost", size=size))
        for (name, (size, *_)), system in itertools.product(COST.items(), load_plan.COST_SYSTEMS):
            points.append(point(system, None, turn, part="cost", size=size, function=name))
            ran = {"program_ns": 5000 * 77, "program_runs": 5000, "function": name}
            points.append(point(system, None, turn, part="program", size=size, **ran))
    return {**head(load_plan.SCHEMA), "points": points, "loss_free": free}


def placement():
    """libpcap by read() processes half of 512 filters' packets."""
    points = []
    for turn in (1, 2, 3):
        for size, rates in placement_plan.sweeps():
            for rate in rates:
                points.append(point("none", rate, turn, part="unwatched", packets=size))
        for part, (_, size, rates, numbers) in placement_plan.PARTS.items():
            for system, rate, number in itertools.product(placement_plan.SYSTEMS, rates, numbers):
                about = {"part": part, "packets": size, "number": number}
                points.append(point(system, rate, turn, **about))
                if system == "read" and number == 512:
                    points[-1]["received"] //= 2
    return {**head(placement_plan.SCHEMA), "points": points}
