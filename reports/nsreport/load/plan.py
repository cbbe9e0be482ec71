# SPDX-License-Identifier: MIT
# What `nsreport --load` measures: systems, rates, functions.
from ..traffic.bench import NONE
from ..traffic.namespace import RECEIVING
from ..traffic.stored import is_count, is_number, is_text
from .published import COST, RATES as OLD_RATES

SCHEMA = "netslice-load-1"
SIZES = (64, 1500)
COUNT = "PKT_COUNTER"  # the program of 2004 counts
SYSTEMS = {
    "xdp, drop": ("mapi", f"xdp:{RECEIVING},drop", COUNT),
    "xdp": ("mapi", f"xdp:{RECEIVING}", COUNT),
    "plain": ("mapi", RECEIVING, COUNT),
    "libpcap": ("mmap", RECEIVING),
}
RATES = (*OLD_RATES, 300000, 600000, 1200000, None)  # None: as fast as the sender can
STEPS = 16  # of the search between the last rate without loss and the first with
PROBES = 4  # of the search, which halves
COST_RATE = None
COST_SYSTEMS = {"xdp": f"xdp:{RECEIVING}", "plain": RECEIVING}
PASSING = "udp"  # all packets
# Payloads end with it: a search reads the whole packet, and later functions get packets.
SEARCHED = "www.scampi.example"
_STEPS_OF = {
    "No function": "",
    "COUNTER": "PKT_COUNTER",
    "BPF_FILTER": f"BPF_FILTER '{PASSING}'",
    "SAMPLE_PACKETS": "SAMPLE 5 3",
    "TO_BUFFER": "TO_BUFFER 0",
    "STR_SEARCH": f"STR_SEARCH '{SEARCHED}' 0 0",
}
_SAMPLE_ALL = "SAMPLE 1 2"


def flow_of(name):
    """A row of Table 2 -> the flow expression."""
    parts = [_STEPS_OF[part.split(",")[0]] for part in name.split(" + ")]
    if len(parts) > 1:  # each function gets all packets
        parts = [_SAMPLE_ALL if part.startswith("SAMPLE") else part for part in parts]
    return " | ".join(parts)


def cost_sizes():
    return sorted({size for size, _, _ in COST.values()})


def cost_systems(systems):
    return [system for system in COST_SYSTEMS if system in systems]


def steps(rounds, systems=tuple(SYSTEMS)):
    """Measurements in all rounds; a search may need fewer."""
    sweeps = len(SIZES) * len(RATES) * (len(systems) + 1) + len(SIZES) * len(systems) * PROBES
    costs = len(cost_systems(systems)) + ("xdp" in systems)
    return rounds * (sweeps + len(COST) * costs + len(cost_sizes()))


def words_of(system):
    return (NONE,) if system == NONE else SYSTEMS[system]


def is_point(row):
    """Whether a stored point has what this report needs of it."""
    runs = ("program_ns", "program_runs") if row["part"] == "program" else ()
    return is_count(row.get("size")) and all(is_count(row.get(key)) for key in runs)


def _is_free(one):
    return (
        isinstance(one, dict)
        and is_text(one.get("system"))
        and all(is_count(one.get(key)) for key in ("size", "round"))
        and all(one.get(key) is None or is_number(one[key], 0) for key in ("rate", "lossy"))
        and "lossy" in one
        and "rate" in one
    )


def damaged(document):
    free = document.get("loss_free", [])
    return "" if isinstance(free, list) and all(map(_is_free, free)) else "loss_free"
