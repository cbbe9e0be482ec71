# SPDX-License-Identifier: MIT
# Documents of load, mapi-cost, sids and qos runs -> tables and figures of SCAMPI D3.4 (2004).
from ..cost import facts as cost_facts, page as cost_page
from ..load import cost as load_cost, loss as load_loss, page as load_page
from ..qos import page as qos_page, pictures as qos_pictures, plan as qos_plan
from ..sids import page as sids_page, pictures as sids_pictures
from ..text import with_error
from .found import Found, of_id


def loss_by_rate(document, _item):
    return Found(
        summary=load_loss.sentence(document),
        tables=[(heading, html) for _, heading, html in load_loss.tables(document)],
        pictures=["loss_rate"],
        lacking=load_page.warnings(document),
    )


def live_cost(document, _item):
    """Table 2 as packets arrive."""
    lacking = load_page.warnings(document)
    if document.get("no_instructions"):
        why = document["no_instructions"]
        lacking.append(f"Instructions of live traffic are unavailable: {why}.")
    return Found(
        summary="The time of a packet by function on a veth pair, with its way through the kernel.",
        tables=[(heading, html) for _, heading, html in load_cost.tables(document)],
        pictures=["function_cost"],
        lacking=lacking,
    )


def _cost(document, table, what, pictures):
    rows = [row for row in document["rows"] if row["table"] == table]
    kinds = [kind for kind in ("instructions", "cycles") if any(row[kind] for row in rows)]
    if not rows:
        return Found(summary="No scenario of this table was measured.")
    lacking = []
    if "instructions" not in kinds:
        lacking.append("Instructions are unavailable: no source of their counts.")
    if "TSC" in (document["sources"]["cycles"] or ""):
        lacking.append("Core cycles are unavailable: no PMU; cycles are those of the TSC.")
    name, measured = cost_facts.row_names(rows)[0], rows[0][kinds[0]]
    return Found(
        summary=f"{what}: {len(rows)} scenarios; {name}: "
        f"{with_error(measured['net'], measured['ci95'])} {kinds[0]} net of the probes.",
        tables=[
            (
                "Net of the probes' cost; figures of 2004 without the cost of PAPI",
                cost_page.figures_table(rows),
            )
        ],
        pictures=pictures,
        lacking=lacking,
    )


def packet_cost(document, _item):
    return _cost(document, 2, "The cost of a packet of a capture by function", ["function_cost"])


def call_cost(document, _item):
    return _cost(document, 3, "The cost of a client's calls", ["call_cost"])


def flow_cost(document, _item):
    return _cost(document, 4, "The cost that a further flow adds to each packet", ["flow_cost"])


def _rules(document, figure):
    return Found(
        summary=sids_pictures.sentence(document, figure),
        tables=of_id(sids_page.tables(document), f"{figure}-figures"),
        pictures=[sids_pictures.NAMES[figure]],
        lacking=sids_page.warnings(document),
    )


def header_rules(document, _item):
    return _rules(document, "headers")


def pattern_rules(document, _item):
    return _rules(document, "patterns")


def delay(document, _item):
    (rate,) = qos_plan.DELAY_RATES
    return Found(
        summary=qos_pictures.delay_sentence(document, rate) or "No delay was measured.",
        tables=of_id(qos_page.tables(document), "delay-figures"),
        pictures=["delay"],
        lacking=_no_second_instrument(document),
    )


def packet_loss(document, _item):
    said = [qos_pictures.loss_sentence(document, rate) for rate in qos_plan.LOSS_RATES]
    return Found(
        summary=" ".join(filter(None, said)) or "No loss was measured.",
        tables=of_id(qos_page.tables(document), "loss-figures"),
        pictures=["packet_loss"],
        lacking=_no_second_instrument(document),
    )


def _no_second_instrument(document):
    said = "The traffic analyser of 2004 is not here: the node's own log of each packet takes its "
    return [f"{said}place.", *qos_page.warnings(document)]
