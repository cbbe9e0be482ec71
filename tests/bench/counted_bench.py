#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of a record with two counters, with this machine's PMU or in a guest that counts
instructions."""

import os
import pathlib
import subprocess
import sys

SKIP = 77


def in_guest(source, build):
    sys.path.insert(0, str(source / "tests/vm"))
    import guest

    try:
        machine = guest.Arm64Guest(build)
        machine.add("tests/counted_bench")
        result = machine.run("echo 1 >/proc/sys/kernel/perf_user_access\ncounted_bench")
    except guest.Unavailable as lack:
        print(f"no PMU and no guest available: {lack}", file=sys.stderr)
        return SKIP
    print(result.output, end="")
    return result.code


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    here = subprocess.run([program])
    if here.returncode != SKIP:
        sys.exit(here.returncode)
    sys.exit(in_guest(source, os.environ.get("NETSLICE_GUEST_BUILD", source / "build/arm64")))


if __name__ == "__main__":
    main()
