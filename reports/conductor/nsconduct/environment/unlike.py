# SPDX-License-Identifier: MIT
# Two environments -> why figures measured in one are not comparable with those of the other.

# What changes figures by itself.  Memory size, microcode's name and interfaces that took no part do
# not.
_MACHINE = {
    "architecture": "architecture",
    "cpu": "CPU",
    "cpus": "number of CPUs",
    "smt": "SMT",
    "hypervisor": "hypervisor",
    "kernel": "kernel",
    "clock_source": "clock source",
}
_FREQUENCY = {
    "governor": "governor",
    "min_khz": "lowest frequency",
    "max_khz": "highest frequency",
    "turbo": "turbo",
}


def _differences(names, first, second, prefix=""):
    for key, words in names.items():
        one, other = first.get(key), second.get(key)
        if one != other:
            yield f"other {words}{prefix} ({_shown(one)}, {_shown(other)})"


def _shown(value):
    return "unknown" if value is None else repr(value) if isinstance(value, str) else str(value)


def _interfaces(first, second):
    """Of the interfaces that both have by name; others were made for the experiment or not."""
    for name in sorted(first.keys() & second.keys()):
        names = {"driver": "driver", "mtu": "MTU", "mbits_per_s": "speed"}
        yield from _differences(names, first[name], second[name], f" of {name}")
        changed = set(first[name].get("offloads", ())) ^ set(second[name].get("offloads", ()))
        if changed:
            yield f"other offloads of {name} ({', '.join(sorted(changed))})"


def _mitigations(first, second):
    changed = [n for n in sorted(first.keys() | second.keys()) if first.get(n) != second.get(n)]
    if changed:
        yield f"other mitigations ({', '.join(changed)})"


def reasons(first, second):
    """Of two machines, as gather.environment() describes them; empty if they are alike."""
    if "unavailable" in first or "unavailable" in second:
        return ["unknown environment"]
    return [
        *_differences(_MACHINE, first, second),
        *_differences(_FREQUENCY, first.get("frequency", {}), second.get("frequency", {})),
        *_mitigations(first.get("mitigations", {}), second.get("mitigations", {})),
        *_interfaces(first.get("interfaces", {}), second.get("interfaces", {})),
    ]


def reasons_of_runs(first, second):
    """Of two experiments: {"players": {name: environment}, "toolkit": version}."""
    players, others = first.get("players", {}), second.get("players", {})
    if not players or not others:
        return ["unknown environment"]
    found = list(_differences({"toolkit": "toolkit version"}, first, second))
    if players.keys() != others.keys():
        found.append(f"other players ({', '.join(sorted(players))}; {', '.join(sorted(others))})")
    for name in sorted(players.keys() & others.keys()):
        found += [f"{name}: {reason}" for reason in reasons(players[name], others[name])]
    return found
