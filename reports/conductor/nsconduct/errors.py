# SPDX-License-Identifier: MIT
# Errors -> exit code and a message that names file, line and remedy.

EXIT_OK = 0
EXIT_FAILED = 1  # at least one trial failed
EXIT_USAGE = 2  # command line or configuration
EXIT_MISSING = 3  # a program, a package or a permission


class ConductError(Exception):
    """A failure that the user can act on."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class ConfigErrors(ConductError):
    """All errors of the configuration, each as "file:line: message"."""

    def __init__(self, problems):
        super().__init__(EXIT_USAGE, "\n".join(problems))
        self.problems = problems


class TransportError(ConductError):
    """A player cannot be set up or reached."""

    def __init__(self, message, code=EXIT_MISSING):
        super().__init__(code, message)
