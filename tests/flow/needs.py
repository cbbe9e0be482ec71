# SPDX-License-Identifier: MIT
"""What a test requires of the machine -> it continues, or is skipped with the reason."""

import shutil
import sys

SKIP = 77


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
    sys.exit(SKIP)
