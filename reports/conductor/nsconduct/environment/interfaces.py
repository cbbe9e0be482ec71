# SPDX-License-Identifier: MIT
# Sections of gather.py's text -> the player's network interfaces: driver, speed, offloads.
import re

_FEATURE = re.compile(r"^\s*([\w-]+): (on|off)\b")


def _fields(text):
    pairs = [line.split(":", 1) for line in text.splitlines() if ":" in line]
    return {name.strip(): value.strip() or None for name, value in pairs}


def _offloads(text):
    """Names of the features that are on, as ethtool has them."""
    features = [_FEATURE.match(line) for line in text.splitlines()]
    return sorted(found[1] for found in features if found and found[2] == "on")


def _whole(text):
    return int(text) if text and re.fullmatch(r"\d+", text) else None


def facts(found):
    """{name: {...}}; an unknown speed, as of veth in older kernels, is None."""
    interfaces = {}
    for head, text in found.items():
        kind, _, name = head.partition(" ")
        if kind == "interface":
            fields = _fields(text)
            interfaces[name] = {
                "driver": fields.get("driver"),
                "firmware": fields.get("firmware-version"),
                "mtu": _whole(fields.get("mtu")),
                "mbits_per_s": _whole(fields.get("speed")),
                "offloads": _offloads(found.get(f"offloads {name}", "")),
            }
    return interfaces
