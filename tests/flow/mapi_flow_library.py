# SPDX-License-Identifier: MIT
"""mapi-flow as a process, and tcpdump to compare with."""

import os
import pathlib
import subprocess

from mapid import BUILD, DATA

FLOW = BUILD / "bin/mapi-flow"
TRACE = DATA / "mapi/tracefile"
DEMO = pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "mapi-core/apps/demo/demo.pcap"


def run(*arguments, socket="none"):
    return subprocess.run(
        [FLOW, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MAPI_SOCKET": str(socket)},
    )


def tcpdump(capture, *arguments):
    return subprocess.run(
        ["tcpdump", "-n", "-r", capture, *arguments], capture_output=True, text=True, check=True
    ).stdout
