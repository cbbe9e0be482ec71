# SPDX-License-Identifier: MIT
# Members of the report's stored values.
from . import costs, memory

SCHEMA = "netslice-budget-1"
SHAPE = {
    "schema": "s",
    "rate": "w",
    "frame_bytes": "n",
    "costs?": costs.SHAPE,
    "memory": memory.SHAPE,
}
