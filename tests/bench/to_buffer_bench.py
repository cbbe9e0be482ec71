#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Setup for to_buffer_bench: its own mapid, and the capture in the page cache.  The program prints
the figure."""

import sys

from big_capture import big_capture, load
from own_mapid import run_through


def main():
    program, mapid, source, build = sys.argv[1:5]
    capture = big_capture(source, build)
    load(capture)
    return run_through(mapid, [program, capture]).returncode


if __name__ == "__main__":
    sys.exit(main())
