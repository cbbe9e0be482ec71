# SPDX-License-Identifier: MIT
# bpf: runs and run time of each BPF program of the player's machine, by the kernel's statistics.
#
# They are on while a descriptor of BPF_ENABLE_STATS is open.  A process on the player holds it, so
# that they end with it, whatever ends the experiment.  While they are on, each run has two clock
# reads more, which are in its own time only in part.
import json

from .background import BackgroundCollector
from .collector import CollectorError

# bpf(BPF_ENABLE_STATS, {type = BPF_STATS_RUN_TIME}), and a line when they are on.
_HOLDER = r"""exec python3 -c '
import ctypes, os, signal, sys
number = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine)
if number is None: sys.exit("not known how to enable statistics of BPF programs on this processor")
libc = ctypes.CDLL(None, use_errno=True)
held = libc.syscall(number, 32, ctypes.create_string_buffer(64), 64)
if held < 0: sys.exit("statistics of BPF programs: " + os.strerror(ctypes.get_errno()))
for one in (signal.SIGINT, signal.SIGTERM): signal.signal(one, lambda *_: os._exit(0))
print("ready", flush=True)
while True: signal.pause()
'"""
_READ = "PATH=$PATH:/usr/sbin:/sbin; bpftool -j prog show"


class BpfCollector(BackgroundCollector):
    NAME = "bpf"
    PROGRAMS = ("python3", "bpftool")

    def start(self):
        self.begin(_HOLDER, ready="[ -s out ]")
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
            self.end()
        programs = [self._one(after[number]) for number in sorted(after)]
        return {
            "programs": [one for one in programs if one["runs"]],
            "without_runs": sum(not one["runs"] for one in programs),
            "unloaded": len(self._before.keys() - after.keys()),
            "cost": {
                **self.cost.as_json(),
                "runs_with_statistics": sum(one["runs"] for one in programs),
            },
        }

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
