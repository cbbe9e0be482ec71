#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""read_results_bench through a mapid: the same figure under its own name."""

import json
import subprocess
import sys

from own_mapid import run_through


def main():
    program, mapid, capture = sys.argv[1:4]
    done = run_through(mapid, [program, capture], stdout=subprocess.PIPE, text=True)
    if done.returncode == 0:
        print(
            json.dumps(json.loads(done.stdout) | {"figure": "mapi_read_results_through_mapid_ns"})
        )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
