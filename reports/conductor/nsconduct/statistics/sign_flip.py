# SPDX-License-Identifier: MIT
# Paired differences -> p value, estimate and interval by flips of their signs.
#
# If two variants are the same, each round's difference has either sign with equal probability,
# because their order in the round is random.  All 2^n flips of the signs then are equally probable,
# whatever the noise and the drift between rounds, and the test is exact.  What is summed up is not
# the difference but a score of it (Tukey's biweight): proportional to it while it is small, and
# next to nothing if it is farther from zero than five times the median.  So rounds that were
# disturbed neither hide a difference nor make one.  Next to nothing, not zero: of few rounds, each
# makes the levels that the test can reach finer, without which it would reject too seldom.
import math

import numpy as np

from .distribution import LEVEL, Shift, two_sided

FEWEST = 6  # differences: of 5, the smallest two-sided p value is 0.0625
REACH = 5  # medians of the sizes, about 3.4 standard deviations of normal differences
MOST_EXACT = 200  # differences; the sum of more scores is normal
_STEPS = 100  # of the estimate; it needs about ten
_PRECISE = 1e-3  # of the usual size: far less than any interval is wide
_STEEP = 25 / 16 * math.sqrt(5)  # makes the greatest score, at a share of 1 / sqrt(5), 1
_SUM = 20_000  # of the scores of few differences, so that few flips have the same sum
_LEAST_GREATEST = 100  # score, of many


def _scores(differences):
    """Whole numbers, of the sizes alone: a flip does not change them."""
    sizes = np.abs(differences)
    share = np.minimum(sizes / (REACH * _size(differences)), 1.0)
    greatest = max(_LEAST_GREATEST, _SUM // len(sizes))
    scores = np.rint(greatest * _STEEP * share * (1 - share**2) ** 2).astype(int)
    return np.where(sizes > 0, np.maximum(scores, 1), 0)


def _distribution(scores):
    """Probabilities of the sum of these scores, each taken or not as a coin decides."""
    found = np.zeros(int(np.sum(scores)) + 1)
    found[0] = 1.0
    for score in scores[scores > 0]:
        found[score:] = (found[score:] + found[:-score]) / 2
        found[:score] /= 2
    return found


def p_value(differences):
    differences = np.asarray(differences, dtype=float)
    if not differences.any():
        return 1.0
    scores = _scores(differences)
    observed = int(np.sum(scores[differences > 0]))
    if np.count_nonzero(scores) <= MOST_EXACT:
        return two_sided(_distribution(scores), observed)
    spread = math.sqrt(float(np.sum(scores**2))) / 2
    return math.erfc(abs(observed - np.sum(scores) / 2) / spread / math.sqrt(2))


def _size(differences):
    """A usual distance from zero."""
    sizes = np.abs(differences)
    return float(np.median(sizes[sizes > 0])) if sizes.any() else 0.0


def _estimate(differences):
    """The shift after which the scores of both signs are in balance, found from the median on."""
    middle = float(np.median(differences))
    for _ in range(_STEPS):
        left = differences - middle
        size = _size(left)
        if size == 0:
            break
        share = np.minimum(np.abs(left) / (REACH * size), 1.0)
        weights = (1 - share**2) ** 2
        step = float(np.sum(weights * left) / np.sum(weights))
        middle += step
        if abs(step) < _PRECISE * size:
            break
    return middle


def _end(differences, middle, step):
    """The end of the interval in the direction of the step.  Zero, the shift of the verdict, is on
    the side of the end where the p value has it."""
    inside, outside = middle, middle + step
    if middle * step < 0:  # zero is in this direction
        if p_value(differences) <= 1 - LEVEL:
            outside = 0.0
        elif abs(middle) > abs(step):
            inside, outside = 0.0, step
    while outside != 0.0 and p_value(differences - outside) > 1 - LEVEL:
        inside, outside = outside, outside + 2 * (outside - inside)
    while abs(outside - inside) > _PRECISE * abs(step):
        between = (inside + outside) / 2
        if between in (inside, outside):
            break
        if p_value(differences - between) > 1 - LEVEL:
            inside = between
        else:
            outside = between
    return inside


def shift(differences):
    """With the interval of the shifts that the test does not reject."""
    differences = np.asarray(differences, dtype=float)
    if len(differences) < FEWEST:
        raise ValueError(f"{len(differences)} differences have no 95 % interval")
    middle = _estimate(differences)
    step = 2 * _size(differences - middle) / math.sqrt(len(differences))
    if step == 0:  # all are equal
        return Shift(middle, (middle, middle), p_value(differences))
    ends = _end(differences, middle, -step), _end(differences, middle, step)
    return Shift(middle, ends, p_value(differences))
