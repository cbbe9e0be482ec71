#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs fuzz targets for a limited time each, on inputs made from real captures -> a line for each;
ends with 1 if something was found, which is kept as a file."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

import corpus

LENGTH_MAX = {
    "capture_file": 100000,
    "file_reader": 100000,
    "exports": 100000,
    "elf_functions": 30000,
    "headers": 2000,
    "invariant_bytes": 2000,
    "anonymize": 2000,
    "match": 3000,
    "ebpf": 4000,
    "config": 4000,
}
OTHER_LENGTH_MAX = 6000
# Their warnings would fill the log; libFuzzer's own output stays.
QUIET = {"exports"}


def arguments():
    parser = argparse.ArgumentParser(
        description="Runs fuzz targets for a limited time each, on inputs made from real captures."
    )
    parser.add_argument("--bin", required=True, help="folder of the targets")
    parser.add_argument(
        "--work", required=True, help="folder for inputs and findings; existing contents are reused"
    )
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("targets", nargs="*", help="default: all")
    return parser.parse_args()


def run(target, options):
    """Exit code, runs, coverage, and the log."""
    folder = pathlib.Path(options.work)
    log_path = folder / f"{target}.log"
    findings = folder / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    command = [
        f"{options.bin}/{target}_fuzz",
        f"-max_total_time={options.seconds}",
        f"-max_len={LENGTH_MAX.get(target, OTHER_LENGTH_MAX)}",
        "-timeout=20",
        "-rss_limit_mb=4096",
        f"-artifact_prefix={findings}/{target}-",
        "-print_final_stats=1",
        f"-close_fd_mask={2 if target in QUIET else 0}",
        str(folder / target),
    ]
    with open(log_path, "wb") as log:
        code = subprocess.run(command, stdout=log, stderr=log, check=False).returncode
    text = log_path.read_text(errors="replace")
    coverage = re.findall(r"cov: (\d+)", text)
    runs = re.search(r"number_of_executed_units: (\d+)", text)
    return code, int(runs[1]) if runs else 0, int(coverage[-1]) if coverage else 0, log_path


def main():
    options = arguments()
    targets = options.targets or sorted(
        path.name[: -len("_fuzz")] for path in pathlib.Path(options.bin).glob("*_fuzz")
    )
    missing = [
        target for target in targets if not os.access(f"{options.bin}/{target}_fuzz", os.X_OK)
    ]
    if missing:
        sys.exit(f"run_fuzz: no target '{missing[0]}' in {options.bin}")
    counts = corpus.make(options.work, pathlib.Path(options.bin).parent / "tests")
    print(
        f"{'target':<14}{'inputs':>8}{'runs':>12}{'coverage':>10}{'seconds':>9}  result", flush=True
    )
    failed = []
    for target in targets:
        begin = time.monotonic()
        code, runs, coverage, log = run(target, options)
        print(
            f"{target:<14}{counts.get(target, 0):>8}{runs:>12}{coverage:>10}"
            f"{time.monotonic() - begin:>9.0f}  "
            f"{'nothing found' if code == 0 else f'ended with {code}: {log}'}",
            flush=True,
        )
        if code != 0:
            failed.append(target)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
