# SPDX-License-Identifier: MIT
# bpf: runs and run time of each BPF program of the player's machine, by the kernel's statistics.
#
# They are on while a descriptor of BPF_ENABLE_STATS is open.  A process on the player holds it, so
# that they end with it, whatever ends the experiment.  While they are on, each run has two clock
# reads more, which are in its own time only in part.
import json
import time

from .collector import CollectorError
from .snapshot import ShellCollector

_READY_S = 10
_LOOK_S = 0.02

# bpf(BPF_ENABLE_STATS, {type = BPF_STATS_RUN_TIME}); prints its process, and waits for SIGTERM.
_HOLDER = r"""exec python3 -c '
import ctypes, os, signal, sys
number = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine)
if number is None: sys.exit("not known how to enable statistics of BPF programs on this processor")
libc = ctypes.CDLL(None, use_errno=True)
held = libc.syscall(number, 32, ctypes.create_string_buffer(64), 64)
if held < 0: sys.exit("statistics of BPF programs: " + os.strerror(ctypes.get_errno()))
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
print("ready", os.getpid(), flush=True)
while True: signal.pause()
'"""
_READ = "PATH=$PATH:/usr/sbin:/sbin; bpftool -j prog show"


class BpfCollector(ShellCollector):
    NAME = "bpf"
    PROGRAMS = ("python3", "bpftool")

    def start(self):
        self._process = None
        out = self.spawn(_HOLDER, "holder")
        end_s = time.monotonic() + _READY_S
        while not (words := out.read_text().split())[:1] == ["ready"] or len(words) < 2:
            if why := out.with_suffix(".err").read_text().strip():
                raise CollectorError(why.splitlines()[-1])
            if time.monotonic() > end_s:
                raise CollectorError(f"statistics were not enabled within {_READY_S} s")
            time.sleep(_LOOK_S)
        self._process = int(words[1])
        self._before = self._programs("before")

    def _programs(self, name):
        printed = self.run(_READ, name)
        try:
            return {one["id"]: one for one in json.loads(printed.text.partition("\n==> ")[0])}
        except (ValueError, KeyError, TypeError) as error:
            raise CollectorError(f"bpftool: not understood: {error}") from error

    def stop(self):
        """Programs that were unloaded meanwhile are only counted."""
        try:
            after = self._programs("after")
        finally:
            self._end()
        programs = [self._one(after[number]) for number in sorted(after)]
        return {
            "programs": [one for one in programs if one["runs"]],
            "without_runs": sum(not one["runs"] for one in programs),
            "unloaded": len(self._before.keys() - after.keys()),
            "cost": {
                **self.cost.as_json(),
                "runs_with_statistics": sum(p["runs"] for p in programs),
            },
        }

    def _end(self):
        read = f"cat /proc/{self._process}/schedstat; kill {self._process}"
        used = self.run(read, "end", may_fail=True).text.split()
        self.cost.add(0, int(used[0]) / 1e9 if used and used[0].isdigit() else None)

    def _one(self, program):
        before = self._before.get(program["id"], {})
        runs = program.get("run_cnt", 0) - before.get("run_cnt", 0)
        time_ns = program.get("run_time_ns", 0) - before.get("run_time_ns", 0)
        return {
            "id": program["id"],
            "name": program.get("name", ""),
            "type": program.get("type", ""),
            "runs": runs,
            "run_time_ns": time_ns,
            "ns_per_run": time_ns / runs if runs else None,
        }
