# SPDX-License-Identifier: MIT
# A loader that records its own BPF programs in its own session: the example program, built with the
# library nsprobe-bpf -> exact counts of its slices, whatever ends the recording.
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import mapi_interfaces
import needs
from nsbpf_example import BLOCKED, OTHER, RECORDS, Checks, Loader, build
from nsbpf_library import (
    BPF,
    CLANG,
    NESTED,
    NSDUMP,
    Recording,
    compile_program,
    counts,
    fail_of,
    run,
    stats_of,
    stop,
    udp_frame,
)

LIBRARIES = pathlib.Path(os.environ["NETSLICE_BUILD"]) / "lib"
SESSION = f"SESSION_LIBS=-L{LIBRARIES} -Wl,-rpath,{LIBRARIES} -lnsprobe-bpf -lnsprobe"
FEW = ("setpriv", "--bounding-set", "-all,+bpf,+perfmon,+net_admin")
# What a loader needs of the libraries, and an object that it may load; $1: the object.
PRELUDE = f"""
import ctypes, os, signal, socket, sys, time
from ctypes import c_char_p, c_void_p, byref, c_int, c_uint64
session = ctypes.CDLL("{LIBRARIES}/libnsprobe.so", mode=ctypes.RTLD_GLOBAL, use_errno=True)
own = ctypes.CDLL("{LIBRARIES}/libnsprobe-bpf.so", mode=ctypes.RTLD_GLOBAL, use_errno=True)
bpf = ctypes.CDLL("libbpf.so.1", mode=ctypes.RTLD_GLOBAL, use_errno=True)
session.nsp_last_error.restype = c_char_p
for name in "bpf_object__open", "bpf_object__find_program_by_name", "bpf_program__attach_xdp":
    getattr(bpf, name).restype = c_void_p

class Counts(ctypes.Structure):
    _fields_ = [("issued", c_uint64), ("drained", c_uint64), ("lost", c_uint64 * 8),
                ("file_bytes", c_uint64)]

def load(name=b"xdp_ports"):
    loaded = bpf.bpf_object__open(sys.argv[1].encode())
    assert loaded and bpf.bpf_object__load(c_void_p(loaded)) == 0, ctypes.get_errno()
    program = bpf.bpf_object__find_program_by_name(c_void_p(loaded), name)
    index = socket.if_nametoindex("far")
    assert bpf.bpf_program__attach_xdp(c_void_p(program), index), ctypes.get_errno()
    return loaded

def record():
    err = own.nsp_bpf_record(None)
    if err:
        print(-err, session.nsp_last_error().decode(), flush=True)
    return err

def go_on():
    print("ready", flush=True)
    return sys.stdin.readline()
"""


class Python:
    """A loader of these lines, which reads a line of its input wherever it says go_on()."""

    def __init__(self, program, lines, trace=None, options="", before=()):
        environment = {**os.environ}
        if trace:
            environment["NETSLICE"] = f"output={trace} {options}"
        self.process = subprocess.Popen(
            [*before, sys.executable, "-B", "-c", PRELUDE + lines, program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def wait(self):
        line = self.process.stdout.readline()
        if line != "ready\n":
            fail_of(self.process, line)

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self, status=0):
        output, words = self.process.communicate(timeout=60)
        assert self.process.returncode == status, (self.process.returncode, output, words)
        return output, words


def objects_of(process):
    """Kind and id of the BPF objects that it has open."""
    found = set()
    for path in pathlib.Path(f"/proc/{process.pid}/fdinfo").iterdir():
        for line in path.read_text().splitlines():
            kind, _, number = line.partition("_id:")
            if kind in ("prog", "map", "link"):
                found.add((kind, number.strip()))
    return found


def left_of(objects):
    return [one for one in objects if run("bpftool", one[0], "show", "id", one[1]).returncode == 0]


class Sessions(Checks):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="netslice-session-")
        cls.folder = pathlib.Path(cls.temporary.name)
        build(cls.folder, SESSION)
        mapi_interfaces.make_pair("near", "far")

    @classmethod
    def tearDownClass(cls):
        run("ip", "link", "del", "near")
        cls.temporary.cleanup()

    def setUp(self):
        self.trace = self.folder / "session.nsl"
        self.trace.unlink(missing_ok=True)

    def load(self, *options, session="", before=(), **words):
        loader = Loader(
            *(self.folder, *options),
            environment={"NETSLICE": f"output={self.trace} {session}"},
            record=before,
            **words,
        )
        self.addCleanup(stop, loader.process)
        return loader

    def python(self, lines, *, has_trace=True, program=None, **words):
        program = program or self.folder / "xdp_ports.bpf.o"
        loader = Python(program, lines, self.trace if has_trace else None, **words)
        self.addCleanup(stop, loader.process)
        return loader

    def check_session(self, packets, trace=None):
        stats = stats_of(trace or self.trace)
        self.check_whole(trace or self.trace)
        self.check_packets(stats, packets=packets, with_port=packets)
        self.assertTrue(stats["losses"]["equation_holds"])
        return stats

    def test_each_packet_and_the_loaders_own_slice_are_in_its_trace_on_one_clock(self):
        loader = self.load()
        mapi_interfaces.send("near", udp_frame(BLOCKED), count=300)
        mapi_interfaces.send("near", udp_frame(OTHER), count=200)
        self.assertEqual(loader.end(), "")
        stats = self.check_session(500)
        self.assertEqual(stats["losses"]["issued"], 500 * RECORDS + 2)
        self.assertEqual(sum(stats["losses"]["lost"].values()), 0)
        info = stats["info"]
        self.assertEqual(info["kernel.recorder"], "bpf")
        self.assertEqual(info["kernel.recorder.reason"], "the program records its own BPF programs")
        self.assertEqual(info["kernel.programs"], "xdp_ports")
        self.assertLess(float(info["kernel.clock.residual_ns"]), 1e6)
        for one in stats["slices"]:
            if one["name"].startswith("kernel:"):
                value = one["values"][0]
                self.assertLess(value["net"]["mean"], value["raw"]["mean"], one)
        shown = run(NSDUMP, "show", self.trace).stdout.splitlines()[1:]
        events = [line.split() for line in shown]
        self.assertEqual(
            [one[3:5] for one in events[:3]],
            [["START", "attach"], ["STOP", "attach"], ["INIT", "kernel:packet"]],
        )

    def test_rules_of_the_session_select_slices_of_the_program(self):
        loader = self.load(session="slices=look*")
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        words = loader.end()
        found = counts(stats_of(self.trace))
        self.assertEqual(found, {"packet": 100, "lookup": 100})
        self.assertEqual(words, "")  # the pattern matches a name of the program

    def test_rules_that_change_while_it_runs_apply_to_the_program(self):
        loader = self.load(session="control=yes")
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        done = run(NSDUMP, "control", "-p", loader.process.pid, "--slices", "look*")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        time.sleep(0.3)  # the drain follows
        mapi_interfaces.send("near", udp_frame(OTHER), count=50)
        loader.end()
        found = counts(stats_of(self.trace))
        self.assertEqual((found["packet"], found["lookup"]), (150, 150))
        self.assertEqual((found["parse"], found["port"]), (100, 100))

    def test_the_sessions_thinning_applies_to_the_program(self):
        nested = compile_program(NESTED, self.folder)
        loader = self.python("load(b'nested')\nrecord()\ngo_on()", program=nested, options="thin=1")
        loader.wait()
        for _ in range(200):
            mapi_interfaces.send("near", udp_frame(OTHER), count=50)
            time.sleep(0.005)
        self.assertEqual(loader.end(), ("", ""))
        stats = stats_of(self.trace)
        self.check_whole(self.trace)
        (unit,) = stats["program_thinning"]["units"]
        self.assertEqual(unit["name"], "kernel:packet")
        self.assertGreater(unit["epochs_off"], 20)
        self.assertEqual(counts(stats)["outer"], 200 * 50)
        self.assertLess(counts(stats)["inner"], 0.9 * 200 * 50)

    def test_a_flood_into_small_rings_is_counted(self):
        loader = self.load("-r", 4096)
        os.kill(loader.process.pid, signal.SIGSTOP)
        mapi_interfaces.send("near", udp_frame(OTHER), count=1000)
        os.kill(loader.process.pid, signal.SIGCONT)
        mapi_interfaces.send("near", udp_frame(OTHER), count=2000)
        loader.end()
        losses = stats_of(self.trace)["losses"]
        self.check_whole(self.trace)
        self.assertGreater(losses["lost"]["full"], 0)
        self.assertEqual(losses["issued"], 3000 * RECORDS + 2)

    def test_a_loader_without_cap_sys_admin_records_its_programs_only(self):
        other = Loader(self.folder)  # without a session
        self.addCleanup(stop, other.process)
        loader = self.load(before=FEW, interface="near")
        mapi_interfaces.send("near", udp_frame(OTHER), count=150)
        mapi_interfaces.send("far", udp_frame(OTHER), count=100)
        self.assertEqual(loader.end(), "")
        stats = self.check_session(100)
        self.assertEqual(stats["losses"]["issued"], 100 * RECORDS + 2)

    def test_a_program_that_is_loaded_after_the_call_is_recorded(self):
        loader = self.python("record()\nload()\ntime.sleep(0.5)\ngo_on()\ngo_on()")
        loader.wait()
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        loader.go_on()
        loader.wait()
        self.assertEqual(loader.end(), ("", ""))
        self.check_session(100)

    def test_the_recording_ends_before_the_session_with_its_counts(self):
        loader = self.python(
            "load()\nrecord()\ngo_on()\ncounts = Counts()\n"
            "assert own.nsp_bpf_record_end(byref(counts)) == 0\n"
            "assert counts.issued == counts.drained == 700, counts.issued\n"
            "go_on()\nassert record()\nassert session.nsp_session_close(None) == 0"
        )
        loader.wait()
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        loader.go_on()
        loader.wait()
        mapi_interfaces.send("near", udp_frame(OTHER), count=50)  # probes are off
        output, words = loader.end()
        self.assertIn("16 the session already has kernel records", output)
        self.assertEqual(words, "")
        self.assertEqual(self.check_session(100)["losses"]["issued"], 100 * RECORDS)

    def test_a_program_that_nsdump_has_is_named_and_recorded_after_it(self):
        loader = self.python("load()\ngo_on()\nrecord()\ngo_on()\ntime.sleep(0.5)\ngo_on()")
        loader.wait()
        first = Recording(self.folder / "other.nsl", "programs")
        self.addCleanup(stop, first.process)
        loader.go_on()
        loader.wait()
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        first.end()
        loader.go_on()
        loader.wait()
        mapi_interfaces.send("near", udp_frame(OTHER), count=50)
        output, words = loader.end()
        self.assertEqual(output, "")
        self.assertIn(
            f"netslice: warning: program xdp_ports is not recorded: process {first.process.pid} "
            "already records it",
            words,
        )
        self.assertEqual(words.count("\n"), 1)
        self.check_session(100, first.trace)
        self.check_session(50)

    def test_under_nsdump_record_the_loader_leaves_its_programs_to_nsdump(self):
        loader = Loader(
            *(self.folder, "-w"),
            record=(NSDUMP, "record", "-k", "programs", BPF, "-w", self.trace, "--"),
            environment={"NETSLICE": f"output={self.folder}/unused.nsl"},
        )
        self.addCleanup(stop, loader.process)
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        words = loader.end()
        self.assertNotIn("netslice:", words)
        stats = self.check_session(100)
        self.assertIn("attach", counts(stats))
        self.assertFalse((self.folder / "unused.nsl").exists())

    def test_a_loader_without_a_session_runs_as_without_the_library(self):
        loader = Loader(self.folder)
        self.addCleanup(stop, loader.process)
        mapi_interfaces.send("near", udp_frame(OTHER), count=10)
        self.assertEqual(loader.end(), "")
        python = self.python("record()", has_trace=False)
        output, _ = python.end()
        self.assertTrue(output.startswith("2 no session is open"), output)

    def test_a_lack_of_capabilities_is_named_and_the_session_continues(self):
        python = self.python("record()", before=("setpriv", "--bounding-set", "-all"))
        output, words = python.end()
        self.assertTrue(output.startswith("1 "), output)
        self.assertIn("requires the capabilities CAP_BPF and CAP_PERFMON", output)
        self.assertEqual(words, "")
        self.check_whole(self.trace)

    def test_a_killed_loader_leaves_nothing_and_a_readable_trace(self):
        loader = self.load()
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        time.sleep(0.2)
        objects = objects_of(loader.process)
        self.assertEqual({kind for kind, _ in objects}, {"prog", "map", "link"})
        loader.process.kill()
        loader.process.wait()
        self.assertTrue(mapi_interfaces.wait_until(lambda: not left_of(objects)))
        stats = stats_of(self.trace)
        self.assertEqual(counts(stats)["packet"], 100)

    def test_an_exec_ends_the_recording_and_leaves_nothing(self):
        loader = self.python("load()\nrecord()\ngo_on()\nos.execvp('cat', ['cat'])")
        loader.wait()
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        time.sleep(0.2)
        objects = objects_of(loader.process)
        loader.go_on()
        self.assertTrue(mapi_interfaces.wait_until(lambda: not left_of(objects)))
        loader.end()
        self.assertEqual(counts(stats_of(self.trace))["packet"], 100)

    def test_a_program_that_outlives_an_exec_is_recorded_by_the_next_session(self):
        second = self.folder / "second.nsl"
        loader = self.python(
            "if 'AGAIN' in os.environ:\n    record()\n    go_on()\n    sys.exit(0)\n"
            "load()\nrecord()\ngo_on()\n"
            "for number in range(3, 200):\n"
            "    try: os.set_inheritable(number, True)\n    except OSError: pass\n"
            f"os.environ |= {{'AGAIN': '1', 'NETSLICE': 'output={second}'}}\n"
            "os.execv(sys.executable, sys.orig_argv)"
        )
        loader.wait()
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        loader.go_on()
        loader.wait()
        mapi_interfaces.send("near", udp_frame(OTHER), count=50)
        self.assertEqual(loader.end(), ("", ""))
        self.check_session(50, second)

    def test_a_child_of_fork_does_not_delay_or_change_the_end(self):
        loader = self.python(
            "load()\nrecord()\nchild = os.fork()\nif child == 0:\n"
            "    refused = own.nsp_bpf_record_end(None)\n"
            "    time.sleep(20)\n    os._exit(0 if refused == -2 else 1)\n"
            "go_on()\nassert session.nsp_session_close(None) == 0\n"
            "done, status = os.waitpid(child, os.WNOHANG)\nassert done == 0, status\n"
            "os.kill(child, signal.SIGKILL)"
        )
        loader.wait()
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        begin = time.monotonic()
        self.assertEqual(loader.end(), ("", ""))
        self.assertLess(time.monotonic() - begin, 8)
        self.check_session(100)

    def test_a_child_of_fork_may_record_in_a_session_of_its_own(self):
        own = self.folder / "child.nsl"
        loader = self.python(
            "child = os.fork()\nif child == 0:\n"
            f"    assert session.nsp_session_configure(b'output={own}') == 0\n"
            "    load()\n    record()\n    go_on()\n"
            "    assert session.nsp_session_close(None) == 0\n    os._exit(0)\n"
            "assert os.waitpid(child, 0)[1] == 0",
            has_trace=False,
        )
        loader.wait()
        mapi_interfaces.send("near", udp_frame(OTHER), count=100)
        self.assertEqual(loader.end(), ("", ""))
        self.check_session(100, own)

    def test_messages_of_the_loaders_libbpf_stay_as_they_were(self):
        loader = self.python("load()\nrecord()\nassert not bpf.bpf_object__open(b'/no/object')")
        self.assertIn("libbpf: elf: failed to open /no/object", loader.end()[1])

    def test_the_process_ends_after_pthread_exit_of_its_main_thread(self):
        loader = self.python("load()\nrecord()\nctypes.CDLL(None).pthread_exit(None)")
        loader.end()
        self.check_whole(self.trace)


needs.tools("make", "bpftool", "ip", "setpriv")
if os.geteuid() != 0:
    needs.skip("requires root")
if not pathlib.Path("/sys/kernel/btf/vmlinux").exists() or not CLANG:
    needs.skip("no BTF, or no clang")
mapi_interfaces.enter_name_space(is_own_user=False)
if __name__ == "__main__":
    unittest.main()
