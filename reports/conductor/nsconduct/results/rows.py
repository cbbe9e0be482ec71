# SPDX-License-Identifier: MIT
# Trials -> the rows of a long table: one number each.
COLUMNS = ("round", "variant", "warmup", "player", "name", "unit", "value")
_LEFT_OUT = ("cost",)  # of collectors' figures: not the experiment's
_ENDS = {"_s": "s", "_ns": "ns", "_bytes": "bytes", "_packets": "packets", "_hz": "Hz"}


def rows(trials):
    """Failed trials have none.  `player` is None for the values of [Values]."""
    for trial in trials:
        if trial["status"] != "ok":
            continue
        head = (trial["round"], trial["variant"], trial["warmup"])
        for name, value in trial["values"].items():
            yield (*head, None, name, value["unit"], float(value["value"]))
        for name in ("load_by_others", "steal"):
            if trial.get(name) is not None:
                yield (*head, None, name, "fraction", float(trial[name]))
        for player, collected in trial.get("collected", {}).items():
            for name, number in _numbers(collected):
                yield (*head, player, name, _unit(name), number)


def _numbers(figures, prefix=""):
    """Figures within figures -> (name.name.name, number)."""
    pairs = figures.items() if isinstance(figures, dict) else _named(figures)
    for name, value in pairs:
        if name in _LEFT_OUT:
            continue
        if isinstance(value, (dict, list)):
            yield from _numbers(value, f"{prefix}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield f"{prefix}{name}", float(value)


def _named(entries):
    """Entries of a list by their name, or by their place if they have none."""
    for place, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        yield name or str(place), entry


def _unit(name):
    """Names of collectors' figures end in their unit, or are counts."""
    last = name.rsplit(".", 1)[-1]
    parent = name.rsplit(".", 2)[-2] if "." in name else ""
    if last in ("seconds",):
        return "s"
    for end, unit in _ENDS.items():
        if last.endswith(end) or parent.endswith(end):
            return unit
    return "count"
