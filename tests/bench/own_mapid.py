# SPDX-License-Identifier: MIT
"""Runs a program of this folder with its own mapid."""

import os
import subprocess
import sys
import tempfile
import time


def run_through(mapid, command, **how):
    """As subprocess.run()."""
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "mapid.sock")
        daemon = subprocess.Popen(
            [mapid, "--socket", socket, "--log-level", "warning"], stdout=sys.stderr
        )
        try:
            while not os.path.exists(socket) and daemon.poll() is None:
                time.sleep(0.01)
            return subprocess.run(
                command, env=os.environ | {"MAPI_SOCKET": socket}, check=False, **how
            )
        finally:
            daemon.terminate()
            daemon.wait()
