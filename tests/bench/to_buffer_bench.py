#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is put before to_buffer_bench: a mapid of its own, and the capture in the page cache.  The figure is the program's."""
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
