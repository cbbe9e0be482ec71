#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Input for filter_bench: the capture, and the filters whose counts are known."""

import json
import os
import subprocess
import sys

from big_capture import big_capture, shared_data


def filters(source):
    counts = os.path.join(shared_data(source), "EXPECTED_COUNTS.json")
    if os.path.exists(counts):
        with open(counts, encoding="utf-8") as file:
            return [text for text in json.load(file)["filters"] if text]
    with open(
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "filters.txt"), encoding="utf-8"
    ) as lines:
        return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def main():
    program, source, build = sys.argv[1:4]
    expressions = "".join(text + "\n" for text in filters(source))
    return subprocess.run(
        [program, big_capture(source, build)], input=expressions, text=True, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
