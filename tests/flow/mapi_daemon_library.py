# SPDX-License-Identifier: MIT
"""Tests of mapid with clients in other processes."""

import unittest

from mapid import DATA, ClientError, Daemon

TRACE = DATA / "mapi/tracefile"
REPEATED = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"


def offline(capture):
    return f"Flow.offline({str(capture)!r})"


class Test(unittest.TestCase):
    def daemon(self, config="", *options, **environment):
        daemon = Daemon(config, *options, **environment)
        self.addCleanup(daemon.close)
        return daemon

    def assert_refused(self, words, call, *arguments):
        with self.assertRaises(ClientError) as caught:
            call(*arguments)
        for word in words:
            self.assertIn(word, str(caught.exception))
