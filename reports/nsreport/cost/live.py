# SPDX-License-Identifier: MIT
# mapi-cost run on a live device -> packets received and dropped in each row's passes.
from .. import page
from ..text import count, number, plural
from .facts import row_names

CAUSES = {
    "kernel": "the kernel's buffer was full",
    "interface": "dropped by the interface",
    "buffer_full": "a flow's buffer was full",
    "link_type": "link type unsupported by a function",
    "not_written": "not written to a file",
}
PASSES = {"timed": "while timed", "counted": "while instructions were counted"}


def drops_text(arrivals):
    dropped = {cause: n for cause, n in arrivals["drops"].items() if n}
    if not dropped:
        return "none dropped"
    return (
        f"{count(sum(dropped.values()))} dropped ("
        + ", ".join(f"{CAUSES.get(cause, cause)}: {count(n)}" for cause, n in dropped.items())
        + ")"
    )


def facts(document):
    """Lines of the page's head, one per pass; none for a capture."""
    live = document["live"] or {}
    return [
        (
            f"Packets {words}",
            f"{plural(found['packets'], 'packet')} in {number(found['seconds'])} s, "
            f"{number(found['packets_per_batch'])} per batch on average, {drops_text(found)}",
        )
        for key, words in PASSES.items()
        if (found := live.get(key))
    ]


def warnings(document):
    timed = (document["live"] or {}).get("timed")
    if not timed or not any(timed["drops"].values()):
        return []
    return [
        "Some of the live device's packets that arrived while times were measured are not in the "
        f"figures: {drops_text(timed)}."
    ]


def _cells(arrivals):
    if arrivals is None:
        return [number(None)] * 3
    return [count(arrivals["packets"]), number(arrivals["packets_per_batch"]), drops_text(arrivals)]


def _driver_read(row):
    return next(
        (part["cycles"] for part in row["parts"] or [] if part["name"] == "driver_read"), None
    )


def tables(document):
    rows = [
        (r, name) for r, name in zip(document["rows"], row_names(document["rows"])) if r["live"]
    ]
    if not rows:
        return []
    columns = [
        ("scenario", False),
        ("driver_read, cycles per packet", True),
        ("packets timed", True),
        ("per batch", True),
        ("drops", False),
        ("packets counted", True),
        ("per batch", True),
        ("drops", False),
    ]
    cells = [
        [name, number(_driver_read(r)), *_cells(r["live"]["timed"]), *_cells(r["live"]["counted"])]
        for r, name in rows
    ]
    return [("live", "Packets from the live device", page.table(columns, cells))]
