# SPDX-License-Identifier: MIT
# Distributions of sums of whole numbers -> p values and what is not rejected; ranks.
from dataclasses import dataclass

import numpy as np

LEVEL = 0.95


@dataclass(frozen=True)
class Shift:
    """How far the second variant's values are from the first's."""

    estimate: float
    interval: tuple
    p_value: float


def doubled_ranks(values):
    """Twice the rank of each value, equal values having the mean of their ranks."""
    values = np.asarray(values, dtype=float)
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    up_to = np.searchsorted(ordered, values, side="right")
    return (below + up_to + 1).astype(int)


def tails(distribution):
    """Probabilities of each sum -> P(sum <= x) and P(sum >= x)."""
    return np.cumsum(distribution), np.cumsum(distribution[::-1])[::-1]


def two_sided(distribution, observed):
    """P(as far from the middle as observed, or farther); the distribution is symmetric."""
    low, high = tails(distribution)
    return float(min(1.0, 2 * min(low[observed], high[observed])))


def rejected_below(distribution):
    """The greatest x with P(sum <= x) <= 2.5 %; -1 if there is none: too few values."""
    low, _ = tails(distribution)
    return int(np.searchsorted(low, (1 - LEVEL) / 2 * (1 + 1e-12), side="right")) - 1
