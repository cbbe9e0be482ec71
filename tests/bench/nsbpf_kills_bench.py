#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recorders by BPF that are killed by SIGKILL -> programs, links and maps that they leave."""

import contextlib
import json
import os
import pathlib
import sys
import tempfile


def main():
    source, build = map(pathlib.Path, sys.argv[1:3])
    os.environ["NETSLICE_BUILD"] = str(build)
    os.environ.setdefault("NETSLICE_BIN", str(build / "bin"))
    sys.path.insert(0, str(source / "tests/flow"))
    import nsbpf_record_test as recorder

    with tempfile.TemporaryDirectory(prefix="netslice-nsbpf-") as folder:
        with contextlib.redirect_stdout(sys.stderr):
            has_objects, left = recorder.kill_recorders(
                pathlib.Path(folder) / "k.nsl", recorder.KILLS
            )
    if has_objects == 0:
        sys.exit(f"none of {recorder.KILLS} recorders had programs when it was looked at")
    figure = {
        "figure": "nsbpf_kills_left_objects",
        "value": len(left),
        "bar": 0,
        "sense": "equal",
        "unit": "objects",
        "raw": {"kills": recorder.KILLS, "looks_with_objects": has_objects},
        "note": "recorders killed while they load, calibrate and record; looked at in every 20th",
    }
    print(json.dumps(figure))


if __name__ == "__main__":
    main()
