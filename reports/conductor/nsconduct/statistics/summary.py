# SPDX-License-Identifier: MIT
# The samples of one variant -> the row of the table: spread, interval, outliers, trials needed.
import math
import statistics

from scipy.special import stdtrit  # quantiles of Student's t; scipy.stats takes a second to import

from . import plain

LEVEL = 0.95  # of intervals
FENCE_IQRS = 3  # Tukey's "far out": beyond the quartiles by three interquartile ranges
FENCE_SAMPLES = 4  # fewer have no quartiles worth the name
MOST_TRIALS = 10**9  # a precision that needs more is not reached by repetition


def t_quantile(degrees):
    """The factor of the standard error in a two-sided interval."""
    return float(stdtrit(degrees, (1 + LEVEL) / 2))


def mean_interval(samples):
    """Of the mean, by Student's t; None for less than two samples."""
    if len(samples) < 2:
        return None
    half = t_quantile(len(samples) - 1) * statistics.stdev(samples) / math.sqrt(len(samples))
    middle = statistics.fmean(samples)
    return [middle - half, middle + half]


def median_interval(samples):
    """Between two ranks, free of assumptions on the distribution; None for fewer than six samples,
    of which not even the extremes enclose the median in 95 % of all cases."""
    ordered, n = sorted(samples), len(samples)
    tail, below = 0.0, -1  # samples that may lie below the interval: the most with tail <= 2.5 %
    for k in range(n // 2):
        tail += math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / 2**n
        if tail > (1 - LEVEL) / 2:
            break
        below = k
    return None if below < 0 else [ordered[below], ordered[n - 1 - below]]


def fences(samples):
    """(low, high): what is outside is an outlier; None if there are too few samples to tell."""
    if len(samples) < FENCE_SAMPLES:
        return None
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    reach = FENCE_IQRS * (high - low)
    return low - reach, high + reach


def outliers(samples):
    """Positions of the samples outside the fences."""
    limits = fences(samples)
    if limits is None:
        return []
    return [i for i, value in enumerate(samples) if not limits[0] <= value <= limits[1]]


def trials_for(samples, precision):
    """Trials after which the half width of the mean's interval is at most that share of the mean,
    if further samples spread as these; None if that is unknown or out of reach."""
    middle = abs(statistics.fmean(samples)) if samples else 0.0
    if len(samples) < 2 or middle == 0:
        return None
    ratio = statistics.stdev(samples) / (precision * middle)
    if ratio**2 > MOST_TRIALS:
        return None
    normal = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2)
    trials = max(2, math.floor((normal * ratio) ** 2))  # t needs a few more
    while t_quantile(trials - 1) * ratio > math.sqrt(trials):
        trials += 1
    return trials


def summarise(samples, rounds=None):
    """All that the tables have of one variant.  Outliers stay in all figures; they are only
    named."""
    rounds = list(range(1, len(samples) + 1)) if rounds is None else rounds
    return {
        **plain.figures(samples),
        "ci95": mean_interval(samples),
        "median_ci95": median_interval(samples),
        "outliers": [{"round": rounds[i], "value": samples[i]} for i in outliers(samples)],
        "trials_for_1_percent": trials_for(samples, 0.01),
    }
