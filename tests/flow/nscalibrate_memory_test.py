# SPDX-License-Identifier: MIT
# nscalibrate --memory: latencies that grow with the memory in use, as JSON and as tables.
import ctypes
import json
import os
import pathlib
import pty
import resource
import signal
import subprocess
import tempfile
import unittest

NSCALIBRATE = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nscalibrate"
DISABLE_HUGE_PAGES = 41  # PR_SET_THP_DISABLE
LARGEST = 4 << 20


def run(*words, **more):
    command = [str(NSCALIBRATE), "--memory", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, **more)


def without_huge_pages():
    assert ctypes.CDLL(None).prctl(DISABLE_HUGE_PAGES, 1, 0, 0, 0) == 0


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.done = run("--largest", "4M", "--json")
        cls.data = json.loads(cls.done.stdout or "{}")

    def test_its_exit_code_agrees_with_its_warnings(self):
        self.assertEqual(self.done.stderr, "")
        self.assertEqual(self.done.returncode, 0 if self.data["trusted"] else 1)

    def test_each_size_has_a_median_inside_its_interval(self):
        self.assertEqual(self.data["schema"], "netslice-memory-1")
        method = self.data["method"]
        sizes = [point["bytes"] for point in self.data["small"]]
        self.assertEqual(sizes, sorted(set(sizes)))
        self.assertEqual((sizes[0], sizes[-1]), (4096, LARGEST))
        for point in self.data["small"] + self.data["huge"]:
            for way in ("alone", "overlapped"):
                median = point[way]
                self.assertEqual(median["batches"], method["passes"] * method["batches_per_pass"])
                self.assertLess(0, median["ns_low"])
                self.assertLessEqual(median["ns_low"], median["ns"])
                self.assertLessEqual(median["ns"], median["ns_high"])
                ns = median["ticks"] / self.data["clock"]["hz"] * 1e9
                self.assertAlmostEqual(median["ns"], ns, places=6)

    def test_a_load_takes_longer_in_more_memory_than_the_first_cache_holds(self):
        small = self.data["small"]
        self.assertLess(small[0]["alone"]["ns"], small[-1]["alone"]["ns"])

    def test_independent_loads_overlap(self):
        last = self.data["small"][-1]
        self.assertLess(last["overlapped"]["ns"], last["alone"]["ns"])

    def test_levels_are_caches_of_the_machine_that_were_measured_inside(self):
        caches = {f"L{cache['level']}": cache["bytes"] for cache in self.data["caches"]}
        for level in self.data["levels"]:
            if level["name"] == "memory":
                continue
            self.assertEqual(level["bytes"], caches[level["name"]])
            self.assertLess(level["measured_bytes"], level["bytes"])

    def test_pages_are_counted_up_to_the_largest_size(self):
        pages = [point["pages"] for point in self.data["by_page"]]
        self.assertEqual(pages, sorted(set(pages)))
        self.assertLessEqual(pages[-1] * os.sysconf("SC_PAGESIZE"), LARGEST)

    def test_huge_pages_are_used_where_the_kernel_gives_them(self):
        setting = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
        if not setting.exists() or "[never]" in setting.read_text():
            self.skipTest("the kernel gives no huge pages")
        if self.data["huge_share"] < 0.9:
            self.skipTest("the kernel has no huge pages left")
        self.assertEqual(len(self.data["huge"]), len(self.data["small"]))
        self.assertIsNone(self.data["why_not_huge"])

    def test_without_huge_pages_it_says_why(self):
        done = run("--largest", "64K", "--json", preexec_fn=without_huge_pages)
        data = json.loads(done.stdout)
        self.assertEqual(data["huge"], [])
        self.assertIn("0 % of the memory on huge pages", data["why_not_huge"])
        self.assertTrue(all(level["huge"] is None for level in data["levels"]))

    def test_the_tables_have_a_line_for_each_size(self):
        done = run("--largest", "16K")
        lines = done.stdout.splitlines()
        for size in ("4K", "6K", "8K", "12K", "16K"):
            self.assertTrue(any(line.startswith(f"{size} ") for line in lines), size)

    def test_too_little_memory_is_an_error_with_a_remedy(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))

        if run("--largest", "4K", preexec_fn=limited).returncode not in (0, 1):
            self.skipTest("with a sanitizer the program needs more memory than the limit")
        done = run("--largest", "512M", preexec_fn=limited)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("use a smaller --largest", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_ctrl_c_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            controller, terminal = pty.openpty()
            try:
                command = [NSCALIBRATE, "--memory", "--json", "-o", os.path.join(folder, "m.json")]
                process = subprocess.Popen(command, stderr=terminal)
                os.close(terminal)
                said = b""
                while b"pass 1 of" not in said:
                    said += os.read(controller, 4096)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(timeout=60), 130)
                self.assertEqual(os.listdir(folder), [])
            finally:
                os.close(controller)


if __name__ == "__main__":
    unittest.main(verbosity=2)
