#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lttng_ust.py PROGRAM: LTTng-UST's cost with its own session daemon, and the number of events in
the trace.

The daemon's sockets are in a /run that only this program sees, so the user's daemons and sessions
are unaffected.
"""

import os
import subprocess
import time

import recording

WAIT_S = 20


def start_daemon():
    daemon = subprocess.Popen(
        ["lttng-sessiond", "--no-kernel"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    limit_s = time.monotonic() + WAIT_S
    while subprocess.run(["lttng", "list"], capture_output=True).returncode != 0:
        if daemon.poll() is not None or time.monotonic() > limit_s:
            raise SystemExit("lttng-sessiond does not respond")
        time.sleep(0.05)


program = recording.begin()
os.environ |= {"LTTNG_HOME": os.getcwd(), "LTTNG_UST_REGISTER_TIMEOUT": str(WAIT_S * 1000)}
start_daemon()
for step in (
    ["create", "rivals", f"--output={os.getcwd()}/trace"],
    ["enable-event", "--userspace", "rival:event"],
    ["start"],
):
    recording.must(["lttng", "--no-sessiond", *step])
figure = recording.figure_of(recording.must(program))
recording.must(["lttng", "--no-sessiond", "destroy"])
recording.finish(figure, recording.events_in_ctf("trace"))
