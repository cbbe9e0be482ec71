# SPDX-License-Identifier: MIT
# What `nsreport --load` measures: systems, rates, functions.
from ..traffic.bench import NONE
from ..traffic.namespace import RECEIVING
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
OPTIONAL = ("xdp, drop",)  # not every version of the driver has it
RATES = (*OLD_RATES, 300000, 600000, 1200000, None)  # None: as fast as the sender can
STEPS = 16  # of the search between the last rate without loss and the first with
PROBES = 4  # of the search, which halves
COST_RATE = None
COST_SYSTEMS = {"xdp": f"xdp:{RECEIVING}", "plain": RECEIVING}
PASSING = "udp"
_STEPS_OF = {
    "No function": "",
    "COUNTER": "PKT_COUNTER",
    "BPF_FILTER": f"BPF_FILTER '{PASSING}'",
    "SAMPLE_PACKETS": "SAMPLE 5 3",
    "TO_BUFFER": "TO_BUFFER 0",
    "STR_SEARCH": "STR_SEARCH 'www.scampi.example' 0 0",
}


def flow_of(name):
    """A row of Table 2 -> the flow expression."""
    return " | ".join(_STEPS_OF[part.split(",")[0]] for part in name.split(" + "))


def cost_sizes():
    return sorted({size for size, _, _ in COST.values()})


def steps(rounds):
    """Measurements in all rounds; a search may need fewer."""
    sweeps = len(SIZES) * len(RATES) * (len(SYSTEMS) + 1) + len(SIZES) * len(SYSTEMS) * PROBES
    return rounds * (sweeps + len(COST) * (len(COST_SYSTEMS) + 1) + len(cost_sizes()))


def words_of(system):
    return (NONE,) if system == NONE else SYSTEMS[system]
