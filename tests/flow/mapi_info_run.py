# SPDX-License-Identifier: MIT
"""mapi-info as tests run it: a mapid, arguments -> tables, JSON, statistics of a trace."""

import json
import subprocess
import unittest

from mapid import BUILD, DATA, Daemon

TRACE = DATA / "mapi/tracefile"
TAP = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
ODD = "o d\x1b[31md"
ONCE = f"[driver]\ndevice={ODD}\npath={TRACE}\ndescription=once\n"
SECRET = f"[driver]\ndevice=secret\npath={TRACE}\nrepeat=forever\ngroup=shadow\n"
INFO, NSDUMP = BUILD / "bin/mapi-info", BUILD / "bin/nsdump"
COUNT = (
    "flow = Flow.on_device('tap')\nfirst = flow.apply('BPF_FILTER', 'tcp')\n"
    "packets = flow.apply('PKT_COUNTER')\nflow.connect()"
)


def has_probes():
    words = subprocess.run(
        [Daemon.program(), "--socket", "/no/such/folder/s", "--record", "/no/such/folder/t"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    ).stderr
    return "without probes" not in words


class Test(unittest.TestCase):
    def daemon(self, config=TAP + ONCE, *options, **environment):
        daemon = Daemon(config, *options, **environment)
        self.addCleanup(daemon.close)
        return daemon

    @staticmethod
    def command(daemon, *arguments, user=None):
        rights = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        return [*rights, str(INFO), "--socket", str(daemon.socket), *arguments]

    def run_info(self, daemon, *arguments, user=None, code=0):
        done = subprocess.run(
            self.command(daemon, *arguments, user=user),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def table(self, daemon, *arguments, **how):
        """Rows by column name; each line has as many cells as the header."""
        head, *rows = [
            line.split() for line in self.run_info(daemon, *arguments, **how).splitlines()
        ]
        for row in rows:
            self.assertEqual(len(row), len(head), row)
        return [dict(zip(head, row)) for row in rows]

    def json(self, daemon, *arguments, **how):
        return json.loads(self.run_info(daemon, "--json", *arguments, **how))

    def stats(self, trace):
        """nsdump's check of the trace, which must be complete."""
        done = subprocess.run(
            [NSDUMP, "check", trace], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = subprocess.run(
            [NSDUMP, "stats", "--format", "json", trace],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return json.loads(done.stdout)

    def slices(self, trace):
        return {
            each["name"]: each["count"] + each["migrated"] for each in self.stats(trace)["slices"]
        }
