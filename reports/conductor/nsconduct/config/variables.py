# SPDX-License-Identifier: MIT
# ${key} of a variant in a command -> its value; the shell gets any other ${...}.
import re

_REFERENCE = re.compile(r"\$\{(\w+)\}")


def replaced(command, settings):
    return _REFERENCE.sub(lambda found: settings.get(found[1], found[0]), command)
