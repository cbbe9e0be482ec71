# SPDX-License-Identifier: MIT
# Errors -> exit code and a message that names file, position and remedy.

import errno
import os
import traceback

EXIT_OK = 0
EXIT_INCOMPLETE = 1  # a report was written, but its input is incomplete
EXIT_USAGE = 2
EXIT_INPUT = 3
EXIT_SCHEMA = 4
EXIT_TOOL = 5
EXIT_OUTPUT = 6
EXIT_INTERNAL = 7
EXIT_SIGNAL = 128  # plus the signal's number


class ReportError(Exception):
    """A failure that the user can act on."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def cannot_read(path, error, remedy, what=""):
    """remedy: for a cause that only another input removes."""
    of_cause = {
        errno.ENOENT: "check the name",
        errno.ENOTDIR: "check the name",
        errno.EACCES: "check its permissions",
        errno.EPERM: "check its permissions",
        errno.EISDIR: "specify a file in it",
    }.get(error.errno, remedy)
    return ReportError(
        EXIT_INPUT,
        f"{shown(path)}: cannot read{what}: {error.strerror or error} ({of_cause})",
    )


def bug(error, program="nsreport"):
    """Where it is, and what it says, in one line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    said = shown(f"{type(error).__name__}: {error}")[:300]
    return f"a bug in {program} at {os.path.basename(place.filename)}:{place.lineno}: {said}"


class Interrupted(Exception):
    def __init__(self, signal_number):
        super().__init__(f"signal {signal_number}")
        self.signal_number = signal_number


def shown(path):
    """A path as one printable line: file names may contain control characters."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode()
        for c in str(path)
    )
