# SPDX-License-Identifier: MIT
# Losses by the rate reached -> the bracket of the highest rate without loss, and a search in it.
from ..traffic.figures import REACHED


def bracket(losses):
    """losses: (rate reached, lost) -> (highest rate up to which nothing was lost, or None, lowest
    rate with a loss, or None)."""
    free = None
    for rate, lost in sorted(losses):
        if lost:
            return free, rate
        free = rate
    return free, None


def searched(losses, steps, most_probes, probe):
    """Halves the bracket until it is one of so many steps -> (highest rate without loss, lowest
    rate with a loss, whether the sender was the limit).  probe is called with a rate and returns
    the rate reached and the packets lost."""
    losses = list(losses)
    free, lossy = bracket(losses)
    if free is None or lossy is None:
        return free, lossy, lossy is None
    step = (lossy - free) / steps
    for _ in range(most_probes):
        if free is None or lossy - free < 1.5 * step:
            break
        asked = round((free + lossy) / 2)
        reached, lost = probe(asked)
        if not lost and reached < REACHED * asked:
            return free, lossy, True  # says nothing about the rate that was asked for
        losses.append((reached, lost))
        free, lossy = bracket(losses)
    return free, lossy, False
