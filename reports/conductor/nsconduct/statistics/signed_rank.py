# SPDX-License-Identifier: MIT
# Paired differences -> p value, estimate and interval by Wilcoxon's signed ranks.
#
# If two variants are the same, each round's difference has either sign with equal probability,
# because their order in the round is random.  So the test is exact for any noise, also one with
# heavy tails, and for any drift between rounds.  Ranks limit what a disturbed round can do.
import math
import statistics
from dataclasses import dataclass

import numpy as np

from .ranks import LEVEL, MOST_EXACT, doubled_ranks, rejected_below, two_sided

FEWEST = 6  # differences: of 5, the smallest two-sided p value is 0.0625


@dataclass(frozen=True)
class Shift:
    """How far the second variant's values are from the first's."""

    estimate: float
    interval: tuple
    p_value: float


def _distribution(doubled):
    """Probabilities of the sum of these ranks, each taken or not as a coin decides."""
    found = np.zeros(int(np.sum(doubled)) + 1)
    found[0] = 1.0
    for rank in doubled:
        taken = np.zeros_like(found)
        taken[rank:] = found[: len(found) - rank] if rank else found
        found = (found + taken) / 2
    return found


def p_value(differences):
    """Zeros have ranks, and then no part in the sum (Pratt, 1959)."""
    differences = np.asarray(differences, dtype=float)
    signed = differences != 0
    if not signed.any():
        return 1.0
    doubled = doubled_ranks(np.abs(differences))[signed]
    observed = int(np.sum(doubled[differences[signed] > 0]))
    if len(doubled) <= MOST_EXACT:
        return two_sided(_distribution(doubled), observed)
    spread = math.sqrt(float(np.sum(doubled.astype(float) ** 2))) / 2
    z = abs(observed - np.sum(doubled) / 2) / spread
    return math.erfc(z / math.sqrt(2))


def _cut(count):
    """Which of the ordered Walsh averages, from either end, bounds the interval; 0: none does."""
    if count <= MOST_EXACT:
        return rejected_below(_distribution(np.arange(1, count + 1))) + 1
    spread = math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
    z = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2)
    return max(0, math.floor(count * (count + 1) / 4 - z * spread))


def shift(differences):
    """Hodges and Lehmann's estimate with the interval of the shifts that the test does not reject:
    ordered means of all pairs (Walsh averages)."""
    differences = np.asarray(differences, dtype=float)
    first, second = np.triu_indices(len(differences))
    averages = np.sort((differences[first] + differences[second]) / 2)
    cut = _cut(len(differences))
    if cut == 0:
        raise ValueError(f"{len(differences)} differences have no 95 % interval")
    return Shift(
        float(np.median(averages)),
        (float(averages[cut - 1]), float(averages[-cut])),
        p_value(differences),
    )
