# SPDX-License-Identifier: MIT
# The programs that a measurement runs -> their paths, or what is missing.
import os
import shutil

from ..errors import EXIT_TOOL, ReportError, shown

REMEDY = {
    "ip": "Debian: apt install iproute2",
    "ethtool": "Debian: apt install ethtool",
    "mapi-gen": "install the toolkit, or set MAPI_GEN",
    "mapi-reader": "install the toolkit, or set MAPI_READER",
    "mapi-impair": "install the toolkit, or set MAPI_IMPAIR",
    "mapi-qos": "install the toolkit, or set MAPI_QOS",
    "sids": "install the toolkit, or set SIDS",
    "nscalibrate": "install the toolkit, or set NSCALIBRATE",
    "ktime-runner": "build the toolkit with libbpf-dev, clang-14 and bpftool, or set KTIME_RUNNER",
}
VARIABLES = {
    "mapi-gen": "MAPI_GEN",
    "mapi-reader": "MAPI_READER",
    "mapi-impair": "MAPI_IMPAIR",
    "mapi-qos": "MAPI_QOS",
    "sids": "SIDS",
    "nscalibrate": "NSCALIBRATE",
    "ktime-runner": "KTIME_RUNNER",
}
PAIR = ("ip", "ethtool")  # for a veth pair
TRAFFIC = (*PAIR, "mapi-gen", "mapi-reader")
PLACES_OF_ROOT = "/usr/sbin:/sbin"


def _named(name, path):
    """The program that its environment variable names, if it does."""
    variable = VARIABLES.get(name)
    value = os.environ.get(variable, "") if variable else ""
    if not value:
        return None
    found = shutil.which(value, path=path)
    if not found:
        raise ReportError(
            EXIT_TOOL, f"{shown(value)}: not a program that can be run (correct {variable})"
        )
    return found


def find(program, name):
    """Named by the environment, next to nsreport, in libexec, in PATH."""
    path = os.environ.get("PATH", "/usr/bin:/bin") + ":" + PLACES_OF_ROOT
    folder = os.path.dirname(program)
    beside = [folder, os.path.join(os.path.dirname(folder), "libexec/netslice")]
    found = _named(name, path) or shutil.which(name, path=":".join([*beside, path]))
    if not found:
        raise ReportError(EXIT_TOOL, f"{name}: not found ({REMEDY[name]})")
    return found


def find_all(program, names=TRAFFIC):
    """All of them, by name; the first that is missing ends the report before anything is done."""
    return {name: find(program, name) for name in names}
