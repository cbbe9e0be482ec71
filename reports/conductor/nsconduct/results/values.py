# SPDX-License-Identifier: MIT
# A step's output -> the number that [Values] asks for.
import json
import os
import re

from . import checked

_INDEX = re.compile(r"-?[0-9]{1,9}")
MAX_BYTES = 64 << 20


class ValueMissing(Exception):
    pass


def number(value, record, folder):
    """record: of the value's step."""
    if value.kind == "seconds":
        return record.result.duration_ns / 1e9
    text = _text(os.path.join(folder, record.stdout), record.stdout)
    found = (
        _of_json(text, value.argument, record.stdout)
        if value.kind == "json"
        else _of_expression(text, value.argument, record.stdout)
    )
    if not checked.is_number(found):
        raise ValueMissing(f"{record.stdout}: {str(found)[:20]} is no number for statistics")
    return float(found)


def _text(path, shown):
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ValueMissing(f"{shown}: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise ValueMissing(f"{shown}: longer than {MAX_BYTES} bytes")
    return content.decode(errors="replace")


def _of_json(text, path, shown):
    """path: end.streams.0.sender.bits_per_second"""
    try:
        place = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueMissing(f"{shown}: no JSON: {error}") from error
    for name in path.split("."):
        if isinstance(place, list) and _has(place, name):
            place = place[int(name)]
        elif isinstance(place, dict) and name in place:
            place = place[name]
        else:
            raise ValueMissing(f'{shown}: "{path}": no "{name}"')
    if isinstance(place, bool) or not isinstance(place, (int, float)):
        raise ValueMissing(f'{shown}: "{path}" is no number')
    return place


def _has(place, name):
    return bool(_INDEX.fullmatch(name)) and -len(place) <= int(name) < len(place)


def _of_expression(text, expression, shown):
    """The last match: programs print totals at their end."""
    found = re.findall(expression, text, re.MULTILINE)
    if not found:
        raise ValueMissing(f'{shown}: nothing matches "{expression}"')
    try:
        return float(found[-1])
    except ValueError as error:
        raise ValueMissing(f'{shown}: "{found[-1]}" is no number') from error
