# SPDX-License-Identifier: MIT
# Times of ktime runs whose terms are known, as nsreport stores them.
from nsreport.ktime import plan

# ns of a warm packet, and in addition at packet 1
STATISTICS, STATISTICS_COLD = 50, 200
OUTSIDE, OUTSIDE_COLD = 40, 150  # of the two calls of the clock
INSIDE, INSIDE_COLD = 40, 10
MAP, MAP_COLD = 45, 700
EVENT, EVENT_COLD = 2, 1
CHECKSUM, PACKET_COLD = 20, 400
SUM = STATISTICS + STATISTICS_COLD + OUTSIDE + OUTSIDE_COLD + MAP + MAP_COLD + EVENT + EVENT_COLD
WARM_SUM = STATISTICS + OUTSIDE + MAP + EVENT


def _times(program, is_first):
    """run_ns and clock_ns without noise."""
    variant, number = program.split("_")[0], int(program.split("_")[1])
    cold = int(is_first)
    work = number * CHECKSUM + (PACKET_COLD * cold if number else 0)
    run, clock = STATISTICS + STATISTICS_COLD * cold + work, work
    event = EVENT + EVENT_COLD * cold
    if variant != "none":
        run += event
    if variant in ("full", "first", "clock"):
        run += OUTSIDE + OUTSIDE_COLD * cold + INSIDE + INSIDE_COLD * cold
        clock += INSIDE + INSIDE_COLD * cold
    if variant in ("full", "first", "map"):
        run += MAP + MAP_COLD * cold
    return run, clock + (event if variant == "first" else 0)


def _noise(i):
    """Symmetric, so that trimmed means are exact."""
    return (-3, 3, -1, 1)[i % 4]


def _lists(program, lists, values, is_first, extra_ns):
    run, clock = _times(program, is_first)
    run += extra_ns if program.startswith("full_") and not program.endswith("_0") else 0
    made = {
        "run_ns": [[run + _noise(i) for i in range(values)] for _ in range(lists)],
        "clock_ns": [[clock] * values for _ in range(lists)],
    }
    if not plan.has_clock(program):
        made["clock_ns"] = [[] for _ in range(lists)]
    return made


def document(extra_ns=0):
    """extra_ns: of packet 1 of programs with clock, map and checksums, from no term."""
    programs = plan.programs()
    warm = {p: _lists(p, 4, 20, False, 0) for p in programs}
    before = {}
    for name in plan.BEFORE:
        is_cold = name == "level_3"
        before[name] = {p: _lists(p, 1, 20, is_cold, 0) for p in plan.BEFORE_PROGRAMS}
        for place in before[name].values():
            for key, lists in place.items():
                place[key] = lists[0]
    return {
        "schema": plan.SCHEMA,
        "rounds": 4,
        "runs": 20,
        "programs": {p: _lists(p, 4, 20, True, extra_ns) for p in programs},
        "warm": warm,
        "before": before,
        "pauses": [[1000000, 10000, 1, 10000], [1000000, 0, 0, 0]],
        "timeouts": {},
        "others": {},
        "kernel": "Linux 6.1 x86_64",
        "cpu": "a CPU, 2 CPUs",
        "cpu_number": 1,
        "load": [0.5, 0.6],
        "setting": [0, 0],
        "mode": "native",
        "pause_ns": 250,
        "summed_bytes": 64,
    }
