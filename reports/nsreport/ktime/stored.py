# SPDX-License-Identifier: MIT
# Times of all runs <-> JSON, from which the page is drawn again without measuring.
import json


def as_text(document):
    """A line for each list of times, so that it can be read and compared."""
    parts = ("programs", "warm", "before", "pauses")
    rest = {key: value for key, value in document.items() if key not in parts}
    lines = [json.dumps(rest, indent=1)[:-2]]
    for part in parts[:2]:
        lines.append(_object(part, document[part].items()))
    before = document["before"].items()
    lines.append(_object("before", [(key, value) for key, value in before]))
    lines.append(f' "pauses": {json.dumps(document["pauses"])}')
    return ",\n".join(lines) + "\n}\n"


def _object(name, items):
    body = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in items)
    return f' "{name}": {{\n{body}\n }}'
