# SPDX-License-Identifier: MIT
# SCAMPI D3.4 (2004), Table 1: loss in percent by rate; Table 2: instructions and cycles per packet.
import re

from ..papers import published

ADAPTERS = ("SCAMPI", "Intel")
_ITEMS = {item.id: item for item in published.read("scampi_d34")}
_TABLE_1, _TABLE_2 = _ITEMS["table-1"], _ITEMS["table-2"]
RATES = tuple(int(name) for name, _ in _TABLE_1.rows)


def _place(words):
    """\u201cSCAMPI adapter, 64-byte\u201d -> adapter and bytes."""
    adapter, size = re.match(r"(\w+) adapter, (\d+)-byte", words).groups()
    return adapter, int(size)


_PLACES = [_place(name) for name, _ in _TABLE_1.columns]
# adapter, bytes: percent at each of RATES; None: not available
LOSS = {
    place: tuple(values[column] for _, values in _TABLE_1.rows)
    for column, place in enumerate(_PLACES)
}
# the highest rates without loss that the text below Table 1 names
LOSS_FREE = dict(zip(_PLACES, _ITEMS["loss-free"].rows[0][1]))


def _function(words):
    """A row of Table 2 -> name and bytes; functions of one size only have it in their name."""
    name, size = words.rsplit(", ", 1)
    size = 64 if size == "any" else int(size.split()[0])
    return (words if name == "STR_SEARCH" else name), size


# name: bytes, (instructions, cycles) of the SCAMPI adapter, of the Intel adapter
COST = {
    name: (size, tuple(values[:2]), tuple(values[2:]))
    for (name, size), values in ((_function(words), values) for words, values in _TABLE_2.rows)
}
PAPI = tuple(_ITEMS["papi"].rows[0][1])  # instructions and cycles, included in each figure of COST
