# SPDX-License-Identifier: MIT
# Losses by rate -> the bracket of the highest rate without loss, and a search in it.


def bracket(losses):
    """losses: (rate, lost) by rising rate -> (highest rate up to which nothing was lost, or None,
    first rate with a loss, or None)."""
    free = None
    for rate, lost in losses:
        if lost:
            return free, rate
        free = rate
    return free, None


def searched(free, lossy, steps, has_loss):
    """Halves the bracket's steps until one is left -> the highest rate without loss.  has_loss is
    called with a rate."""
    low, high = 0, steps
    while high - low > 1:
        middle = (low + high) // 2
        if has_loss(round(free + (lossy - free) * middle / steps)):
            high = middle
        else:
            low = middle
    return round(free + (lossy - free) * low / steps)
