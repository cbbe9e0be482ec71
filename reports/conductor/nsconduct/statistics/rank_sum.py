# SPDX-License-Identifier: MIT
# Two independent lists of samples -> p value, estimate and interval by Wilcoxon's rank sums.
#
# For variants of separate runs, whose rounds have nothing in common.  The test supposes that the
# samples of each run are independent; drift.py finds those that are not.
import math
import statistics

import numpy as np

from .distribution import LEVEL, Shift, doubled_ranks, rejected_below, two_sided

FEWEST = 4  # samples of either: of 3 and 3, the smallest two-sided p value is 0.1
MOST_EXACT_SUMS = 100  # both lists: the distribution has one more dimension


def _distribution(doubled, count):
    """Probabilities of the sum of `count` of these ranks, drawn without replacement."""
    total = int(np.sum(doubled))
    found = np.zeros((count + 1, total + 1))
    found[0, 0] = 1.0
    for drawn, rank in enumerate(doubled):
        # as probabilities: the next rank is one of the `count` by (count - taken) / (n - drawn)
        left = len(doubled) - drawn
        chance = (np.arange(count, -1, -1) / left).clip(0, 1)[:, None]
        taken = found * chance
        found = found - taken
        found[1:, rank:] += taken[:-1, : total + 1 - rank]
    return found[count]


def p_value(first, second):
    doubled = doubled_ranks(np.concatenate((first, second)))
    n, m = len(first), len(second)
    observed = int(np.sum(doubled[n:]))
    if n + m <= MOST_EXACT_SUMS:
        return two_sided(_distribution(doubled, m), observed)
    spread = math.sqrt(n * m / (n + m) * float(np.var(doubled, ddof=1)))
    if spread == 0:
        return 1.0
    return math.erfc(abs(observed - m * float(np.mean(doubled))) / spread / math.sqrt(2))


def _cut(n, m):
    """Which of the ordered differences of all pairs, from either end, bounds the interval."""
    if n + m <= MOST_EXACT_SUMS:
        sums = _distribution(np.arange(1, n + m + 1), m)
        return rejected_below(sums[m * (m + 1) // 2 :]) + 1
    spread = math.sqrt(n * m * (n + m + 1) / 12)
    z = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2)
    return max(0, math.floor(n * m / 2 - z * spread))


def shift(first, second):
    """By how much the second list's values are greater: Hodges and Lehmann's estimate."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    differences = np.sort((second[:, None] - first[None, :]).ravel())
    cut = _cut(len(first), len(second))
    if cut == 0:
        raise ValueError(f"{len(first)} and {len(second)} samples have no 95 % interval")
    return Shift(
        float(np.median(differences)),
        (float(differences[cut - 1]), float(differences[-cut])),
        p_value(first, second),
    )
