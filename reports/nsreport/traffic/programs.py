# SPDX-License-Identifier: MIT
# The programs that a measurement runs -> their paths, or what is missing.
import os
import shutil

from ..errors import EXIT_TOOL, ReportError

REMEDY = {
    "ip": "Debian: apt install iproute2",
    "ethtool": "Debian: apt install ethtool",
    "mapi-gen": "install the toolkit, or set MAPI_GEN",
    "mapi-reader": "install the toolkit, or set MAPI_READER",
}
PLACES_OF_ROOT = "/usr/sbin:/sbin"


def find(program, name):
    """Named by the environment, next to nsreport, in libexec, in PATH."""
    named = os.environ.get(name.upper().replace("-", "_"))
    folder = os.path.dirname(program)
    beside = [
        os.path.join(folder, name),
        os.path.join(os.path.dirname(folder), "libexec/netslice", name),
    ]
    found = next((place for place in beside if os.access(place, os.X_OK)), None)
    path = os.environ.get("PATH", "/usr/bin:/bin") + ":" + PLACES_OF_ROOT
    found = named or found or shutil.which(name, path=path)
    if not found:
        raise ReportError(EXIT_TOOL, f"{name}: not found ({REMEDY[name]})")
    return found


def find_all(program):
    """All of them, by name; the first that is missing ends the report before anything is done."""
    return {name: find(program, name) for name in REMEDY}
