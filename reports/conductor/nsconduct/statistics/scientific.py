# SPDX-License-Identifier: MIT
# The modules that require scipy, imported when first used: loading it takes as long as all else.
import functools
import importlib


@functools.cache
def _module(name):
    try:
        return importlib.import_module(f".{name}", __package__)
    except ImportError:
        return None


def summary():
    """statistics/summary.py, or None without scipy."""
    return _module("summary")


def compare():
    """statistics/compare.py, or None without scipy."""
    return _module("compare")
