# SPDX-License-Identifier: MIT
# ktime: names and colours of clocks and terms.
from ..layout import PALETTE
from ..text import plural

STATISTICS, CLOCK = "run_time_ns of the kernel's statistics", "bpf_ktime_get_ns()"
WITHOUT = "run_time_ns without clock and map"
COLOURS = {STATISTICS: PALETTE[0], CLOCK: PALETTE[1], WITHOUT: PALETTE[3]}
MARKERS = {STATISTICS: 7, CLOCK: 5, WITHOUT: 9}
PARTS = {
    "statistics": "the statistics' own clock reads, entering and leaving the program",
    "helper": "the two calls of bpf_ktime_get_ns(), outside of their reads",
    "map": "the map's update",
    "event": "the event structure, initialised before the first read",
}
SHORT = {
    "statistics": "statistics' reads and program entry",
    "helper": "calls of the clock",
    "map": "map's update",
    "event": "event structure",
}
TERM_COLOURS = dict(
    zip(
        [(part, is_cold) for is_cold in (False, True) for part in PARTS],
        (PALETTE[0], PALETTE[1], PALETTE[2], PALETTE[3]) + PALETTE[4:8],
    )
)
SOURCE = (
    "run_time_ns by BPF_ENABLE_STATS, bpf_ktime_get_ns() by the program's map; an XDP program on a "
    "veth pair, one ICMP packet per run"
)


def term(one):
    return f"{PARTS[one.part]}{COLD if one.is_cold else ''}"


COLD = ": more at packet 1 (cold code and data)"


def checksums(number):
    return plural(number, "checksum")


def samples(document):
    return (
        f"{plural(document['rounds'], 'execution')} of {plural(document['runs'], 'run')} of each "
        "program, in turns"
    )


def losses(document):
    """What did not arrive, for the foot of a picture."""
    late, others = (sum(document[key].values()) for key in ("timeouts", "others"))
    said = f"{plural(late, 'run')} without an answer in time"
    return f"{said}, {others} with foreign packets" if others else said
