# SPDX-License-Identifier: MIT
"""Pairs of network interfaces in a private network namespace."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time

import needs

INSIDE = "NETSLICE_TEST_INSIDE"


def run(*command):
    subprocess.run(command, check=True)


def send(interface, *frames, count=1):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind((interface, 0))
        for _ in range(count):
            for frame in frames:
                sender.send(frame)


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def is_up(interface):
    shown = subprocess.run(
        ["ip", "-json", "link", "show", interface], capture_output=True, check=True
    ).stdout
    return json.loads(shown)[0]["operstate"] == "UP"


def in_session(number):
    """Processes of a session."""
    shown = subprocess.run(["ps", "-o", "pid=", "-s", str(number)], capture_output=True, text=True)
    return shown.stdout.split()


def make_pair(near, far):
    """Nothing else must be sent there, and nothing before both are up, as it would be lost."""
    run("ip", "link", "add", near, "type", "veth", "peer", "name", far)
    for end in near, far:
        pathlib.Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1")
        run("ip", "link", "set", end, "up")
    assert wait_until(lambda: is_up(near) and is_up(far)), "no carrier"


def enter_name_space(is_own_user=True):
    """Restarts the program inside a namespace, or skips it.  is_own_user: as root of a user
    namespace, which is not required to be root outside, but cannot load BPF programs."""
    if not os.environ.get(INSIDE):
        unshare = ["unshare", "-rn" if is_own_user else "-n"]
        if (
            subprocess.run(
                [*unshare, "ip", "link", "add", "aa", "type", "veth"], capture_output=True
            ).returncode
            != 0
        ):
            needs.skip("cannot create a network namespace with a pair of interfaces")
        os.execvpe(
            "unshare",
            [*unshare, sys.executable, "-B", *sys.argv],
            os.environ | {INSIDE: "1"},
        )
