# SPDX-License-Identifier: MIT
# Documents of a result folder -> what is wrong with them: they may come from elsewhere.
_MOST = 1e100  # statistics add squares of values


def is_number(value):
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_one and abs(value) <= _MOST


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _are_texts(value):
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _are_values(value):
    """{name: {"value": number, "unit": text}}"""
    return isinstance(value, dict) and all(
        isinstance(one, dict) and is_number(one.get("value")) and isinstance(one.get("unit"), str)
        for one in value.values()
    )


def _is_collected(value):
    """{player: {collector: {...}}}"""
    return isinstance(value, dict) and all(
        isinstance(one, dict) and all(isinstance(figures, dict) for figures in one.values())
        for one in value.values()
    )


def _is_environment(value):
    """{} or {"players": {name: {...}}, ...}"""
    players = value.get("players", {}) if isinstance(value, dict) else None
    return isinstance(players, dict) and all(isinstance(one, dict) for one in players.values())


def _is_process(value):
    """None, or {"name": text, "share": number}"""
    return value is None or (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and is_number(value.get("share"))
    )


def _is_share(value):
    return value is None or is_number(value)


_KEY = {
    "round": _is_whole,
    "variant": lambda value: isinstance(value, str),
    "warmup": lambda value: isinstance(value, bool),
}
_TRIAL = {
    **_KEY,
    "status": lambda value: value in ("ok", "failed"),
    "failure": lambda value: value is None or isinstance(value, str),
    "values": _are_values,
}
_OF_LATER_TRIALS = {
    "collected": _is_collected,
    "load_by_others": _is_share,
    "steal": _is_share,
    "busiest_other": _is_process,
}
_EXPERIMENT = {"name": lambda value: isinstance(value, str), "variants": _are_texts}
_OF_LATER_EXPERIMENTS = {"values": _are_texts, "environment": _is_environment}
_CONTINUED = {
    "files": lambda value: isinstance(value, dict),
    "players": lambda value: isinstance(value, dict),
    "seed": lambda value: isinstance(value, int),
}


def _first(document, required, optional):
    if not isinstance(document, dict):
        return "not an object"
    for name, is_right in required.items():
        if not is_right(document.get(name)):
            return f'"{name}" is missing or of another kind'
    for name, is_right in optional.items():
        if name in document and not is_right(document[name]):
            return f'"{name}" is of another kind'
    return None


def trial_problem(document):
    """The problem of a line of trials.jsonl, or None."""
    return _first(document, _TRIAL, _OF_LATER_TRIALS)


def step_problem(document):
    """The problem of a line of steps.jsonl, or None."""
    return _first(document, _KEY, {})


def continued_problem(document):
    """The problem of experiment.json if trials are to be added to it, or None."""
    return _first(document, _CONTINUED, {})


def experiment_problem(document):
    """The problem of experiment.json, or None."""
    return _first(document, _EXPERIMENT, _OF_LATER_EXPERIMENTS)
