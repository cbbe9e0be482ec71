# SPDX-License-Identifier: MIT
# sids with a file of rules on an interface -> its CPU time, and the packets that it has judged.
import contextlib
import os
import signal
import subprocess
import tempfile
import time

from ..traffic import child, cpu_time
from . import plan

_LOOK_S, _IDLE_S, _MOST_S = 0.1, 0.3, 20
_IDLE_SHARE = 0.2
_TABLE_S = 0.2  # between tables, of which the first says that sids reads packets
NS_PER_S = 1e9


class Watcher:
    def __init__(self, process, command, said):
        self._process, self._command, self._said = process, command, said

    def cpu_s(self):
        return cpu_time.ran_ns(self._process.pid) / NS_PER_S

    def waited_s(self):
        return cpu_time.waited_ns(self._process.pid) / NS_PER_S

    def wait_until_ready(self):
        """It reads packets, and has built what its rules share."""
        if not self._process.stdout.readline().startswith("#id"):
            self._process.wait()
            raise self._failed()
        end_s = time.monotonic() + _MOST_S
        while self._share(_LOOK_S) > _IDLE_SHARE and time.monotonic() < end_s:
            pass
        return self._share(_IDLE_S)

    def _share(self, seconds):
        """Of a CPU, while no packet is sent."""
        begin_s, begin = time.monotonic(), self.cpu_s()
        time.sleep(seconds)
        return (self.cpu_s() - begin) / (time.monotonic() - begin_s)

    def end(self):
        """Packets that it has judged."""
        self._process.send_signal(signal.SIGINT)
        text = self._process.stdout.read()
        if self._process.wait() not in (0, 1):  # 1: packets were lost, which is measured
            raise self._failed()
        return judged(text)

    def _failed(self):
        self._said.seek(0)
        return child.failed(self._command, self._said.read())


def judged(text):
    """Tables -> the packets of the rule that counts all, in the last one."""
    count = 0
    for line in text.splitlines():
        cells = line.split("\t")
        if cells[0] == str(plan.ALL_ID):
            count = int(cells[1])
    return count


@contextlib.contextmanager
def started(programs, rules, interface, are_together, cpu):
    """rules: the text of their file."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as said:
        paths = [os.path.join(folder, name) for name in ("rules", "mapi.conf")]
        device = f"[driver]\ndevice={interface}\ndriver=af_packet\npath={interface}\n"
        device += f"node_groups={int(are_together)}\n"
        for path, text in zip(paths, (rules, device)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        command = [programs["sids"], "-R", paths[0], "-i", interface, "--interval", f"{_TABLE_S}"]
        # neither a running mapid nor the machine's mapi.conf has a part in the measurement
        environment = {"MAPI_SOCKET": "none", "MAPI_CONF": paths[1]}
        pipes = {"stdin": subprocess.DEVNULL, "stderr": said}
        with child.started(command, cpu, environment, **pipes) as process:
            yield Watcher(process, command, said)
