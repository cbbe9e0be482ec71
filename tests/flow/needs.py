# SPDX-License-Identifier: MIT
"""What a test requires of the machine -> it continues, or is skipped with the reason."""

import os
import pathlib
import shutil
import unittest

SKIP = 77


class Skipped(SystemExit, unittest.SkipTest):
    """Raised inside a test it skips that test, elsewhere the program."""

    def __init__(self, reason):
        super().__init__(SKIP)
        self.reason = reason

    def __str__(self):
        return self.reason


def tools(*names):
    missing = [name for name in names if not shutil.which(name)]
    if missing:
        skip(f"not installed: {' '.join(missing)}")


def captures(*paths):
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        skip(f"not there: {missing[0]}")


def skip(reason):
    print(f"skipped: {reason}")
    raise Skipped(reason)


def uprobes():
    if os.geteuid() != 0:
        skip("requires root")
    if not pathlib.Path("/sys/kernel/btf/vmlinux").exists():
        skip("the kernel has no BTF")
    if not pathlib.Path("/sys/bus/event_source/devices/uprobe").exists():
        skip("the kernel has no uprobes")
