# SPDX-License-Identifier: MIT
# Times of all runs <-> JSON, from which the page is drawn again without measuring; and as CSV.
import json

from ..traffic.stored import is_count, is_number, is_text, of_schema, refuse_damaged
from . import plan


def as_text(document):
    """A line for each program, so that it can be read and compared."""
    parts = ("programs", "warm", "before", "pauses")
    rest = {key: value for key, value in document.items() if key not in parts}
    lines = [json.dumps(rest, indent=1)[:-2]]
    lines += [_object(part, document[part]) for part in parts[:3]]
    lines.append(f' "pauses": {json.dumps(document["pauses"])}')
    return ",\n".join(lines) + "\n}\n"


def _object(name, items):
    body = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in items.items())
    return f' "{name}": {{\n{body}\n }}'


def _is_times(value):
    return isinstance(value, list) and len(value) > 0 and all(map(is_count, value))


def _is_pair(place, program, is_list):
    """run_ns and, if the program has a clock, as many clock_ns.  is_list: of one list."""
    if not isinstance(place, dict) or not is_list(place.get("run_ns")):
        return False
    if not plan.has_clock(program):
        return True
    clocks = place.get("clock_ns")
    return is_list(clocks) and _lengths(clocks) == _lengths(place["run_ns"])


def _lengths(lists):
    return [len(one) if isinstance(one, list) else 1 for one in lists]


def _is_lists(value):
    return isinstance(value, list) and len(value) > 0 and all(map(_is_times, value))


def _are(value, programs, is_list):
    return isinstance(value, dict) and all(
        _is_pair(value.get(program), program, is_list) for program in programs
    )


def _is_before(value):
    return isinstance(value, dict) and all(
        _are(value.get(name), plan.BEFORE_PROGRAMS, _is_times) for name in plan.BEFORE
    )


def _is_block(value):
    return isinstance(value, list) and len(value) == 4 and all(map(is_count, value)) and value[0]


def _is_counts(value):
    return isinstance(value, dict) and all(map(is_count, value.values()))


def _list_of(is_member, least=2):
    return lambda value: (
        isinstance(value, list) and len(value) >= least and all(map(is_member, value))
    )


def _is_positive(value):
    return is_count(value) and value > 0


_MEMBERS = {
    "rounds": _is_positive,
    "runs": _is_positive,
    "pause_ns": is_count,
    "summed_bytes": is_count,
    "cpu_number": is_count,
    "kernel": is_text,
    "cpu": is_text,
    "load": _list_of(is_number),
    "setting": _list_of(lambda value: value is None or is_count(value)),
    "timeouts": _is_counts,
    "others": _is_counts,
    "pauses": _list_of(_is_block),
    "programs": lambda value: _are(value, plan.programs(), _is_lists),
    "warm": lambda value: _are(value, plan.programs(), _is_lists),
    "before": _is_before,
}


def damaged(document):
    """The first member that is not as nsreport writes it, or nothing."""
    return next((key for key, is_right in _MEMBERS.items() if not is_right(document.get(key))), "")


def read(path, _plan=plan):
    """The document; refuses any other text."""
    document = of_schema(path, plan.SCHEMA)
    refuse_damaged(path, damaged(document))
    return document


def _run_rows(document):
    for program, place in document["programs"].items():
        for execution, runs in enumerate(place["run_ns"], 1):
            clocks = place["clock_ns"][execution - 1] or [None] * len(runs)
            for turn, (run, clock) in enumerate(zip(runs, clocks), 1):
                yield program, execution, turn, run, clock


def _packet_rows(document):
    for program, place in document["warm"].items():
        for attachment, runs in enumerate(place["run_ns"], 1):
            clocks = place["clock_ns"][attachment - 1] if place["clock_ns"] else []
            clocks = clocks or [None] * len(runs)
            for packet, (run, clock) in enumerate(zip(runs, clocks), 2):
                yield program, attachment, packet, run, clock


def lists(document):
    """Every run, and every packet of the attachments with many, for CSV files."""
    times = ("run_ns", "clock_ns")
    return {
        "runs": (("program", "execution", "run", *times), _run_rows(document)),
        "packets": (("program", "attachment", "packet", *times), _packet_rows(document)),
    }
