# SPDX-License-Identifier: MIT
# Shared by all pictures of a mapi-cost run: row names, figures of 2004, sources, sample counts.
from ..text import count, number, plural

PAPI_COST = {"instructions": 265, "cycles": 700}  # one set of PAPI reads in the 2004 figures


def additional(row):
    """Table 4 gives the cost added by a further flow; its figures are differences, in which the
    cost of PAPI cancels."""
    return row["table"] == 4


def paper_figure(row, card, kind):
    """Figure of 2004, net of PAPI, or None."""
    paper = row["paper"] or {}
    value = paper.get(f"{card}_{kind}")
    if value is None or paper.get("net_of_papi") or additional(row):
        return value
    return value - PAPI_COST[kind]


COMPARED = ("net", "ci95", "scampi_2004_net", "intel_2004_net")


def compared(row, kind):
    """The columns COMPARED of a picture's data."""
    measured = row[kind] or {}
    return (
        measured.get("net"),
        measured.get("ci95"),
        paper_figure(row, "scampi", kind),
        paper_figure(row, "intel", kind),
    )


def row_names(rows):
    names = []
    for row in rows:
        name = row["scenario"]
        if row["packet_bytes"] is not None and "byte" not in name:
            name += f", {number(row['packet_bytes'])} bytes"
        if additional(row) and "flow" not in name:
            name = f"further flow: {name}"
        names.append(name)
    return names


def clock_text(document):
    clock = document["clock"]
    hz = f", {clock['hz'] / 1e9:.4g} GHz" if clock["hz"] else ""
    return clock["source"] + hz + (f", {clock['mode']} reads" if clock["mode"] else "")


def source_text(document, kinds):
    said = []
    for kind in kinds:
        named = document["sources"][kind]
        if kind == "cycles":
            said.append(named or f"TSC cycles ({clock_text(document)})")
        else:
            said.append(f"instructions: {named}")
    return "; ".join(said)


def samples_text(document, rows, kinds=("cycles", "instructions")):
    timed, counted = (
        sum((r[kind] or {}).get("packets") or 0 for r in rows) if kind in kinds else 0
        for kind in ("cycles", "instructions")
    )
    packets = ([f"{plural(timed, 'packet')} timed"] if timed else []) + (
        [f"{plural(counted, 'packet')} counted for instructions"] if counted else []
    )
    said = (
        f"{' and '.join(packets)} in {plural(len(rows), 'scenario')}"
        if packets
        else plural(len(rows), "scenario")
    )
    if document["repetitions"]:
        said += f", {count(document['repetitions'])} repetitions"
    if document["unit"] == "batch" and document["batch_packets"]:
        live = document["live"] or {}
        found = live.get("timed") or live.get("counted")
        size = (
            (
                f"up to {document['batch_packets']} packets, {number(found['packets_per_batch'])} "
                "on average"
            )
            if found
            else f"{document['batch_packets']} packets"
        )
        said += f", unit: batch of {size}"
    elif document["unit"]:
        said += f", unit: {document['unit']}"
    if document["interrupted"]:
        said += ", run interrupted"
    return said
