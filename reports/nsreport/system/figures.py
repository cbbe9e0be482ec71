# SPDX-License-Identifier: MIT
# Values of a system run -> medians, intervals and ratios against "without module".
from .results import VARIANTS

UNITS = {"round_trip": "us", "throughput": "Gbit/s"}


def median(values):
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def coverage(n):
    """Probability that the median lies between the least and the greatest of n values, whatever the
    distribution."""
    return 1 - 2.0 ** (1 - n) if n else 0.0


def spread(values):
    """Median, least and greatest of the rounds; None without values."""
    values = list(values)
    return (median(values), min(values), max(values)) if values else None


def point(document, kind, size, variant):
    return spread(document["values"][kind].get(size, {}).get(variant, {}).values())


def ratio(document, kind, size, variant):
    """Ratio to "without" in the same round, so that disturbances of the machine affect both."""
    rows = document["values"][kind].get(size, {})
    base, other = rows.get("without", {}), rows.get(variant, {})
    return spread(other[turn] / base[turn] for turn in other if turn in base)


def rounds(document):
    return max(
        (
            len(values)
            for kind in document["values"].values()
            for rows in kind.values()
            for values in rows.values()
        ),
        default=0,
    )


def sizes(document, kind):
    return sorted(document["values"][kind])


def as_json(document):
    """The figures of the page for other programs: schema netslice-system-1."""
    rows = []
    for kind, unit in UNITS.items():
        for size in sizes(document, kind):
            for variant in VARIANTS:
                values = document["values"][kind][size].get(variant)
                if values:
                    rows.append(
                        {
                            "kind": kind,
                            "unit": unit,
                            "message_bytes": size,
                            "variant": variant,
                            "values": [values[turn] for turn in sorted(values)],
                            "median_low_high": point(document, kind, size, variant),
                            "ratio_low_high": ratio(document, kind, size, variant),
                        }
                    )
    kept = (
        "kernel",
        "cpu",
        "groups",
        "seconds",
        "missing",
        "lacking",
        "failed",
        "faults",
        "recorded_bytes",
        "sizes",
        "is_whole",
    )
    return {
        "schema": "netslice-system-1",
        **{key: document[key] for key in kept},
        "rounds": rounds(document),
        "rows": rows,
    }
