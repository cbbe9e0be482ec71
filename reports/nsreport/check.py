# SPDX-License-Identifier: MIT
# Parsed JSON -> the same JSON, checked against the shape of its schema; otherwise an error that
# names the member.
import math

STATS_SCHEMA = "netslice-stats-1"
COST_SCHEMA = "netslice-mapi-cost-1"


class ShapeError(Exception):
    """The message starts with the path of the member in the document."""


# "s" text, "x" finite number, "w" non-negative number, "p" positive number, "n" non-negative
# integer, "b" boolean; a trailing "?": may be absent or null.
_LOST = {"*": "n"}
_SPREAD = {
    "mean": "x",
    "sd": "x?",
    "min": "x?",
    "max": "x?",
    "p50": "x?",
    "p90": "x?",
    "p99": "x?",
    "p999": "x?",
    "total": "x?",
    "trimmed_mean": "x?",
}
_CALIBRATION = [
    {
        "kind": "s",
        "field": "s",
        "inner": "x?",
        "inner_ci95": "w?",
        "outer": "x?",
        "outer_ci95": "w?",
        "inner_hidden": "x?",
        "outer_hidden": "x?",
        "inner_overtaking": "x?",
        "outer_overtaking": "x?",
        "samples": "n?",
        "trimmed": "n?",
    }
]
_COUNTS = {"issued": "n?", "drained": "n?", "lost": _LOST}

_STATS = {
    "schema": "s",
    "trace": {
        "path": "s",
        "bytes": "n?",
        "format_version": "n?",
        "session_uuid": "s?",
        "end": "s?",
        "records": "n?",
        "interrupted": "b?",
    },
    "info": {"*": "s"},
    "clock": {"source": "s", "mode": "s?", "hz": "w?", "step_ticks": "x?", "read_ticks": "x?"},
    "counters": {"source": "s", "names": ["s"]},
    "losses": {
        **_COUNTS,
        "equation_holds": "b?",
        "by_cpu?": [{"cpu": "n", **_COUNTS}],
        "damaged_bytes": "n?",
        "damaged_chunks": "n?",
        "missing_chunks": "n?",
    },
    "calibration?": {
        "start?": _CALIBRATION,
        "end?": _CALIBRATION,
        "drift?": [
            {"kind": "s", "field": "s", "what": "s", "start": "x", "end": "x", "significant": "b"}
        ],
    },
    "units?": [{"name": "s", "units": "n", "packets": "n?", "bytes": "n?"}],
    "slices": [
        {
            "name": "s",
            "file": "s?",
            "line": "n?",
            "count": "n",
            "migrated": "n?",
            "unmatched_start": "n?",
            "unmatched_stop": "n?",
            "too_deep": "n?",
            "below_noise": "n?",
            "spans_loss": "n?",
            "crossed": "n?",
            "incomplete": "b?",
            "kernel": "b?",
            "packets": "n?",
            "values": [
                {
                    "field": "s",
                    "unit": "s",
                    "count": "n",
                    "packets": "n?",
                    "raw": _SPREAD,
                    "net?": {**_SPREAD, "ci95": "w?", "trimmed_ci95": "w?"},
                    "self?": {"mean": "x?", "total": "x?"},
                    "per_packet?": {
                        "raw": "x?",
                        "net": "x?",
                        "net_ci95": "w?",
                        "self": "x?",
                        "net_trimmed": "x?",
                        "net_trimmed_ci95": "w?",
                    },
                    "histogram?": [("x", "x", "n")],
                }
            ],
        }
    ],
    "marks?": [{"name": "s", "count": "n", "mean": "x?", "min": "x?", "max": "x?", "sum": "x?"}],
    "classes?": {"*": "n?"},
    "incomplete?": ["s"],
}

_MEASURED = {"raw": "x?", "net": "x", "ci95": "w?", "packets": "n?"}
_ESTIMATE = {"value": "x", "ci95": "w"}
_TERMS = [{"id": "s", "name": "s", "cost?": _ESTIMATE}]
_MODEL = {
    "terms": _TERMS,
    "holds": "b",
    "scenarios": [
        {
            "id": "s",
            "net": "x",
            "model?": _ESTIMATE,
            "residual": "x?",
            "residual_ci95": "w?",
            "verdict": "s",
        }
    ],
}
_ARRIVALS = {
    "seconds": "w",
    "packets": "n",
    "bytes": "n?",
    "batches": "n?",
    "packets_per_batch": "w?",
    "drops": {"*": "n"},
}
_COST = {
    "schema": "s",
    "capture": {
        "path": "s",
        "packets": "n?",
        "bytes": "n?",
        "mean_bytes": "x?",
        "damage": "s?",
        "unread_bytes": "n?",
    },
    "live?": {
        "interface": "s",
        "seconds_per_pass": "w?",
        "timed?": _ARRIVALS,
        "counted?": _ARRIVALS,
    },
    "machine": {"cpu": "s?", "kernel": "s?", "virtualised": "s?"},
    "clock": {"source": "s", "hz": "w?", "mode": "s?", "step_ticks": "x?"},
    "sources": {"cycles": "s?", "instructions": "s?"},
    "unit": "s?",
    "batch_packets": "n?",
    "repetitions": "n?",
    "interrupted": "b?",
    "losses": {**_COUNTS, "equation_holds": "b?", "units": "n?", "units_left_out": "n?"},
    "rows": [
        {
            "table": "n",
            "id": "s?",
            "scenario": "s",
            "packet_bytes": "w?",
            "instructions?": _MEASURED,
            "cycles?": _MEASURED,
            "paper?": {
                "scampi_instructions": "x?",
                "scampi_cycles": "x?",
                "intel_instructions": "x?",
                "intel_cycles": "x?",
                "net_of_papi": "b?",
            },
            "parts?": [{"name": "s", "instructions": "x?", "cycles": "x?", "in_cost": "b?"}],
            "live?": {"timed?": _ARRIVALS, "counted?": _ARRIVALS},
            "rates?": {
                "packets_per_second": "w?",
                "lines?": [
                    {
                        "gbit": "w",
                        "frame_bytes": "w",
                        "line_packets_per_second": "w",
                        "share": "x?",
                        "gbit_per_second": "x?",
                    }
                ],
            },
        }
    ],
    "additive?": {
        "instructions?": _MODEL,
        "cycles?": _MODEL,
        "paper?": {"scampi_instructions?": _TERMS, "intel_instructions?": _TERMS},
    },
    "probe?": {"inner_ticks": "x?", "outer_ticks": "x?", "raw_share": "x?"},
}

_NAMES = {
    "s": "text",
    "x": "a number between -1e30 and 1e30",
    "w": "a number from 0 to 1e30",
    "p": "a number above 0, to 1e30",
    "n": "a non-negative integer",
    "b": "true or false",
}


def _is_number(value):
    # No measurement comes near this bound; larger values would overflow in later arithmetic.
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) < 1e30
        and math.isfinite(value)
    )


def _leaf_fits(kind, value):
    if kind == "s":
        return isinstance(value, str)
    if kind == "b":
        return isinstance(value, bool)
    if kind == "w":
        return _is_number(value) and value >= 0
    if kind == "p":
        return _is_number(value) and value > 0
    if kind == "n":
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64
    return _is_number(value)


def _check_object(shape, value, place):
    if not isinstance(value, dict):
        raise ShapeError(f"{place}: expected an object, found {type(value).__name__}")
    if "*" in shape:
        for key, part in value.items():
            _check(shape["*"], part, f"{place}.{key}")
        return
    for name, part in shape.items():
        optional = name.endswith("?") or (isinstance(part, str) and part.endswith("?"))
        key = name.rstrip("?")
        if value.get(key) is None:
            if not optional:
                raise ShapeError(f"{place}.{key}: missing")
            value[key] = None
            continue
        _check(part, value[key], f"{place}.{key}")


def _check(shape, value, place):
    if isinstance(shape, dict):
        _check_object(shape, value, place)
    elif isinstance(shape, (list, tuple)):
        if not isinstance(value, list):
            raise ShapeError(f"{place}: expected a list, found {type(value).__name__}")
        if isinstance(shape, tuple) and len(value) != len(shape):
            raise ShapeError(f"{place}: expected {len(shape)} values, found {len(value)}")
        for i, part in enumerate(value):
            _check(shape[i] if isinstance(shape, tuple) else shape[0], part, f"{place}[{i}]")
    else:
        kind = shape.rstrip("?")
        if value is None and shape.endswith("?"):
            return
        if not _leaf_fits(kind, value):
            raise ShapeError(
                f"{place}: expected {_NAMES[kind]}, found {type(value).__name__} "
                f'"{str(value)[:40]}"'
            )


def check_document(document):
    """Raises ShapeError. Absent optional members become None, so that later code has one case to
    test for."""
    return check_shape(_STATS if document["schema"] == STATS_SCHEMA else _COST, document)


def check_shape(shape, document):
    """The same for a shape of another document."""
    _check(shape, document, "$")
    return document
