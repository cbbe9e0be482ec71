#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A rival's own processes, mounts, /run and /dev/shm, all of which disappear when it ends, however
it ends.

As a program: own_namespace.py PROGRAM [ARGUMENT...] runs PROGRAM in namespaces, or without if the
machine does not allow them.
"""

import os
import subprocess
import sys

SKIP = 77
MARK = "NETSLICE_BENCH_OWN_NAMESPACE"
UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
MOUNTED = 'mount -t tmpfs none /run && mount -t tmpfs none /dev/shm && cd /dev/shm && exec "$@"'


def _unshare():
    return UNSHARE + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])


def why_not():
    """Why this machine does not allow namespaces, or None."""
    try:
        tried = subprocess.run(
            [*_unshare(), "sh", "-c", MOUNTED, "sh", "true"], capture_output=True, text=True
        )
    except OSError as error:
        return f"unshare: {error.strerror}"
    return (
        None
        if tried.returncode == 0
        else tried.stderr.strip() or f"unshare ended with {tried.returncode}"
    )


def enter(command, optional=False):
    """Runs the same program again in namespaces; the current folder is then an empty one that no
    other process sees."""
    if os.environ.get(MARK):
        return
    reason = why_not()
    if reason is None:
        os.environ[MARK] = "1"
        os.execvp("unshare", [*_unshare(), "sh", "-c", MOUNTED, "sh", *command])
    if not optional:
        print(
            f"requires its own namespaces, so that nothing is left behind: {reason}",
            file=sys.stderr,
        )
        sys.exit(SKIP)


if __name__ == "__main__":
    enter(sys.argv[1:], optional=True)
    os.execv(sys.argv[1], sys.argv[1:])
