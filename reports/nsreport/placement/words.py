# SPDX-License-Identifier: MIT
# placement: names, colours and markers of systems; the seed's figures.
from dataclasses import dataclass

from ..layout import PALETTE

WORDS = {
    "kernel": "MAPI on xdp:IFACE",
    "user": "MAPI on IFACE",
    "read": "libpcap by read()",
    "mmap": "libpcap by mmap",
}
COLOURS = {"kernel": PALETTE[0], "user": PALETTE[1], "read": PALETTE[3], "mmap": PALETTE[2]}
MARKERS = {"kernel": 7, "user": 5, "read": 11, "mmap": 9}
ALL, MAPI, PCAP = tuple(WORDS), ("kernel", "user"), ("read", "mmap")


@dataclass
class Figure:
    name: str
    number: str  # in the evaluation of 2004
    part: str  # of plan.PARTS
    systems: tuple
    topic: str
    question: str


FIGURES = (
    Figure(
        "discard", "2.1", "discard", ALL, "Read packets and discard them", "does reading packets"
    ),
    Figure("count", "2.2", "count", ALL, "Count packets", "does counting packets"),
    Figure("filter", "2.3", "filter", ALL, "One filter", "does one filter"),
    Figure("couple_mapi", "2.4", "couple", MAPI, "A couple of filters, MAPI", "do two filters"),
    Figure("filters_mapi", "2.5", "filters", MAPI, "Many filters, MAPI", "do many filters"),
    Figure("couple_pcap", "2.6", "couple", PCAP, "A couple of filters, libpcap", "do two filters"),
    Figure("filters_pcap", "2.7", "filters", PCAP, "Many filters, libpcap", "do many filters"),
    Figure(
        "couple_both", "2.8", "couple", ALL, "A couple of filters, all systems", "do two filters"
    ),
    Figure("filters_both", "2.8", "filters", ALL, "Many filters, all systems", "do many filters"),
    Figure(
        "strings_mapi",
        "2.9",
        "strings",
        MAPI,
        "Substring search, MAPI",
        "does searching for strings",
    ),
    Figure(
        "strings_pcap",
        "2.10",
        "strings",
        PCAP,
        "Substring search, libpcap",
        "does searching for strings",
    ),
    Figure(
        "strings_both",
        "2.9 and 2.10",
        "strings",
        ALL,
        "Substring search, all systems",
        "does searching for strings",
    ),
)
