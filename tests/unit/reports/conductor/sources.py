# SPDX-License-Identifier: MIT
# Makes the packages of reports/ importable from the source tree; needs(): packages, or a skip.
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", "..", ".."))
SKIP = 77
sys.path[:0] = [os.path.join(ROOT, "reports"), os.path.join(ROOT, "reports", "conductor")]


def needs(*packages):
    """Skips the whole test if one of these Python packages is missing."""
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            print(f"skipped: {error} (Debian: python3-scipy; pyarrow: ./run python)")
            sys.exit(SKIP)
