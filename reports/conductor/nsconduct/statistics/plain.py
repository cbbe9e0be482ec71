# SPDX-License-Identifier: MIT
# Samples -> the figures that need no package.
import statistics


def figures(samples):
    """The deviation has the divisor n - 1."""
    many = len(samples) > 1
    return {
        "samples": list(samples),
        "count": len(samples),
        "min": min(samples, default=None),
        "max": max(samples, default=None),
        "median": statistics.median(samples) if samples else None,
        "mean": statistics.fmean(samples) if samples else None,
        "stddev": statistics.stdev(samples) if many else None,
    }
