# SPDX-License-Identifier: MIT
# The recorder by BPF: filters by thread and process, and machines that lack what it requires.
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import mapi_interfaces
import needs
import nsbpf_record_test as recorder

CALLS = 150
GROUPS = pathlib.Path("/sys/fs/cgroup")

# Two threads with a connection each; sends on both at each line of its input.
TWO_THREADS = f"""
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
go = [threading.Semaphore(0) for _ in range(2)]
done = threading.Semaphore(0)
numbers = [0, 0]
def send(which):
    out = socket.create_connection(listener.getsockname())
    numbers[which] = threading.get_native_id()
    done.release()
    go[which].acquire()
    for _ in range({CALLS} * (which + 1)):
        out.send(b"x")
    done.release()
    go[which].acquire()
for which in range(2):
    threading.Thread(target=send, args=[which], daemon=True).start()
for _ in range(2): done.acquire()
print(*numbers, flush=True)
sys.stdin.readline()
for one in go: one.release()
for _ in range(2): done.acquire()
print("done", flush=True)
sys.stdin.readline()
"""


class TwoThreads:
    def __init__(self, *prefix):
        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-c", TWO_THREADS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.threads = [int(number) for number in self.process.stdout.readline().split()]

    def send(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def end(self):
        self.process.communicate("\n")


class InFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="netslice-nsbpf-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def kernel(self, *words, prefix=(), seconds="0.2", by=recorder.BPF):
        return recorder.run(
            *prefix,
            *(recorder.NSDUMP, "kernel", *map(str, words), by),
            *("-d", seconds, "-w", self.folder / "k.nsl"),
        )

    def check_refused(self, done, *words, code=3):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for one in words:
            self.assertIn(one, done.stderr)


class Filters(InFolder):
    def setUp(self):
        super().setUp()
        self.program = TwoThreads()
        self.addCleanup(self.program.end)

    def sends(self, *options):
        recording = recorder.Recording(self.folder / "kernel.nsl", "tcp_send,sched", *options)
        self.program.send()
        return recording.end()

    def test_only_calls_and_switches_of_the_thread_are_recorded(self):
        second = self.program.threads[1]
        stats = self.sends("--thread", second)
        self.assertEqual(recorder.counts(stats)["send_call"], 2 * CALLS)
        self.assertEqual(stats["info"]["kernel.filter.thread"], str(second))
        shown = recorder.run(recorder.NSDUMP, "show", self.folder / "kernel.nsl").stdout
        switches = [line.split() for line in shown.splitlines() if "sched_switch" in line]
        self.assertGreater(len(switches), 0)
        for words in switches:
            self.assertIn(str(second), words)

    def test_a_thread_and_its_process_may_both_be_given(self):
        first = self.program.threads[0]
        stats = self.sends("--thread", first, "--pid", self.program.process.pid)
        self.assertEqual(recorder.counts(stats)["send_call"], CALLS)

    def test_all_threads_of_a_process_are_recorded(self):
        stats = self.sends("--pid", self.program.process.pid)
        self.assertEqual(recorder.counts(stats)["send_call"], 3 * CALLS)
        self.assertEqual(stats["info"]["kernel.filter.pid"], str(self.program.process.pid))

    def test_a_thread_is_not_taken_for_a_process(self):
        thread, pid = self.program.threads[0], self.program.process.pid
        self.check_refused(
            self.kernel("sched", "--pid", thread),
            f"{thread} is a thread of process {pid} (record it alone with --thread)",
        )

    def test_a_thread_that_does_not_exist_or_is_of_another_process_is_named(self):
        thread, pid = self.program.threads[0], self.program.process.pid
        self.check_refused(self.kernel("sched", "--thread", 2**22 - 1), f"thread {2**22 - 1} does")
        self.check_refused(
            self.kernel("sched", "--thread", thread, "--pid", os.getpid()),
            f"thread {thread} belongs to process {pid}, not to {os.getpid()}",
        )

    def test_a_thread_requires_the_recorder_by_programs(self):
        done = self.kernel("sched", "--thread", 1, by="--kernel-recorder=nsmod")
        self.check_refused(done, "--thread: requires a recorder by BPF", code=2)

    def test_numbers_of_a_container_are_those_of_the_machine_in_the_trace(self):
        script = f'sleep 5 & {recorder.NSDUMP} kernel sched {recorder.BPF} --pid $! -d 0.3 -w "$0"'
        trace = self.folder / "container.nsl"
        prefix = ("unshare", "--pid", "--fork", "--mount-proc")
        done = recorder.run(*prefix, "sh", "-c", script, trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(int(recorder.stats_of(trace)["info"]["kernel.filter.pid"]), 10)


class Lacks(InFolder):
    def test_a_kernel_without_btf_is_named(self):
        hidden = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"')
        words = "no BTF (CONFIG_DEBUG_INFO_BTF)", "nsmod"
        self.check_refused(self.kernel("sched", prefix=(*hidden, "sh")), *words)
        done = recorder.run(*hidden, "sh", recorder.NSDUMP, "kernel", "--list")
        self.check_refused(done, *words)

    def test_the_capability_that_is_missing_is_named(self):
        for given, lack in {
            "-all": "has neither",
            "-all,+bpf": "lacks CAP_PERFMON",
            "-all,+perfmon": "lacks CAP_BPF",
        }.items():
            self.check_refused(
                self.kernel("sched", prefix=("setpriv", "--bounding-set", given)),
                f"requires the capabilities CAP_BPF and CAP_PERFMON; this process {lack}",
            )

    def test_root_of_a_user_namespace_is_told_that_its_capabilities_do_not_count(self):
        done = self.kernel("sched", prefix=("unshare", "-r"))
        self.check_refused(done, "those of a user namespace do not count")

    def test_too_few_descriptors_are_named_with_the_remedy(self):
        for limit in range(14, 100, 4):
            done = self.kernel("sched", prefix=("prlimit", f"--nofile={limit}"))
            if done.returncode == 0:
                break
            self.check_refused(done, "Too many open files (raise the limit with ulimit -n)")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(limit, 20)

    def test_no_locked_memory_is_required(self):
        done = self.kernel(recorder.ALL, prefix=("prlimit", "--memlock=0"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_rings_beyond_the_memory_of_the_control_group_are_refused(self):
        group, limit = self.memory_group()
        (group / limit).write_text(str(48 << 20))
        inside = ("sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh")
        done = self.kernel("sched", "--kernel-ring", "64M", prefix=inside)
        self.check_refused(done, "Cannot allocate memory (use smaller rings with --kernel-ring, or")
        done = self.kernel("sched", "--kernel-ring", "64K", prefix=inside)
        self.assertEqual(done.returncode, 0, done.stderr)

    def memory_group(self):
        for parent, limit in (
            (GROUPS, "memory.max"),
            (GROUPS / "memory", "memory.limit_in_bytes"),
        ):
            group = parent / f"netslice-test-{os.getpid()}"
            try:
                group.mkdir()
            except OSError:
                continue
            self.addCleanup(lambda: mapi_interfaces.wait_until(lambda: self.is_removed(group)))
            if (group / limit).exists():
                return group, limit
        self.skipTest("no control groups for memory")

    def is_removed(self, group):
        try:
            group.rmdir()
            return True
        except OSError:
            return False


if __name__ == "__main__":
    needs.tools("ip", "unshare", "setpriv", "prlimit")
    if reason := recorder.why_not():
        needs.skip(reason)
    mapi_interfaces.enter_name_space(is_own_user=False)
    mapi_interfaces.run("ip", "link", "set", "lo", "up")
    unittest.main()
