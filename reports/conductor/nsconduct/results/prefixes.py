# SPDX-License-Identifier: MIT
# Values of one table -> a unit with the prefix that makes them readable: Mbits/s, ms.

_UNITS = ("bits/s", "bytes/s", "packets/s", "bits", "bytes", "packets", "s")
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n"))


def scaled(unit, values):
    """Factor to multiply with, and unit.  Seconds get no larger prefix, counts no smaller one."""
    largest = max((abs(value) for value in values if value is not None), default=0)
    if unit not in _UNITS or not largest:
        return 1, unit
    allowed = [p for p in _PREFIXES if (p[0] <= 1 if unit == "s" else p[0] >= 1)]
    scale, prefix = next((p for p in allowed if largest >= p[0]), allowed[-1])
    return 1 / scale, prefix + unit
