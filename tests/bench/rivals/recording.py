# SPDX-License-Identifier: MIT
"""A rival whose events are counted after it has ended -> its JSON line, with events arrived and
lost."""

import json
import os
import re
import subprocess
import sys

import own_namespace


def begin():
    """Enters its own namespaces; returns the rival's program and its arguments from the command
    line."""
    own_namespace.enter(
        [sys.executable, "-B", *(os.path.abspath(word) for word in sys.argv[:2]), *sys.argv[2:]]
    )
    if not os.access(sys.argv[1], os.X_OK):
        sys.exit(f"{sys.argv[1]} is not built")
    return sys.argv[1:]


def must(command, **keywords):
    """Output of a command; if it fails, ends the benchmark with its message and status, including
    77 (cannot run here)."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        **keywords,
    )
    if done.returncode != 0:
        reported = (done.stderr.strip() or done.stdout.strip()).splitlines()
        print(
            f"{os.path.basename(command[0])}: {reported[-1] if reported else 'no message'}",
            file=sys.stderr,
        )
        sys.exit(done.returncode if done.returncode > 0 else 1)
    return done.stdout


def figure_of(output):
    """The rival's JSON line; its tool may print other lines."""
    return json.loads(next(line for line in output.splitlines() if line.startswith("{")))


def events_in_ctf(folder):
    reported = must(
        ["babeltrace2", folder, "--component", "count:sink.utils.counter", "--params", "step=+0"]
    )
    return int(re.search(r"(\d+) Event message", reported).group(1))


def finish(figure, arrived):
    figure["raw"]["arrived"] = arrived
    figure["row"] |= {"lost": figure["raw"]["issued"] - arrived, "of": figure["raw"]["issued"]}
    print(json.dumps(figure))
