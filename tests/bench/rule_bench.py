#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Input for rule_bench: the capture in the page cache, and rules with contents.  The program prints
the figure."""

import os
import subprocess
import sys

from big_capture import big_capture, load, shared_data


def main():
    program, source, build = sys.argv[1:4]
    rules = os.path.join(shared_data(source), "rule-packets", "snort220_AB.rules")
    if not os.path.exists(rules):
        print(f"no rules in {os.path.dirname(rules)}", file=sys.stderr)
        return 77
    capture = big_capture(source, build)
    load(capture)
    return subprocess.run([program, capture, rules], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
