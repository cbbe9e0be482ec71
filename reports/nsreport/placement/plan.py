# SPDX-License-Identifier: MIT
# What `nsreport --placement` measures: systems, their work, rates, numbers of filters and strings.
from ..traffic.namespace import RECEIVING
from ..traffic.stored import is_count, is_number, is_text

SCHEMA = "netslice-placement-1"
# method and device of mapi-reader
SYSTEMS = {
    "kernel": ("mapi", f"xdp:{RECEIVING}"),
    "user": ("mapi", RECEIVING),
    "read": ("read", RECEIVING),
    "mmap": ("mmap", RECEIVING),
}
RATES = (20000, 50000, 100000, 200000, 400000, 800000)
CONSTANT_RATE = 100000
FILTERS = tuple(2**i for i in range(10))  # 1 to 512
STRINGS = tuple(2**i for i in range(11))  # 1 to 1024
BYTES = 1500
MIXED = "mixed"  # sizes of capture.py
# Each flow that connects makes a new program in the kernel, which takes longer with each: twice as
# many flows take four times as long.
GROWS = "kernel"
FURTHER_TAKES = 4  # times the previous number's
LONGEST_S, QUICK_LONGEST_S = 150, 15
PATIENCE_S = 0.15  # for packets that wait in a buffer; a reader that keeps up needs less
FIRST_PORT = 8080  # of filters; no packet has one of their ports
# part: work, packets, rates, numbers
PARTS = {
    "discard": ("discard", BYTES, RATES, (1,)),
    "count": ("count", BYTES, RATES, (1,)),
    "filter": ("filters", BYTES, RATES, (1,)),
    "couple": ("filters", MIXED, RATES, (2,)),
    "filters": ("filters", MIXED, (CONSTANT_RATE,), FILTERS),
    "strings": ("strings", MIXED, (CONSTANT_RATE,), STRINGS),
}


def _filter(i):
    return f"port {FIRST_PORT + i}"


def _string(i):
    """No packet has it."""
    return f"SIGNATURE-{i:04}/{i * 7919 % 10007:05}"


def words_of(system, work, number, grows=False):
    """Arguments of mapi-reader.  grows: the flows are connected later."""
    method, device = SYSTEMS[system]
    is_mapi = method == "mapi"
    made = []
    if work == "filters":
        shape = "BPF_FILTER '{}' | PKT_COUNTER" if is_mapi else "filter:{}"
        made = [shape.format(_filter(i)) for i in range(number)]
    elif work == "strings":
        shape = "STR_SEARCH '{}' 0 0 | PKT_COUNTER" if is_mapi else "string:{}"
        made = [shape.format(_string(i)) for i in range(number)]
    elif is_mapi:
        made = ["TO_BUFFER 0" if work == "discard" else "PKT_COUNTER"]
    return ("grow" if grows else method, device, *made)


def openings():
    """Words of mapi-reader by system, to find out whether it is available."""
    return {system: words_of(system, "count", 1) for system in SYSTEMS}


def sweeps():
    """(packets, rates) of unwatched traffic, which the parts share."""
    return ((BYTES, RATES), (MIXED, sorted({*RATES, CONSTANT_RATE})))


def steps(rounds, systems=tuple(SYSTEMS)):
    measured = sum(len(rates) * len(numbers) for _, _, rates, numbers in PARTS.values())
    return rounds * (len(systems) * measured + sum(len(rates) for _, rates in sweeps()))


def is_point(row):
    """Whether a stored point has what this report needs of it."""
    is_right = is_count(row.get("packets")) or row.get("packets") == MIXED
    return is_right and (row["part"] not in PARTS or is_count(row.get("number")))


def _is_too_long(one):
    if not isinstance(one, list) or len(one) != 3 or not is_text(one[0]):
        return False
    return one[0] in PARTS and is_count(one[1]) and is_number(one[2], 0)


def damaged(document):
    found = document.get("too_long", [])
    return "" if isinstance(found, list) and all(map(_is_too_long, found)) else "too_long"
