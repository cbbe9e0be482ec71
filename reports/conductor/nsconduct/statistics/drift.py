# SPDX-License-Identifier: MIT
# Samples in the order of their rounds -> whether neighbours are more alike than chance allows.
import math

import numpy as np

from .distribution import doubled_ranks

FEWEST = 10  # samples, for the normal approximation
LIMIT = 0.01  # the share of steady samples that are reported to drift


def p_value(samples):
    """Of independent samples that are as alike: von Neumann's ratio of ranks (Bartels, 1982);
    None for too few samples, or equal ones."""
    n = len(samples)
    if n < FEWEST:
        return None
    ranks = doubled_ranks(samples) / 2
    spread = float(np.sum((ranks - np.mean(ranks)) ** 2))
    if spread == 0:
        return None
    ratio = float(np.sum(np.diff(ranks) ** 2)) / spread
    variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    return math.erfc((2 - ratio) / math.sqrt(2 * variance)) / 2


def drifts(samples):
    found = p_value(samples)
    return found is not None and found < LIMIT
