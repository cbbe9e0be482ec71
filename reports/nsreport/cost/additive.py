# SPDX-License-Identifier: MIT
# Additive model of a mapi-cost run -> tables of its page: the cost of each term, and how far each
# scenario is from the sum.
from .. import page
from ..text import number, with_error
from .facts import row_names

QUANTITIES = (("instructions", "instr."), ("cycles", "cycles"))
WORDS = {
    "missed": "MISSED by more than the error",
    "untested": "untested: no other scenario to compare with",
}


def _models(document):
    additive = document["additive"] or {}
    return [(name, additive[key]) for key, name in QUANTITIES if additive.get(key)]


def _cost(terms, identity):
    cost = next((t["cost"] for t in terms or [] if t["id"] == identity), None)
    return with_error(cost["value"], cost["ci95"]) if cost else number(None)


def _old(document, card, identity):
    terms = (document["additive"]["paper"] or {}).get(f"{card}_instructions")
    if identity == "known-flow":
        return ", ".join(_old(document, card, known) for known in ("known-filter", "known-search"))
    cost = next((t["cost"] for t in terms or [] if t["id"] == identity), None)
    return number(round(cost["value"], 1)) if cost else number(None)


def _terms(document, models):
    names = {}
    for _, model in models:
        names.update({t["id"]: t["name"] for t in model["terms"] if t["id"] not in names})
    columns = [
        ("term", False),
        *((f"{name} \u00b1 95 %", True) for name, _ in models),
        ("2004 SCAMPI instr.", True),
        ("2004 Intel instr.", True),
    ]
    rows = [
        [
            name,
            *(_cost(model["terms"], identity) for _, model in models),
            _old(document, "scampi", identity),
            _old(document, "intel", identity),
        ]
        for identity, name in names.items()
    ]
    return page.table(columns, rows)


def _scenario_cells(row):
    if row is None:
        return [number(None)] * 4
    model = row["model"]
    difference = with_error(row["residual"], row["residual_ci95"])
    return [
        number(row["net"]),
        number(model["value"]) if model else number(None),
        difference,
        WORDS.get(row["verdict"], row["verdict"]),
    ]


def _scenarios(document, models):
    columns = [("scenario", False)]
    for name, _ in models:
        columns += [
            (f"{name} net", True),
            ("predicted from the others", True),
            ("difference \u00b1 95 %", True),
            ("", False),
        ]
    rows = []
    for row, name in zip(document["rows"], row_names(document["rows"])):
        found = [
            next((s for s in model["scenarios"] if s["id"] == row["id"]), None)
            for _, model in models
        ]
        if any(found):
            rows.append([name, *(cell for one in found for cell in _scenario_cells(one))])
    return page.table(columns, rows)


def tables(document):
    models = _models(document)
    if not models:
        return []
    broken = [name for name, model in models if not model["holds"]]
    heading = "Additive model: cost of each term" + (
        f" (does not hold for {', '.join(broken)}, so these values are approximate)"
        if broken
        else ""
    )
    return [
        ("additive", heading, _terms(document, models)),
        (
            "additive-scenarios",
            "Additive model: each scenario compared with the prediction from the others",
            _scenarios(document, models),
        ),
    ]
