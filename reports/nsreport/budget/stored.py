# SPDX-License-Identifier: MIT
# Costs and latencies <-> JSON, from which the page is drawn again, also for another rate and size.
import json

from .. import check
from ..traffic.stored import of_schema, refuse_damaged
from . import plan as own_plan
from .line import LEAST_BYTES, LEAST_RATE, MOST_BYTES, MOST_RATE


def as_text(document):
    return json.dumps(document, indent=1) + "\n"


def _damaged(document):
    """The first member that is not as nsreport writes it."""
    try:
        check.check_shape(own_plan.SHAPE, document)
    except check.ShapeError as error:
        return str(error)
    if not LEAST_RATE <= document["rate"] <= MOST_RATE:
        return "rate"
    if not LEAST_BYTES <= document["frame_bytes"] <= MOST_BYTES:
        return "frame_bytes"
    return ""


def read(path, plan):
    document = of_schema(path, plan.SCHEMA)
    refuse_damaged(path, _damaged(document))
    return document


def shown_for(document, options):
    """The same costs at the rate and size that the command line gives."""
    return {
        **document,
        "rate": options.rate or document["rate"],
        "frame_bytes": options.frame_bytes or document["frame_bytes"],
    }
