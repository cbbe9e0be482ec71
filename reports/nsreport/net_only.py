# SPDX-License-Identifier: MIT
# Stats -> stats whose fields all have a net value: uncalibrated fields are left out, with a
# sentence that says so.
from .errors import EXIT_INPUT, ReportError


def keep_net(document, name, remedy):
    """Changes the document; returns sentences. Raises ReportError, with the remedy, when no field
    is left to draw."""
    left_out = {}
    for entry in document["slices"]:
        for value in entry["values"]:
            if value["net"] is None:
                left_out.setdefault(value["field"], value["unit"])
    kept = [
        [value for value in entry["values"] if value["field"] not in left_out]
        for entry in document["slices"]
    ]
    if left_out and not any(kept):
        raise ReportError(
            EXIT_INPUT,
            f"{name}: has raw figures only, because the probes' cost was not calibrated, and "
            f"pictures show net figures ({remedy})",
        )
    for entry, values in zip(document["slices"], kept):
        entry["values"] = values
    return [
        (
            f"{field} ({unit}) was not calibrated and has no net value; it is left out of the "
            "tables and pictures."
        )
        for field, unit in left_out.items()
    ]
