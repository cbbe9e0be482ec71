# SPDX-License-Identifier: MIT
# nsreport --budget: an input with costs and the latencies of this machine -> document.
from .. import source
from ..errors import shown
from . import costs, memory, plan
from .line import Line, line_text


def announced(options):
    line = line_text(Line(options.rate, options.frame_bytes))
    if options.memory:
        return f"budget of a packet at {line}"
    return (
        f"budget of a packet at {line}; measuring the cache misses of one CPU (nscalibrate "
        "--memory), less than a minute. Ctrl-C ends it"
    )


def measured(program, options, tell):
    nscalibrate = None if options.memory else memory.find(program)
    given = None
    if options.costs:
        opened = source.open_source(options.costs, program, options.calibration)
        given = costs.costs_of(opened, shown(options.costs))
    if nscalibrate:
        tell("measuring loads from caches and memory")
    return {
        "schema": plan.SCHEMA,
        "rate": options.rate,
        "frame_bytes": options.frame_bytes,
        "costs": given,
        "memory": memory.measured(nscalibrate) if nscalibrate else memory.read(options.memory),
    }
