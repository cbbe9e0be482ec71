# SPDX-License-Identifier: MIT
# Simulated trials: noise with and without heavy tails, on a machine that drifts or does not.
import itertools


def normal(random):
    return random.gauss(1, 0.01)


def one_sided(random):
    """Undisturbed trials are alike, and a third of them are disturbed, some by very much."""
    disturbed = 0.005 * random.paretovariate(1.2) if random.random() < 0.3 else 0
    return 1 + 0.004 * abs(random.gauss(0, 1)) + disturbed


def endless(random):
    """Without a mean: a ratio of two normal values."""
    return 1 + 0.005 * abs(random.gauss(0, 1)) / max(1e-6, abs(random.gauss(0, 1)))


def modes(random):
    """A CPU with two speeds."""
    return random.choice((1.0, 1.0, 1.3)) * random.gauss(1, 0.003)


def coarse(random):
    """Values with two digits: many pairs are equal."""
    return round(random.gauss(1, 0.01), 2)


NOISES = (normal, one_sided, endless, modes, coarse)


def steady(_):
    return itertools.repeat(1.0)


def drifting(random):
    """Each trial is slower than the one before by 0.3 %, and by chance up to some percent."""
    level = 1.0
    while True:
        level *= 1.003 + random.gauss(0, 0.01)
        yield level


MACHINES = (steady, drifting)


def experiment(random, rounds, noise, machine, effect=1.0, in_order=False):
    """Two variants' samples by round; the second takes `effect` times as long.  in_order: not in
    random order, but the first always first."""
    samples, level = ({}, {}), machine(random)
    for number in range(1, rounds + 1):
        order = [0, 1]
        if not in_order:
            random.shuffle(order)
        for which in order:
            value = next(level) * noise(random) * (effect if which else 1.0)
            samples[which][number] = value
    return samples
