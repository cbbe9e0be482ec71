# SPDX-License-Identifier: MIT
# Counters in records by BPF, on this machine's own kernel: events of the kernel, whose counts are
# known, and the refusal of what the machine does not count.
import mmap
import pathlib
import unittest

import mapi_interfaces
import needs
import nsbpf_limits_test as limits
import nsbpf_record_test as recorder

COUNTERS = "--kernel-counters"
PAGES, CALLS = 16, 60


def untouched():
    """Memory whose pages the kernel has to get when it copies from them."""
    memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return memory


def value_of(stats, name, field):
    (one,) = (one for one in stats["slices"] if one["name"] == f"kernel:{name}")
    return next(value for value in one["values"] if value["field"] == field)


class Counters(limits.InFolder):
    def test_a_slice_has_the_page_faults_that_it_caused(self):
        connection = recorder.Connection(recorder.PORT)
        self.addCleanup(connection.close)
        place = bytearray(PAGES * mmap.PAGESIZE)
        recording = recorder.Recording(
            self.folder / "kernel.nsl",
            "tcp_send,softirq",
            *("--port", recorder.PORT, COUNTERS, "page-faults,context-switches"),
        )
        for _ in range(CALLS):
            self.assertEqual(connection.near.send(untouched()), len(place))
            left = memoryview(place)
            while left:
                left = left[connection.far.recv_into(left) :]
        stats = recording.end()
        self.assertEqual(stats["kernel_counters"], ["page-faults", "context-switches"])
        self.assertEqual(stats["info"]["kernel.counters.source"], "helper")
        self.assertEqual(recorder.counts(stats)["send_call"], CALLS)
        self.assertEqual(value_of(stats, "send_call", "page-faults")["raw"]["p50"], PAGES)
        self.assertEqual(value_of(stats, "softirq", "page-faults")["raw"]["p50"], 0)
        self.assertEqual(value_of(stats, "softirq", "context-switches")["raw"]["p50"], 0)
        self.assertEqual(stats["classes"]["uncounted"], 0)
        self.assertTrue(
            any(
                "page-faults of the kernel's slices was not calibrated" in one
                for one in stats["warnings"]
            ),
            stats["warnings"],
        )

    def test_counts_grow_within_a_ring_and_marks_have_none(self):
        recording = recorder.Recording(
            self.folder / "kernel.nsl", recorder.ALL, COUNTERS, "cpu-clock,context-switches"
        )
        connection = recorder.Connection(recorder.PORT)
        connection.exchange(300)
        connection.close()
        stats = recording.end()
        self.assertTrue(stats["losses"]["equation_holds"])
        done = recorder.run(
            *(recorder.NSDUMP, "export", self.folder / "kernel.nsl"),
            *("--what", "events", "--format", "csv"),
        )
        head, *rows = (line.split(",") for line in done.stdout.splitlines())
        self.check_rows([dict(zip(head, row)) for row in rows])

    def check_rows(self, rows):
        last, kinds = {}, set()
        for row in rows:
            kinds.add(row["kind"])
            if row["kind"] not in ("START", "STOP"):
                self.assertEqual(row["word3"], "", row)
                continue
            for word in "word0", "word1":
                place = row["cpu"], word
                self.assertGreaterEqual(int(row[word]), last.get(place, 0), row)
                last[place] = int(row[word])
        self.assertLessEqual({"START", "STOP", "MARK", "INIT", "EXIT"}, kinds)
        self.assertGreater(min(last.values()), 0)

    def test_a_flood_of_counted_records_into_small_rings_is_counted(self):
        recording = recorder.Recording(
            self.folder / "kernel.nsl", recorder.ALL, "--kernel-ring", 4096, COUNTERS, "page-faults"
        )
        connection = recorder.Connection(recorder.PORT)
        connection.exchange(3000)
        connection.close()
        losses = recording.end()["losses"]
        self.assertGreater(losses["lost"]["full"], 0)
        self.assertTrue(losses["equation_holds"])

    def test_two_capabilities_are_enough(self):
        only = ("setpriv", "--bounding-set", "-all,+bpf,+perfmon")
        done = self.kernel("sched", COUNTERS, "page-faults", prefix=only)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_counter_without_a_pmu_is_refused_and_named(self):
        if pathlib.Path("/sys/bus/event_source/devices/cpu").exists():
            self.skipTest("this machine has a PMU")
        done = self.kernel("sched", COUNTERS, "page-faults,instructions")
        self.check_refused(
            done, 'counter "instructions": unavailable', "no PMU", "such as page-faults"
        )

    def test_unknown_and_too_many_counters_are_refused(self):
        done = self.kernel("sched", COUNTERS, "no-such-counter")
        self.check_refused(done, 'unknown counter "no-such-counter"', code=2)
        done = self.kernel("sched", COUNTERS, ",".join(["page-faults"] * 7))
        self.check_refused(done, "at most 6", code=2)

    def test_counters_take_no_descriptors_while_they_count(self):
        def is_recorded(limit, *counters):
            done = self.kernel("sched", *counters, prefix=("prlimit", f"--nofile={limit}"))
            if done.returncode != 0:
                self.check_refused(done, "Too many open files (raise the limit with ulimit -n)")
            return done.returncode == 0

        least = next(limit for limit in range(20, 200, 4) if is_recorded(limit))
        self.assertTrue(is_recorded(least, COUNTERS, ",".join(["page-faults"] * 6)))


if __name__ == "__main__":
    needs.tools("ip", "unshare", "setpriv", "prlimit")
    if reason := recorder.why_not():
        needs.skip(reason)
    mapi_interfaces.enter_name_space(is_own_user=False)
    mapi_interfaces.run("ip", "link", "set", "lo", "up")
    unittest.main()
