#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Input for sharing_bench: the capture in the page cache, and a thousand strings from rules.  The
program prints the figures."""

import os
import re
import subprocess
import sys

from big_capture import big_capture, load, shared_data

STRINGS = 1000
SHORTEST_BYTES = 4


def contents_of(rules):
    """The strings of Snort's rules as bytes: text, with hex between pipes."""
    for quoted in re.findall(rb'content:\s*"((?:[^"\\]|\\.)*)"', rules):
        text = b""
        for i, part in enumerate(quoted.split(b"|")):
            text += (
                bytes.fromhex(part.decode("ascii", "ignore"))
                if i % 2
                else re.sub(rb"\\(.)", rb"\1", part)
            )
        yield text


def strings(source):
    found = set()
    for folder, _, names in os.walk(os.path.join(shared_data(source), "rules")):
        for name in names:
            if name.endswith(".rules"):
                with open(os.path.join(folder, name), "rb") as rules:
                    found.update(
                        text
                        for text in contents_of(rules.read())
                        if len(text) >= SHORTEST_BYTES and text[0] != 0
                    )
    if len(found) < STRINGS:  # no rules available
        found = {b"string %06d" % (i * i) for i in range(STRINGS)}
    ordered = sorted(found)
    return [ordered[i * len(ordered) // STRINGS] for i in range(STRINGS)]


def main():
    program, source, build, figure = sys.argv[1:5]
    capture = big_capture(source, build)
    load(capture)
    lines = "".join(text.hex() + "\n" for text in strings(source)) if figure != "ports" else ""
    return subprocess.run(
        [program, figure, capture], input=lines, text=True, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
