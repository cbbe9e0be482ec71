# SPDX-License-Identifier: MIT
# A process that lives as long as its player.  Its standard input is a pipe from nsconduct: when
# that ends, even by SIGKILL, the keeper ends the player's processes.
import os
import subprocess
import sys

from nsreport import signals

from ..errors import TransportError

_PROGRAM = r"""
import os, signal, sys, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
wanted = b"NSCONDUCT_MARK=" + sys.argv[1].encode()
own = os.readlink("/proc/self/ns/net")
makes_namespace = own != sys.argv[2]
sys.stdout.write("ready\n")
sys.stdout.flush()
os.close(1)
os.read(0, 1)

def is_players(name):
    if makes_namespace and os.readlink("/proc/" + name + "/ns/net") == own:
        return True
    with open("/proc/" + name + "/environ", "rb") as file:
        return wanted in file.read().split(b"\0")

for attempt in range(100):
    found = False
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and int(name) != os.getpid() and is_players(name):
                os.kill(int(name), signal.SIGKILL if attempt > 50 else signal.SIGTERM)
                found = True
        except OSError:
            pass
    if not found:
        break
    time.sleep(0.02)
"""


class Keeper:
    """prefix: words in front of its command, such as unshare."""

    def __init__(self, mark, prefix):
        self._words = [*prefix, sys.executable, "-I", "-S", "-c", _PROGRAM, mark]
        self._words.append(os.readlink("/proc/self/ns/net"))
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        try:
            with signals.held():
                self.process = subprocess.Popen(
                    self._words,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
        except OSError as error:
            raise TransportError(f"{self._words[0]}: cannot start: {error.strerror}") from error
        if self.process.stdout.readline() != b"ready\n":
            said = self.process.stderr.read().decode(errors="replace").strip()
            self.close()
            raise TransportError(said.splitlines()[-1] if said else "the keeper did not start")

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def close(self):
        if self.process is None:
            return
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
