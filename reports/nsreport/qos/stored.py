# SPDX-License-Identifier: MIT
# Measured steps <-> JSON, from which the page is drawn again without measuring.
from ..traffic.checked import read
from ..traffic.stored import as_text
from . import plan

__all__ = ["as_text", "new", "read"]


def new(options):
    return {
        "schema": plan.SCHEMA,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "points": [],
    }
