# SPDX-License-Identifier: MIT
# mapi-cost run -> head and tables of its page.
import os

from .. import loss_text, page
from ..text import count, number, plural, share, with_error
from . import additive, live
from .facts import clock_text, paper_figure, row_names, samples_text


def title(document):
    capture = os.path.basename(document["capture"]["path"]) or "capture"
    return f"Cost of monitoring functions: {capture}"


def lead(document):
    return (
        samples_text(document, document["rows"])
        + ". The measured cost of the probes is subtracted from net figures and included in raw "
        "figures. Figures of 2004 that included the cost of the PAPI reads have it taken out."
    )


def facts(document):
    capture, machine, losses = document["capture"], document["machine"], document["losses"]
    size = [f"{count(capture['packets'])} packets"] if capture["packets"] is not None else []
    if capture["mean_bytes"] is not None:
        size.append(f"{number(capture['mean_bytes'])} bytes on average")
    return [
        (
            "Live device" if document["live"] else "Capture",
            capture["path"] + (f" ({', '.join(size)})" if size else ""),
        ),
        *live.facts(document),
        ("Machine", machine["cpu"]),
        ("Kernel", machine["kernel"]),
        ("Virtualised", machine["virtualised"]),
        ("Clock", clock_text(document)),
        ("Cycles", document["sources"]["cycles"]),
        (
            "Counter source",
            document["sources"]["instructions"] or "none: instructions were not measured",
        ),
        (
            "Losses",
            f"{loss_text.counts_text(losses)} "
            + loss_text.equation_text(losses)
            + _left_out(losses),
        ),
    ]


def _left_out(losses):
    return (
        (
            f" {plural(losses['units_left_out'], 'unit')} of {count(losses['units'])} left out of "
            "the figures."
        )
        if losses["units_left_out"]
        else ""
    )


def incomplete(document):
    """Sentences on why the report is incomplete, each with a remedy."""
    said = []
    if document["interrupted"]:
        said.append(
            f"mapi-cost was interrupted: {plural(len(document['rows']), 'row')} of the cost table "
            "are here, the rest is missing; let `mapi-cost -r CAPTURE -w FILE` run to "
            "completion."
        )
    if not document["rows"]:
        said.append(
            "The run has no rows, so there is nothing to draw; let `mapi-cost -r CAPTURE -w "
            "FILE` run to completion."
        )
    return said + loss_text.gaps(document["losses"])


def warnings(document):
    said = loss_text.warnings(document["losses"]) + live.warnings(document)
    if document["capture"]["damage"]:
        unread = (
            f", {plural(document['capture']['unread_bytes'], 'byte')} not read"
            if document["capture"]["unread_bytes"]
            else ""
        )
        said.append(
            f"The capture is damaged: {document['capture']['damage']}{unread}. The figures cover "
            "the packets that could be read."
        )
    return said


def _measured(measured):
    if measured is None:
        return [number(None)] * 2
    return [number(measured["raw"]), with_error(measured["net"], measured["ci95"])]


def _old(row, kind):
    return [number(paper_figure(row, card, kind)) for card in ("scampi", "intel")]


def figures_table(chosen):
    """Rows of a run beside those of 2004."""
    columns = [
        ("table", True),
        ("scenario", False),
        ("instr. raw", True),
        ("instr. net \u00b1 95 %", True),
        ("2004 SCAMPI", True),
        ("2004 Intel", True),
        ("cycles raw", True),
        ("cycles net \u00b1 95 %", True),
        ("2004 SCAMPI", True),
        ("2004 Intel", True),
        ("packets", True),
    ]
    rows = [
        [
            str(r["table"]),
            name,
            *_measured(r["instructions"]),
            *_old(r, "instructions"),
            *_measured(r["cycles"]),
            *_old(r, "cycles"),
            count((r["cycles"] or r["instructions"] or {}).get("packets")),
        ]
        for r, name in zip(chosen, row_names(chosen))
    ]
    return page.table(columns, rows)


def tables(document):
    made = [("figures", "Table of figures", figures_table(document["rows"]))]
    rated = [
        (r, name) for r, name in zip(document["rows"], row_names(document["rows"])) if r["rates"]
    ]
    if rated:
        columns = [
            ("scenario", False),
            ("packets per second, one core", True),
            ("line", False),
            ("frame size", True),
            ("packets per second at line rate", True),
            ("share of the line rate", True),
            ("Gbit/s", True),
        ]
        rows = [
            [
                name if i == 0 else "",
                number(r["rates"]["packets_per_second"]) if i == 0 else "",
                f"{number(line['gbit'])}G",
                f"{number(line['frame_bytes'])} bytes",
                number(line["line_packets_per_second"]),
                share(line["share"]),
                number(line["gbit_per_second"]),
            ]
            for r, name in rated
            for i, line in enumerate(r["rates"]["lines"] or [])
        ]
        made.append(("rates", "Sustainable rates", page.table(columns, rows)))
    return made + live.tables(document) + additive.tables(document)
