#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is put before to_buffer_bench: a mapid of its own, and the capture in the page cache.  The figure is the program's."""
import os
import subprocess
import sys
import tempfile
import time

from big_capture import big_capture, load


def main():
    program, daemon, source, build = sys.argv[1:5]
    capture = big_capture(source, build)
    load(capture)
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "mapid.sock")
        mapid = subprocess.Popen([daemon, "--socket", socket, "--log-level", "warning"], stdout=sys.stderr)
        try:
            while not os.path.exists(socket) and mapid.poll() is None:
                time.sleep(0.01)
            return subprocess.run([program, capture], env=os.environ | {"MAPI_SOCKET": socket}, check=False).returncode
        finally:
            mapid.terminate()
            mapid.wait()


if __name__ == "__main__":
    sys.exit(main())
