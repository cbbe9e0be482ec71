# SPDX-License-Identifier: MIT
# Times -> means, trimmed means with their standard errors, percentiles, outliers.
import math
import statistics
from dataclasses import dataclass

TRIM = 0.05  # of the values at either end, as nsdump does
LEVEL = 0.95  # of intervals
OUTLIER_SPREADS = 10  # spreads above the median: farther than noise, such as an interrupt


@dataclass(frozen=True)
class Figure:
    """A mean with its standard error, both in ns, and the degrees of freedom of the error."""

    value: float
    error: float
    degrees: float

    def half_width(self):
        return t_quantile((1 + LEVEL) / 2, self.degrees) * self.error


def t_quantile(probability, degrees):
    """Student's t by an expansion around the normal quantile (Abramowitz and Stegun 26.7.5); exact
    for 1 and 2 degrees of freedom, and within 0.2 % from 3 on.  Below 2 it is that of 1, which is
    wider."""
    if degrees < 2:
        return math.tan(math.pi * (probability - 0.5))
    if degrees == 2:
        a = 2 * probability - 1
        return a * math.sqrt(2 / (1 - a * a))
    z = statistics.NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / degrees**i for i, term in enumerate(terms, 1))


def mean(values):
    """Mean with the usual standard error; that of one value is unknown, and taken as infinite."""
    count = len(values)
    error = statistics.stdev(values) / math.sqrt(count) if count > 1 else math.inf
    return Figure(statistics.fmean(values), error, max(1, count - 1))


def trimmed_mean(values, trim=TRIM):
    """Mean without a share of the values at either end; its standard error is that of Tukey and
    McLaughlin (1963): the deviation of the winsorised values by (1 - 2 trim) sqrt(n)."""
    ordered = sorted(values)
    cut = int(len(ordered) * trim)
    kept = ordered[cut : len(ordered) - cut]
    if len(kept) < 2:
        return mean(ordered)
    winsorised = [kept[0]] * cut + kept + [kept[-1]] * cut
    share = len(kept) / len(ordered)
    error = statistics.stdev(winsorised) / (share * math.sqrt(len(ordered)))
    return Figure(statistics.fmean(kept), error, len(kept) - 1)


def of_clusters(lists):
    """Lists whose values are not independent, such as packets of one attachment -> the mean of
    their trimmed means."""
    return mean([trimmed_mean(values).value for values in lists if values])


def percentile(values, share):
    """By linear interpolation between neighbours."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def median(values):
    """With the distribution-free interval between two ranks, as half of its width."""
    ordered, n = sorted(values), len(values)
    reach = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(n) / 2
    low = max(0, math.floor((n - 1) / 2 - reach))
    high = min(n - 1, math.ceil((n - 1) / 2 + reach))
    return percentile(ordered, 0.5), (ordered[high] - ordered[low]) / 2


def fence(values):
    """Values above it are outliers: median + 10 times the distance from it to the 84th percentile,
    which would be the standard deviation of normal values."""
    middle = percentile(values, 0.5)
    return middle + OUTLIER_SPREADS * max(1.0, percentile(values, 0.8413) - middle)


def outliers(values):
    """(position, value) of each."""
    limit = fence(values)
    return [(i, value) for i, value in enumerate(values) if value > limit]


def summary(values):
    """All that the tables have of one list of times, in ns."""
    trimmed, plain = trimmed_mean(values), mean(values)
    middle, half = median(values)
    return {
        "count": len(values),
        "mean": plain.value,
        "mean_half_width": plain.half_width(),
        "trimmed_mean": trimmed.value,
        "trimmed_half_width": trimmed.half_width(),
        "deviation": statistics.stdev(values) if len(values) > 1 else None,
        **{f"p{p}": percentile(values, p / 100) for p in (1, 10, 25)},
        "median": middle,
        "median_half_width": half,
        **{f"p{p}": percentile(values, p / 100) for p in (75, 90, 99)},
        "least": min(values),
        "greatest": max(values),
        "outliers": len(outliers(values)),
    }


def combined(parts):
    """Sum of (coefficient, Figure) of independent figures; degrees of freedom by Welch (1947) and
    Satterthwaite (1946)."""
    squares = [(coefficient * figure.error) ** 2 for coefficient, figure in parts]
    total = sum(squares)
    weights = sum(
        square / total * (square / total) / figure.degrees
        for square, (_, figure) in zip(squares, parts)
        if 0 < total < math.inf
    )
    return Figure(
        sum(coefficient * figure.value for coefficient, figure in parts),
        math.sqrt(total),
        1 / weights if weights else min(figure.degrees for _, figure in parts),
    )
