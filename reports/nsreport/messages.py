# SPDX-License-Identifier: MIT
# Messages and progress -> standard error.
import os
import sys

from . import errors


def tell(text, end="\n"):
    """Standard error may be closed or on a full disk; neither the report nor the exit code may
    depend on it."""
    try:
        print(text, file=sys.stderr, end=end, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def say(quiet, text):
    if not quiet:
        tell(errors.shown(text))


def progress(quiet, text):
    if not quiet and sys.stderr.isatty():
        tell(f"\r\033[K{text}", end="")
