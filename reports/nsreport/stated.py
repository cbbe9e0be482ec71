# SPDX-License-Identifier: MIT
# A message of nsdump -> whether the page states the same finding in its own words, from the JSON.
import re


def _has_damage(document):
    losses = document["losses"]
    return any(losses[key] for key in ("damaged_bytes", "damaged_chunks", "missing_chunks"))


def _has_drift(document):
    drift = (document["calibration"] or {}).get("drift") or []
    return any(one["significant"] for one in drift)


# Beginnings of messages, and when the page has the same finding.
_SAME = (
    (r"no footer\b", lambda document: document["trace"]["end"] == "missing"),
    (
        r"the loss equation does not hold",
        lambda document: document["losses"]["equation_holds"] is False,
    ),
    (
        r"the kernel's totals are missing",
        lambda document: document["losses"].get("kernel_totals_missing"),
    ),
    (
        r"(\d+ of \d+ records?|at least \d+ records?) (was|were) lost",
        lambda document: any(document["losses"]["lost"].values()),
    ),
    (
        r"\d+ damaged places?, |\d+ chunks? (is|are) missing|at byte \d+: .* bytes? skipped",
        _has_damage,
    ),
    (r"calibration drift", _has_drift),
    (
        r"the clock rate is not constant",
        lambda document: document["info"].get("clock.invariant") == "no",
    ),
)


def is_stated(line, document):
    return line in (document["incomplete"] or []) or any(
        re.match(beginning, line) and has(document) for beginning, has in _SAME
    )
