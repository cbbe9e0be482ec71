# SPDX-License-Identifier: MIT
# Loss counts -> sentences shown with every picture.
from .text import count, plural, share

CAUSES = {
    "full": "ring full",
    "overwritten": "overwritten by newer records",
    "busy": "ring busy (nested writer)",
    "closed": "session closed",
    "write": "file could not be written",
    "torn": "torn (writer was killed)",
}


def cause_text(cause):
    return CAUSES.get(cause, cause)


def lost_total(losses):
    return sum((losses.get("lost") or {}).values())


def counts_text(losses):
    issued = losses.get("issued")
    if issued is None:
        return (
            f"issued unknown, drained {count(losses['drained'])}, known lost "
            f"{count(lost_total(losses))}."
        )
    return (
        f"issued {count(issued)}, drained {count(losses['drained'])}, lost "
        f"{count(lost_total(losses))}."
    )


def equation_text(losses):
    holds = losses.get("equation_holds")
    if holds is None and losses.get("kernel_totals_missing"):
        return (
            "The kernel's totals are missing, so the loss equation cannot be checked and losses "
            "may be larger; record again."
        )
    if holds is None:
        return (
            "The trace has no footer, so the loss equation cannot be checked and losses may be "
            "larger; record again and let the recorder finish."
        )
    if holds:
        return "Issued = drained + lost holds."
    return (
        "Issued does not equal drained + lost: some records are missing without a cause. Treat "
        "the figures with care or record again."
    )


def loss_line(losses):
    """One sentence for the line under a picture."""
    issued, lost = losses.get("issued"), lost_total(losses)
    if losses.get("equation_holds") is None:
        return (
            f"{plural(lost, 'record')} known lost "
            f"({'no kernel totals' if losses.get('kernel_totals_missing') else 'no footer'}: may "
            "be more)"
        )
    if losses["equation_holds"] is False:
        return (
            f"{plural(lost, 'record')} lost with a known cause, but the loss equation does not hold"
        )
    if lost == 0:
        return (
            f"no record lost ({count(issued)} issued)" if issued is not None else "no record lost"
        )
    causes = ", ".join(f"{cause_text(c)} {n:,}" for c, n in losses["lost"].items() if n)
    part = f" = {share(lost / issued)}" if issued else ""
    return f"{plural(lost, 'record')} lost{part} ({causes})"


def warnings(losses):
    """Sentences on lost records that were counted."""
    return (
        [loss_line(losses)[0].upper() + loss_line(losses)[1:] + "."] if lost_total(losses) else []
    )


def gaps(losses):
    """Sentences on missing records that were not counted; none when every record is accounted
    for."""
    said = []
    if not losses.get("equation_holds"):
        said.append(equation_text(losses))
    damage = [
        (losses.get("damaged_bytes"), "damaged byte"),
        (losses.get("damaged_chunks"), "damaged chunk"),
        (losses.get("missing_chunks"), "missing chunk"),
    ]
    found = [plural(n, noun) for n, noun in damage if n]
    if found:
        said.append(
            "The trace is damaged: "
            + ", ".join(found)
            + ". The figures cover the part that could be read."
        )
    return said
