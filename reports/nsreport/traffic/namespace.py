# SPDX-License-Identifier: MIT
# A veth pair in a network namespace of this process: it disappears with the process, whatever ends
# it.
import contextlib
import ctypes
import errno
import os
import subprocess
import time

from .. import signals
from ..errors import EXIT_TOOL, ReportError

SENDING, RECEIVING = "near", "far"
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_NAMESPACE = "/proc/self/ns/net"
_UP_S = 5


def _called(name, *arguments):
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) == 0:
        return
    number = ctypes.get_errno()
    if number in (errno.EPERM, errno.EACCES):
        raise ReportError(
            EXIT_TOOL,
            "measuring traffic requires root, for a network namespace with a veth pair, packet "
            "sockets, XDP programs and tracepoints: CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_NET_RAW and "
            "CAP_BPF (run nsreport as root, or draw earlier results with --from)",
        )
    raise ReportError(
        EXIT_TOOL, f"no network namespace: {os.strerror(number)} (enable CONFIG_NET_NS)"
    )


def _run(*command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        raise ReportError(
            EXIT_TOOL, f"{command[0]}: cannot run: {error.strerror or error} (install it again)"
        ) from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise ReportError(
            EXIT_TOOL,
            f"{' '.join(command)}: {said[-1] if said else done.returncode} (veth devices "
            "are required)",
        )
    return done.stdout


def _make_pair(programs, one, other):
    ip = programs["ip"]
    _run(ip, "link", "add", one, "type", "veth", "peer", "name", other)
    for end in (one, other):
        with contextlib.suppress(OSError):  # a kernel without IPv6 sends nothing by itself
            with open(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6", "w") as file:
                file.write("1")
        _run(ip, "link", "set", end, "up")
        # XDP frames are then taken as they are, as by a driver with XDP
        _run(programs["ethtool"], "-K", end, "gro", "on")
    end_s = time.monotonic() + _UP_S
    while "state UP" not in _run(ip, "-oneline", "link", "show", other):
        if time.monotonic() > end_s:
            raise ReportError(EXIT_TOOL, f"veth: {other} does not come up (try again)")
        time.sleep(0.01)


def pair(programs):
    """This process, and those that it starts, see only a veth pair with both ends up."""
    return pairs(programs, (SENDING, RECEIVING))


@contextlib.contextmanager
def pairs(programs, *ends):
    """The same with several pairs."""
    before = os.open(_NAMESPACE, os.O_RDONLY)
    try:
        _called("unshare", _NEW_NETWORK)
        try:
            for one, other in ends:
                _make_pair(programs, one, other)
            yield
        finally:
            with signals.held():
                _called("setns", before, _NEW_NETWORK)
    finally:
        os.close(before)
