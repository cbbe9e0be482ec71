# SPDX-License-Identifier: MIT
# Tests of signals.py: when a signal takes effect.
import os
import signal
import subprocess
import sys
import textwrap
import threading
import unittest

REPORTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "reports")

# Another thread takes the signal, so main's read() continues, as if a signal arrived just before
# the system call.
READER = """
    import os, signal, sys, threading
    sys.path.insert(0, sys.argv[1])
    from nsreport import errors, signals

    threading.Thread(target=threading.Event().wait, daemon=True).start()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    out, end = os.pipe()
    with signals.installed():
        try:
            print("reading", flush=True)
            os.read(out, 1)
        except errors.Interrupted as error:
            sys.exit(100 + error.signal_number)
"""

HOLDER = """
    import os, signal, sys
    sys.path.insert(0, sys.argv[1])
    from nsreport import errors, signals

    with signals.installed():
        try:
            with signals.held():
                os.kill(os.getpid(), signal.SIGTERM)
                print("whole", flush=True)
            print("never", flush=True)
        except errors.Interrupted as error:
            sys.exit(100 + error.signal_number)
"""

# Python's own signal handling at exit is slowed down here, so that ticks of the timer occur during
# it.
ENDER = """
    import signal, sys, time
    sys.path.insert(0, sys.argv[1])
    from nsreport import signals

    class Last:
        def __del__(self, sleep=time.sleep):
            sleep(0.5)

    with signals.installed():
        time.sleep(0.15)
    signal.last = Last()
"""


def start(program):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), REPORTS], stdout=subprocess.PIPE, text=True
    )


class Signals(unittest.TestCase):
    def test_a_signal_that_does_not_end_a_system_call_takes_effect_before_the_call_ends(self):
        with start(READER) as process:
            guard = threading.Timer(30, process.kill)
            guard.start()
            self.assertEqual(process.stdout.readline(), "reading\n")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 100 + signal.SIGTERM)
            guard.cancel()

    def test_a_held_signal_takes_effect_at_the_blocks_end(self):
        with start(HOLDER) as process:
            self.assertEqual(process.stdout.read(), "whole\n")
            self.assertEqual(process.wait(), 100 + signal.SIGTERM)

    def test_no_handler_is_left_when_the_program_ends(self):
        with start(ENDER) as process:
            self.assertEqual(process.wait(), 0)


if __name__ == "__main__":
    unittest.main()
