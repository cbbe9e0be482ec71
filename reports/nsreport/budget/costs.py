# SPDX-License-Identifier: MIT
# A run of mapi-cost or a trace -> cycles of a packet in each function; then those at one size.
from dataclasses import dataclass

from .. import check
from ..cost import facts as cost_facts, page as cost_page
from ..loss_text import loss_line
from ..trace import facts as trace_facts, page as trace_page
from .line import CHECKSUM_BYTES

SHAPE = {
    "input": "s",
    "title": "s",
    "meaning": "s",
    "cpu": "s?",
    "hz": "w",
    "source": "s",
    "samples": "s",
    "losses": "s",
    "incomplete": ["s"],
    "warnings": ["s"],
    "rows": [{"name": "s", "series": "s", "bytes": "w?", "cycles": "x", "ci95": "w?"}],
    "mean_bytes": "w?",
}
PER_PACKET = (0, 2, 4)  # tables of mapi-cost: the user's flows, functions, further flows
READING = "reading from the device"
SAME_SIZE_BYTES = 8  # sizes that differ by less are taken as the same


@dataclass
class Taken:
    """What a function takes of the budget."""

    name: str
    cycles: float
    half: float  # of its interval; None: unknown
    measured: str  # at which size
    is_at_size: bool  # false: measured at another size only


def _median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def _reading_rows(document):
    """Reading packets is no part of the scenarios' costs; its cost depends on the packets' size, so
    it is that of the scenarios with packets as they are in the capture."""
    found = [
        part["cycles"]
        for row in document["rows"]
        if row["table"] in (0, 2) and row["packet_bytes"] is None
        for part in row["parts"] or []
        if part["in_cost"] is False and part["cycles"] is not None
    ]
    if not found:
        return []
    row = {"name": READING, "series": READING, "bytes": None, "cycles": _median(found)}
    return [{**row, "ci95": None}]


def _of_cost_run(document):
    rows = [r for r in document["rows"] if r["table"] in PER_PACKET and r["cycles"]]
    return {
        "title": "a run of mapi-cost",
        "meaning": "Each row is the cost of dispatch, its functions, and publication of results; "
        "reading packets from the device is a row of its own, unless it is part of the others. A "
        "further flow is what one more flow adds to each packet.",
        "cpu": document["machine"]["cpu"],
        "hz": document["clock"]["hz"],
        "source": cost_facts.source_text(document, ["cycles"]),
        "samples": cost_facts.samples_text(document, rows, ["cycles"]),
        "mean_bytes": document["capture"]["mean_bytes"],
        "incomplete": cost_page.incomplete(document),
        "warnings": cost_page.warnings(document),
        "rows": _reading_rows(document)
        + [
            {
                "name": name,
                "series": f"{'further flow: ' if row['table'] == 4 else ''}{row['scenario']}",
                "bytes": row["packet_bytes"],
                "cycles": row["cycles"]["net"],
                "ci95": row["cycles"]["ci95"],
            }
            for row, name in zip(rows, cost_facts.row_names(rows))
        ],
    }


def _of_trace(document):
    rows = []
    for entry in trace_facts.by_cost(document):
        value = trace_facts.value_of(entry, "ticks")
        own, half = trace_facts.self_cost(value, True)
        if own is not None:
            name = entry["name"]
            rows.append({"name": name, "series": name, "bytes": None, "cycles": own, "ci95": half})
    units = document["units"] or []
    packets = sum(u["packets"] or 0 for u in units)
    octets = sum(u["bytes"] or 0 for u in units)
    return {
        "title": "a trace",
        "meaning": "Each row is a slice's own cost, without the slices inside it.",
        "cpu": document["info"].get("machine.cpu"),
        "hz": document["clock"]["hz"],
        "source": trace_facts.source_text(document, {"ticks": "TSC cycles"}),
        "samples": trace_facts.samples_text(document),
        "mean_bytes": octets / packets if packets and octets else None,
        "incomplete": trace_page.incomplete(document),
        "warnings": trace_page.warnings(document),
        "rows": rows,
    }


def costs_of(given, name):
    """given: an opened source."""
    document = given.document
    is_trace = document["schema"] == check.STATS_SCHEMA
    costs = (_of_trace if is_trace else _of_cost_run)(document)
    costs["input"] = name
    costs["losses"] = loss_line(document["losses"])
    costs["incomplete"] = given.incomplete + costs["incomplete"]
    costs["warnings"] = list(dict.fromkeys(given.warnings)) + costs["warnings"]
    if not costs["hz"]:
        costs["incomplete"].append(
            "The clock's rate is not in the input, so its cycles are no time; measure again."
        )
        costs["rows"], costs["hz"] = [], 0
    return costs


def _size_text(size, costs):
    if size is not None:
        return f"{size:,.0f} bytes"
    mean = costs["mean_bytes"]
    return "packets as they came" + (f", {mean:,.0f} bytes on average" if mean else "")


def _between(low, high, size):
    """Two rows of one series -> cycles and half width at a size between them."""
    part = (size - low["bytes"]) / (high["bytes"] - low["bytes"])
    cycles = low["cycles"] + part * (high["cycles"] - low["cycles"])
    halves = (low["ci95"], high["ci95"])
    return cycles, None if None in halves else (1 - part) * halves[0] + part * halves[1]


def _of_series(rows, costs, size):
    """Rows of one series -> its cost at the size, or at the nearest that was measured."""
    sized = sorted((r for r in rows if r["bytes"] is not None), key=lambda r: r["bytes"])
    if not sized:
        row = rows[0]
        return Taken(row["series"], row["cycles"], row["ci95"], _size_text(None, costs), True)
    nearest = min(sized, key=lambda r: abs(r["bytes"] - size))
    if abs(nearest["bytes"] - size) > SAME_SIZE_BYTES:
        for low, high in zip(sized, sized[1:]):
            if low["bytes"] < size < high["bytes"]:
                where = f"between {low['bytes']:,.0f} and {high['bytes']:,.0f} bytes"
                return Taken(low["series"], *_between(low, high, size), where, True)
    is_same = abs(nearest["bytes"] - size) <= SAME_SIZE_BYTES
    where = _size_text(nearest["bytes"], costs) + ("" if is_same else " only")
    return Taken(nearest["series"], nearest["cycles"], nearest["ci95"], where, is_same)


def taken_at(costs, frame_bytes):
    """In the order of the input, one for each series of sizes."""
    by_series = {}
    for row in costs["rows"]:
        by_series.setdefault(row["series"], []).append(row)
    return [_of_series(rows, costs, frame_bytes - CHECKSUM_BYTES) for rows in by_series.values()]
