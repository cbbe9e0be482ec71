# SPDX-License-Identifier: MIT
# Stats of a trace -> head and tables of its page.
import os
import shlex

from .. import loss_text, page
from ..text import count, number, plural, with_error
from .facts import (
    OVERLAP,
    by_cost,
    clock_text,
    exceeds_raw,
    is_trimmed,
    net_mean,
    net_per_packet,
    raw_mean,
)

ENDS = {
    "closed": "closed normally",
    "interrupted": "interrupted, file closed",
    "killed": "the program was killed",
    "write-error": "a write error ended the recording",
    "missing": "no footer: the recording did not finish",
}


def title(document):
    return (
        f"Where packets spend their time: {os.path.basename(document['trace']['path']) or 'trace'}"
    )


def lead(document):
    packets = sum(u["packets"] or 0 for u in document["units"] or [])
    said = (
        f"{plural(sum(e['count'] for e in document['slices']), 'slice')} of "
        f"{plural(len(document['slices']), 'name')}"
    )
    if packets:
        units = sum(u["units"] for u in document["units"])
        said += f", {plural(packets, 'packet')} in {plural(units, 'unit')}"
    return said + (
        ". The measured cost of the probes is subtracted from net figures and included in raw "
        "figures."
    )


def facts(document):
    info, trace = document["info"], document["trace"]
    command = info.get("program.command")
    source = document["counters"]["source"]
    counters = (
        source
        if source in ("none", "")
        else f"{source}: {', '.join(document['counters']['names'])}"
    )
    ring = ", ".join(
        f"{k.split('.')[1]} {info[k]}"
        for k in ("ring.kind", "ring.bytes", "ring.full")
        if k in info
    )
    losses = document["losses"]
    return [
        (
            "Trace",
            f"{trace['path']}"
            + (f" ({count(trace['bytes'])} bytes)" if trace["bytes"] is not None else ""),
        ),
        ("Program", command and f"{command} (pid {info.get('program.pid', 'unknown')})"),
        (
            "Machine",
            " ".join(
                x
                for x in (
                    info.get("machine.cpu"),
                    info.get("machine.arch"),
                    info.get("machine.cpus") and f"({info['machine.cpus']} CPUs)",
                )
                if x
            ),
        ),
        ("Kernel", info.get("machine.kernel")),
        ("Virtualised", info.get("machine.virtualised")),
        ("Clock", clock_text(document)),
        ("Counter source", counters),
        ("Ring", ring),
        ("End of the trace", ENDS.get(trace["end"], trace["end"])),
        ("Losses", f"{loss_text.counts_text(losses)} {loss_text.equation_text(losses)}"),
    ]


def incomplete(document):
    """Sentences on why the report is incomplete, each with a remedy."""
    trace, said = document["trace"], []
    if trace["interrupted"]:
        said.append(
            "nsdump was interrupted, so the figures cover only part of the trace; let it run to "
            "completion."
        )
    if trace["records"] == 0:
        said.append(
            "The trace has no records, so there is nothing to draw; "
            + (
                "record it again."
                if trace["end"] == "missing"
                else (
                    "run a program that is linked with libnsprobe and built without "
                    "NETSLICE_DISABLE, and record it again."
                )
            )
        )
    if trace["end"] == "write-error":
        said.append(
            f"End of the trace: {ENDS['write-error']}; free some space and record it again."
        )
    if any(
        document["losses"][key] for key in ("damaged_bytes", "damaged_chunks", "missing_chunks")
    ):
        said.append(f"To locate the damage, run `nsdump check {shlex.quote(trace['path'])}`.")
    if document["incomplete"]:
        said.append(f"Figures marked with ? may be wrong: {'; '.join(document['incomplete'])}.")
    return said + loss_text.gaps(document["losses"])


def _drift_text(drift):
    """Of one constant, as part of a sentence."""
    whose = "the kernel's " if drift.get("kernel") else ""
    moved = drift.get("on_cpu") or drift
    where = f" on CPU {moved['cpu']}" if "cpu" in moved else ""
    return (
        f"{drift['what']} cost of {whose}{drift['kind']} ({drift['field']}) was "
        f"{number(moved['start'])} at the start and {number(moved['end'])} at the end{where}"
    )


def warnings(document):
    said = loss_text.warnings(document["losses"])
    drifts = (document["calibration"] or {}).get("drift") or []
    if moved := [_drift_text(drift) for drift in drifts if drift["significant"]]:
        said.append(
            f"Calibration drift: {'; '.join(moved)}. The error bars reach both; the usual cause is "
            "a busy or throttled machine."
        )
    if document["trace"]["end"] == "killed":
        said.append(f"End of the trace: {ENDS['killed']}.")
    if document["info"].get("clock.invariant") == "no":
        said.append(
            "The clock is not invariant on this machine: its rate can change, so a cycle is not a "
            "constant time."
        )
    return said


def _means_text(document):
    if not is_trimmed(document):
        return "Raw, net and net per packet are means of all slices: the input has no trimmed ones."
    return (
        "Raw, net and net per packet are trimmed means: without up to 5 % of the slices at either "
        "end. A few slices that were interrupted or preempted can be longer than all others "
        "together and would decide the mean; they are in mean net, self mean and max. Of fewer "
        "than 20 slices none is left out. The slices that take the most time in total come first. "
        "A percentile for which there are too few slices is a dash."
    )


def _figures(document):
    columns = [
        ("slice", False),
        ("unit of measurement", False),
        ("slices", True),
        ("raw", True),
        ("net \u00b1 95 %", True),
        ("mean net", True),
        ("p50", True),
        ("p90", True),
        ("p99", True),
        ("p99.9", True),
        ("max", True),
        ("self mean", True),
        ("net per packet \u00b1 95 %", True),
    ]
    rows = []
    for entry in by_cost(document):
        where = f"{entry['file']}:{entry['line']}" if entry["file"] else ""
        for i, value in enumerate(entry["values"]):
            net = value["net"]
            name = entry["name"] + (" ?" if entry.get("incomplete") else "")
            rows.append(
                [
                    (name, where) if i == 0 else "",
                    value["unit"]
                    if value["field"] == "ticks"
                    else f"{value['field']} ({value['unit']})"
                    if value["field"] != value["unit"]
                    else value["unit"],
                    count(value["count"]),
                    number(raw_mean(value)),
                    with_error(*net_mean(value)),
                    number(net["mean"]),
                    *(number(net[k]) for k in ("p50", "p90", "p99", "p999", "max")),
                    number((value["self"] or {}).get("mean")),
                    with_error(*net_per_packet(value)),
                ]
            )
    said = [_means_text(document)]
    if any(exceeds_raw(entry) for entry in document["slices"]):
        said.append(OVERLAP)
    return "".join(f"<p>{page.escaped(text)}</p>" for text in said) + page.table(columns, rows)


def _classes(document):
    keys = (
        "migrated",
        "below_noise",
        "spans_loss",
        "crossed",
        "unmatched_start",
        "unmatched_stop",
        "too_deep",
    )
    columns = [
        ("slice", False),
        ("slices", True),
        ("migrated", True),
        ("below noise", True),
        ("spans a loss", True),
        ("crossed", True),
        ("START without STOP", True),
        ("STOP without START", True),
        ("too deep", True),
    ]
    return page.table(
        columns,
        [[e["name"], count(e["count"]), *(count(e[k]) for k in keys)] for e in by_cost(document)],
    )


def _losses_by_cpu(document):
    causes = list(document["losses"]["lost"])
    columns = [
        ("CPU", False),
        ("issued", True),
        ("drained", True),
        *((f"lost: {loss_text.cause_text(c)}", True) for c in causes),
    ]
    return page.table(
        columns,
        [
            [
                str(c["cpu"]),
                count(c["issued"]),
                count(c["drained"]),
                *(count(c["lost"].get(k)) for k in causes),
            ]
            for c in document["losses"]["by_cpu"]
        ],
    )


def _calibration(document):
    columns = [
        ("phase", False),
        ("CPU", False),
        ("probe", False),
        ("field", False),
        ("inner \u00b1 95 %", True),
        ("outer \u00b1 95 %", True),
        ("inner hidden", True),
        ("outer hidden", True),
        ("inner overtaking", True),
        ("samples", True),
        ("trimmed", True),
    ]
    rows = [
        [
            phase,
            str(e.get("cpu", "any")),
            e["kind"],
            e["field"],
            with_error(e["inner"], e["inner_ci95"]),
            with_error(e["outer"], e["outer_ci95"]),
            number(e.get("inner_hidden")),
            number(e.get("outer_hidden")),
            number(e.get("inner_overtaking")),
            count(e["samples"]),
            count(e["trimmed"]),
        ]
        for phase in ("start", "end")
        for e in document["calibration"][phase] or []
    ]
    return page.table(columns, rows)


def tables(document):
    made = [
        ("figures", "Table of figures", _figures(document)),
        ("classes", "Slices by class", _classes(document)),
    ]
    if document["marks"]:
        columns = [
            ("mark", False),
            ("count", True),
            ("mean", True),
            ("min", True),
            ("max", True),
            ("sum", True),
        ]
        made.append(
            (
                "marks",
                "Marks",
                page.table(
                    columns,
                    [
                        [
                            m["name"],
                            count(m["count"]),
                            *(number(m[k]) for k in ("mean", "min", "max", "sum")),
                        ]
                        for m in document["marks"]
                    ],
                ),
            )
        )
    if document["losses"]["by_cpu"]:
        made.append(("losses", "Losses by CPU", _losses_by_cpu(document)))
    if document["calibration"] and (
        document["calibration"]["start"] or document["calibration"]["end"]
    ):
        made.append(("calibration", "Calibration: cost of the probes", _calibration(document)))
    return made
