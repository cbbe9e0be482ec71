# SPDX-License-Identifier: MIT
# Shared by tables and pictures of a trace: order of slices, main values, fields, sources, sample
# counts.
import math

from ..text import number, plural

OVERLAP = (
    "Net exceeds raw where the two clock reads of a slice overlap with its work, so that it reads "
    "less than the work takes (clock mode fast): inner, the cost of the slice's own reads, is then "
    "negative."
)


def value_of(entry, field):
    return next((v for v in entry["values"] if v["field"] == field), None)


def by_cost(document):
    """The order of slices in tables and pictures: programs before the kernel, each by the ticks
    that its slices take together."""

    def place(entry):
        ticks = value_of(entry, "ticks")
        total = ticks["net"]["total"] if ticks else None
        return bool(entry["kernel"]), total is None, -(total or 0)

    return sorted(document["slices"], key=place)


def _trimmed_or(values, trimmed, plain):
    """A pair of members, value and half width; JSON of earlier versions has no trimmed ones."""
    pair = trimmed if values.get(trimmed[0]) is not None else plain
    return tuple(values.get(key) for key in pair)


def raw_mean(value):
    return _trimmed_or(value["raw"], ("trimmed_mean",), ("mean",))[0]


def net_mean(value):
    return _trimmed_or(value["net"], ("trimmed_mean", "trimmed_ci95"), ("mean", "ci95"))


def net_per_packet(value):
    return _trimmed_or(
        value["per_packet"] or {}, ("net_trimmed", "net_trimmed_ci95"), ("net", "net_ci95")
    )


def _is_leaf(value):
    own, net = (value["self"] or {}).get("mean"), value["net"]["mean"]
    return own is not None and math.isclose(own, net, rel_tol=1e-9)


def self_cost(value, per_packet):
    """Cost and half width. What calls no other has the trimmed mean of net; others have no trimmed
    mean, and the half width is unknown."""
    if value is None or value["self"] is None:
        return None, None
    if per_packet:
        own = (value["per_packet"] or {}).get("self")
        return net_per_packet(value) if own is not None and _is_leaf(value) else (own, None)
    if _is_leaf(value):
        return net_mean(value)[0] * value["count"], None
    return value["self"]["total"], None


def is_trimmed(document):
    return any(
        value["net"]["trimmed_mean"] is not None
        for entry in document["slices"]
        for value in entry["values"]
    )


def is_beyond(net, raw):
    """A smaller difference is that of a cost that is zero but for its error."""
    return net > raw > 0 and net - raw > 0.005 * raw


def exceeds_raw(entry):
    ticks = value_of(entry, "ticks")
    return bool(ticks) and is_beyond(net_mean(ticks)[0], raw_mean(ticks))


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
