# SPDX-License-Identifier: MIT
"""Python in builds with AddressSanitizer: its run-time libraries must be loaded before libmapi."""

import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(
    os.environ.get("NETSLICE_BUILD") or pathlib.Path(os.environ["NETSLICE_BIN"]).parent
)


def libraries():
    """The libraries that libmapi needs loaded first; empty in other builds. The sanitizer must find
    C++'s exceptions."""
    listed = subprocess.run(
        ["ldd", BUILD / "lib/libmapi.so"],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
    ).stdout
    paths = [
        line.split()[2] for line in listed.splitlines() if "libasan" in line or "libstdc++" in line
    ]
    return (
        " ".join(sorted(paths, key=lambda path: "libasan" not in path))
        if "libasan" in listed
        else ""
    )


SANITIZER = libraries()
# Another program checks one of this many captures, and takes most of a test's time; all of them
# with NETSLICE_ALL_CAPTURES=1 (./run test release-long).
ONE_IN = 1 if os.environ.get("NETSLICE_ALL_CAPTURES") else 8 if SANITIZER else 4


def begin_with_it():
    """Restarts this program with these libraries; programs that it starts are not affected."""
    if SANITIZER and "libasan" not in pathlib.Path("/proc/self/maps").read_text():
        os.execve(
            sys.executable,
            [sys.executable, *sys.orig_argv[1:]],
            os.environ | {"LD_PRELOAD": SANITIZER, "ASAN_OPTIONS": "detect_leaks=0"},
        )
    os.environ.pop("LD_PRELOAD", None)
