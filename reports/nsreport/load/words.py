# SPDX-License-Identifier: MIT
# load: names, colours and markers of systems.
from ..layout import PALETTE, PAPER_INTEL, PAPER_SCAMPI

WORDS = {
    "xdp, drop": "MAPI on xdp:IFACE,drop",
    "xdp": "MAPI on xdp:IFACE",
    "plain": "MAPI on IFACE",
    "libpcap": "libpcap",
}
COLOURS = {
    "xdp, drop": PALETTE[6],
    "xdp": PALETTE[0],
    "plain": PALETTE[1],
    "libpcap": PALETTE[3],
    "SCAMPI": PAPER_SCAMPI,
    "Intel": PAPER_INTEL,
}
MARKERS = {"xdp, drop": 11, "xdp": 7, "plain": 5, "libpcap": 9, "SCAMPI": 4, "Intel": 6}


def systems(document):
    """Those that were measured, in the order of the plan."""
    there = {row["system"] for row in document["points"]}
    return [system for system in WORDS if system in there]
