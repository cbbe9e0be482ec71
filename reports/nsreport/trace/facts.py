# SPDX-License-Identifier: MIT
# Shared by all pictures of a trace: fields, sources, sample counts.
from ..text import number, plural


def value_of(entry, field):
    return next((v for v in entry["values"] if v["field"] == field), None)


def fields_of(document):
    """Fields in order: ticks first, then the counters, each with its unit."""
    found = {}
    for entry in document["slices"]:
        for value in entry["values"]:
            found.setdefault(value["field"], value["unit"])
    return dict(sorted(found.items(), key=lambda item: item[0] != "ticks"))


def clock_text(document):
    clock = document["clock"]
    parts = [clock["source"]]
    if clock["hz"]:
        parts.append(f"{clock['hz'] / 1e9:.4g} GHz")
    if clock["mode"]:
        parts.append(f"{clock['mode']} reads")
    if clock["step_ticks"] and clock["step_ticks"] > 1:
        parts.append(f"moves in steps of {number(clock['step_ticks'])}")
    return ", ".join(parts)


def source_text(document, fields):
    said = []
    for field, unit in fields.items():
        said.append(
            f"{unit} (clock: {clock_text(document)})"
            if field == "ticks"
            else f"{unit} (counter source: {document['counters']['source']})"
        )
    return "; ".join(said)


def samples_text(document, field="ticks"):
    slices = sum(v["count"] for e in document["slices"] if (v := value_of(e, field)))
    units = sum(u["units"] for u in document["units"] or [])
    packets = sum(u["packets"] or 0 for u in document["units"] or [])
    said = plural(slices, "slice")
    if units:
        said += f" in {plural(units, 'unit')}"
    if packets:
        said += f" with {plural(packets, 'packet')}"
    return said
