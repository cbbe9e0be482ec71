# SPDX-License-Identifier: MIT
"""A program on a terminal of its own: its screen, and keys for it."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

ENTER, LEAVE = "\033[?1049h", "\033[?1049l"
CONTROL = re.compile(r"\033\[[?0-9;]*[A-Za-z]")


class Terminal:
    def __init__(self, *words, rows=24, columns=100):
        self.text = ""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            self._execute(words, rows, columns)
        self.resize(rows, columns)

    @staticmethod
    def _execute(words, rows, columns):
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execv(words[0], [str(word) for word in words])

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.master, keys.encode())

    def echoes(self):
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def _read(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.master, 65536)
        except OSError:  # the other side is closed
            return False
        self.text += piece.decode(errors="replace")
        return bool(piece)

    def screen(self):
        """The lines of the last frame, without those that only clear."""
        frame = self.text.rpartition("\033[H")[2]
        return [line.rstrip() for line in CONTROL.sub("", frame).split("\r\n")]

    def wait_for(self, condition, seconds=30):
        """Whether the screen comes to satisfy the condition."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition("\n".join(self.screen())):
                return True
            if not self._read(0.1):
                return condition("\n".join(self.screen()))
        return False

    def end(self, seconds=30):
        """The exit code, once the program has ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._read(0.1)
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                while self._read(0) and select.select([self.master], [], [], 0)[0]:
                    pass
                return os.waitstatus_to_exitcode(status)
        raise TimeoutError("the program still runs")
