# SPDX-License-Identifier: MIT
# Collectors on a local player, with real programs and with recorded outputs of others.
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import PATIENCE_S, SOURCE, ConductCase, main  # noqa: E402
from nsconduct.collectors import cpu, interfaces, nsdump, perf, snapshot  # noqa: E402
from nsconduct.collectors.collector import CollectorError  # noqa: E402
from nsconduct.collectors.group import CollectorGroup  # noqa: E402
from nsconduct.collectors.registry import COLLECTORS  # noqa: E402
from nsconduct.transports.local import LocalTransport  # noqa: E402
from nsconduct.transports.settings import Settings  # noqa: E402

CAPTURE = os.path.join(SOURCE, "mapi-core", "apps", "demo", "demo.pcap")
BIN = os.environ.get("NETSLICE_BIN", "")
STAT = "cpu  {} 0 20 30 0 0 {} 0 0 0\ncpu0 1 0 0 30 0 0 0 0 0 0\nintr {} 5 5\nctxt 7\nprocesses 3\n"
DEV = "Inter-|   Receive  |  Transmit\n face |bytes ...\n  eth0: {}\n    lo:" + 16 * " 0" + "\n"

# Attaches "return 0" to a socket by bpf(), sends it seven packets, and stays.
FILTER = """\
import ctypes, os, signal, socket, struct
code = ctypes.create_string_buffer(struct.pack("=QQ", 0xB7, 0x95))
licence = ctypes.create_string_buffer(b"GPL")
attributes = struct.pack(
    "=IIQQIIQII16s", 1, 2, ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0, 0, 0,
    b"seven_runs",
)
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
program = libc.syscall(number, 5, ctypes.create_string_buffer(attributes), len(attributes))
assert program >= 0, os.strerror(ctypes.get_errno())
filtered, sender = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
filtered.bind(("127.0.0.1", 0))
filtered.setsockopt(socket.SOL_SOCKET, 50, program)
for _ in range(7):
    sender.sendto(b"x", filtered.getsockname())
print("sent", flush=True)
signal.pause()
"""


class LocalCase(ConductCase):
    def setUp(self):
        super().setUp()
        path = os.pathsep.join([self.folder, BIN, os.environ["PATH"]])
        patched = unittest.mock.patch.dict(os.environ, PATH=path)
        patched.start()
        self.addCleanup(patched.stop)
        transport = LocalTransport(Settings(self.folder, None))
        self.player = transport.player("host", "")
        self.player.open()
        self.addCleanup(self.player.close)

    def group(self, name):
        return CollectorGroup({"host": [name]}, {"host": self.player}, self.path("output"))

    def collected(self, name, command):
        """A trial's Run phase with one collector -> its figures."""
        group = self.group(name)
        group.start()
        files = self.path("step.out"), self.path("step.err")
        done = self.player.run(group.prelude("host") + command, PATIENCE_S, *files)
        self.assertEqual((done.exit_code, done.failure), (0, None), self.read("step.err"))
        return self.ended(group)

    def ended(self, group):
        group.stop()
        self.player.end_spawned()
        group.finish()
        (figures,) = group.collected["host"].values()
        return figures

    def program(self, name, text):
        """A stand-in for a program of the player."""
        path = self.write(name, f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)


class SnapshotsTest(LocalCase):
    def test_cpu_time_of_a_busy_process_is_counted(self):
        busy = f"{sys.executable} -S -c 'import time\nwhile time.process_time() < 0.4: pass'"
        found = self.collected("cpu", busy)
        self.assertGreater(found["cpu_s"]["busy"], 0.3)
        self.assertGreaterEqual(found["seconds"], 0.4)
        self.assertEqual(found["cpus"], os.cpu_count())
        self.assertGreaterEqual(found["processes"], 1)
        self.assertIn("NET_RX", found["softirqs"])

    def test_each_collectors_own_cost_is_in_its_figures(self):
        for name in ("cpu", "interfaces") * 5:
            cost = self.collected(name, "true")["cost"]
            self.assertEqual(cost["commands"], 2)
            # two processes: each takes more than 50 us to start
            self.assertTrue(1e-4 < cost["cpu_s"] <= cost["wall_s"] + 0.02, cost)

    def test_nothing_but_figures_stays_of_a_reading(self):
        self.collected("cpu", "true")
        self.assertEqual(os.listdir(self.path("output/host")), [])

    def test_figures_are_differences_of_recorded_counters(self):
        texts = [
            {cpu._STAT: STAT.format(10, 5, 100), cpu._SOFTIRQS: "  CPU0 CPU1\nNET_RX: 5 7\n"},
            {cpu._STAT: STAT.format(60, 9, 130), cpu._SOFTIRQS: "  CPU0 CPU1\nNET_RX: 6 9\n"},
        ]
        found = cpu.CpuCollector(self.player, self.folder).difference(*texts)
        self.assertEqual((found["cpu_s"]["user"], found["cpu_s"]["softirq"]), (0.5, 0.04))
        self.assertEqual((found["softirqs"], found["interrupts"]), ({"NET_RX": 3}, 30))

    def test_interfaces_that_appear_count_from_zero_and_those_that_vanish_are_named(self):
        row = " ".join(map(str, range(1, 17)))
        texts = [{interfaces._DEV: DEV.format(row)}, {interfaces._DEV: DEV.format(row)}]
        texts[1][interfaces._DEV] = texts[1][interfaces._DEV].replace("eth0", "veth1")
        found = interfaces.InterfacesCollector(self.player, self.folder).difference(*texts)
        self.assertEqual(found["vanished"], ["eth0"])
        self.assertEqual(found["interfaces"]["veth1"]["rx_packets"], 2)
        self.assertEqual(found["interfaces"]["veth1"]["tx_bytes"], 9)
        self.assertEqual(found["interfaces"]["lo"]["tx_dropped"], 0)

    def test_a_file_that_the_player_does_not_have_makes_figures_unavailable(self):
        class Absent(snapshot.SnapshotCollector):
            NAME = "absent"
            FILES = ("/proc/none",)
            difference = None

        with self.assertRaisesRegex(CollectorError, "/proc/none: the player does not have it"):
            Absent(self.player, self.path("output")).start()


class PerfTest(LocalCase):
    COUNTED = "1000;;cycles;5;100.00;;\n2500;;instructions:u;5;100.00;2.5;insn per cycle\n"

    def test_without_a_pmu_the_collector_says_so_and_the_trial_continues(self):
        self.program("perf", "echo '<not supported>;;cycles;0;100.00;;' >&2")
        self.assertEqual(self.collected("perf", "true"), {"unavailable": "no PMU"})

    def test_counters_of_perf_stat_are_read_when_it_has_ended(self):
        self.program(
            "perf",  # a stand-in: few machines that run tests have a PMU
            'case $* in *true) printf "5;;cycles;5;100.00;;\\n" >&2; exit;; esac\n'
            f"trap 'printf \"{self.COUNTED}\" >&2; exit 130' INT\n"
            "while :; do sleep 0.01; done",
        )
        found = self.collected("perf", "true")
        self.assertEqual(found["counters"], {"cycles": 1000.0, "instructions": 2500.0})
        self.assertEqual(found["instructions_per_cycle"], 2.5)
        self.assertGreater(found["cost"]["program_cpu_s"], 0)
        self.assertGreaterEqual(found["cost"]["cpu_s"], 0)

    def test_perf_s_own_reason_is_shown(self):
        self.program("perf", "echo 'Error: access to events is limited' >&2; exit 255")
        found = self.collected("perf", "true")
        self.assertEqual(found["unavailable"], "perf: Error: access to events is limited")

    def test_a_counter_that_did_not_run_is_null(self):
        found = perf.counters("<not counted>;;cycles;0;0.00;;\n12.5;msec;task-clock;1;100.00;;")
        self.assertEqual(found, {"cycles": None, "task-clock": 12.5})

    def test_a_real_perf_record_leaves_a_file_that_perf_reads(self):
        if not shutil.which("perf") or os.geteuid():
            self.skipTest("requires perf (Debian: linux-perf) and root")
        found = self.collected("perf-record", "sleep 0.2")
        if "unavailable" in found:
            self.skipTest(found["unavailable"])
        path = self.path(f"output/host/{found['file']}")
        self.assertEqual(found["bytes"], os.path.getsize(path))
        done = subprocess.run(
            ["perf", "script", "-i", path, "-F", "event"],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(done.stdout.count(found["event"]), found["samples"])


class BpfTest(LocalCase):
    def setUp(self):
        super().setUp()
        if os.geteuid() or not shutil.which("bpftool", path="/usr/sbin:" + os.environ["PATH"]):
            self.skipTest("requires bpftool and root")

    def test_runs_of_a_program_that_filters_seven_packets_are_counted(self):
        script = self.write("filter.py", FILTER)
        group = self.group("bpf")
        group.start()
        if "unavailable" in group.collected["host"]["bpf"]:
            self.skipTest(group.collected["host"]["bpf"]["unavailable"])
        self.player.spawn(f"{sys.executable} {script}", self.path("filter"), self.path("error"))
        self.wait_for(lambda: self.read("filter") + self.read("error"), "packets of the filter")
        self.assertEqual(self.read("error"), "")
        found = self.ended(group)
        (program,) = [one for one in found["programs"] if one["name"] == "seven_runs"]
        self.assertEqual((program["runs"], program["type"]), (7, "socket_filter"))
        self.assertEqual(program["ns_per_run"], program["run_time_ns"] / 7)
        self.assertGreater(program["run_time_ns"], 0)
        self.assertGreaterEqual(found["cost"]["runs_with_statistics"], 7)

    def test_the_process_that_holds_the_statistics_ends_with_the_collector(self):
        self.collected("bpf", "true")
        self.assertEqual(self.processes(), [])

    def test_runs_are_the_difference_of_two_readings(self):
        program = {"id": 5, "name": "drop", "type": "xdp"}
        readings = [[program], [{**program, "run_cnt": 4, "run_time_ns": 200}]]
        for number, reading in enumerate(readings):
            self.write(f"reading-{number}", json.dumps(reading))
        self.program(
            "bpftool",
            f"cd {self.folder}; n=0; [ -e second ] && n=1; touch second; cat reading-$n",
        )
        found = self.collected("bpf", "true")
        if "unavailable" in found:
            self.skipTest(found["unavailable"])
        self.assertEqual(
            found["programs"],
            [{**program, "runs": 4, "run_time_ns": 200, "ns_per_run": 50.0}],
        )


class NsdumpTest(LocalCase):
    def setUp(self):
        super().setUp()
        for program in ("nsdump", "mapi-count"):
            if not shutil.which(program):
                self.skipTest(f"requires {program}")

    def test_net_figures_of_a_program_with_probes_are_collected_with_its_trace(self):
        found = self.collected("nsdump", f"mapi-count -r {CAPTURE}")
        self.assertNotIn("unavailable", found)
        (trace,) = found["traces"]
        self.assertIn("mapi-count -r", trace["command"])
        slices = trace["slices"]
        self.assertEqual(slices["driver_read"]["packets"], 4827)
        self.assertGreater(slices["driver_read"]["ns"]["net"], 0)
        kept = self.path(f"output/host/{trace['file']}")
        self.assertEqual(trace["bytes"], os.path.getsize(kept))
        subprocess.run(["nsdump", "check", "-q", kept], check=True)

    def test_a_command_that_sets_its_own_session_keeps_it(self):
        own = self.path("own.nsl")
        found = self.collected("nsdump", f"NETSLICE=output={own} mapi-count -r {CAPTURE}")
        self.assertEqual(found["traces"], [])
        self.assertGreater(os.path.getsize(own), 0)

    def test_a_program_without_probes_leaves_no_trace(self):
        self.assertEqual(self.collected("nsdump", "true")["traces"], [])


class FiguresTest(LocalCase):
    def test_ticks_become_nanoseconds_and_counters_stay(self):
        net = {"trimmed_mean": 300.0, "trimmed_ci95": 30.0, "total": 600.0}
        document = {
            "info": {"program.command": "app"},
            "losses": {"lost": {"full": 2, "busy": 1}, "issued": 9},
            **{"warnings": ["w"], "incomplete": [], "clock": {"hz": 3e9}},
            "slices": [
                {
                    **{"name": "parse", "count": 2, "packets": 4},
                    "values": [
                        {"field": "ticks", "net": net, "per_packet": {"net_trimmed": 150.0}},
                        {"field": "instructions", "net": None},
                    ],
                }
            ],
        }
        found = nsdump.figures(document)
        self.assertEqual((found["lost"], found["issued"], found["warnings"]), (3, 9, ["w"]))
        parse = found["slices"]["parse"]
        self.assertEqual(parse["ns"]["net"], 100.0)
        self.assertEqual(parse["ns"]["net_per_packet"], 50.0)
        self.assertIsNone(parse["instructions"]["net"])


class FailuresTest(LocalCase):
    def test_collectors_of_a_player_that_has_died_are_unavailable(self):
        self.player.keeper.process.kill()
        self.player.keeper.process.wait()
        for name in COLLECTORS:
            group = self.group(name)
            group.start()
            self.assertIn("died", self.ended(group)["unavailable"], name)


class WholeRunTest(ConductCase):
    def test_counters_of_a_namespace_are_those_of_its_own_interfaces(self):
        if os.geteuid():
            self.skipTest("requires root")
        network = "[Network]\nlink: source eth0 10.9.0.1/24 sink eth0 10.9.0.2/24\n"
        where = "[Transport]\nsource: namespace\nsink: namespace\n"
        self.master(
            *("source", "sink"),
            more=where + network + "[Collectors]\nsink: interfaces cpu\nsource: interfaces\n",
        )
        self.player("source", run="step1: ping -c 5 -i 0.01 10.9.0.2")
        self.player("sink", run="step1: true")
        self.run_master()
        (trial,) = self.trials()
        counted = {
            name: trial["collected"][name]["interfaces"]["interfaces"]
            for name in ("source", "sink")
        }
        self.assertEqual(sorted(counted["sink"]), ["eth0", "lo"])
        self.assertGreaterEqual(counted["sink"]["eth0"]["rx_packets"], 5)
        self.assertEqual(
            counted["sink"]["eth0"]["tx_packets"], counted["source"]["eth0"]["rx_packets"]
        )
        self.assertGreater(trial["collected"]["sink"]["cpu"]["context_switches"], 0)
        self.assertGreaterEqual(trial["load_by_others"], 0)

    def test_an_unavailable_collector_does_not_fail_the_trial(self):
        self.master("host", more="[Collectors]\nhost: perf\n")
        self.player("host", run="step1: true")
        perf_path = self.write("perf", "#!/bin/sh\necho '<not supported>;;cycles;0;0;;' >&2\n")
        os.chmod(perf_path, 0o755)
        path = os.pathsep.join([self.folder, os.environ["PATH"]])
        self.run_master(env={"PATH": path})
        (trial,) = self.trials()
        self.assertEqual(trial["status"], "ok")
        self.assertEqual(trial["collected"], {"host": {"perf": {"unavailable": "no PMU"}}})

    def test_an_interruption_leaves_no_file_of_a_collector(self):
        self.master("host", more="[Collectors]\nhost: nsdump bpf perf-record\n")
        self.player("host", run="step1: touch started; sleep 60")
        perf_text = "[ $1 = record ] && exec sleep 60\necho '5;;cycles;5;100;;' >&2"
        for program, text in (("nsdump", ""), ("bpftool", "echo '[]'"), ("perf", perf_text)):
            self.write(program, f"#!/bin/sh\n{text}\n")  # start() needs no more of them
            os.chmod(self.path(program), 0o755)
        os.mkdir(self.path("tmp"))
        path = os.pathsep.join([self.folder, os.environ["PATH"]])
        with unittest.mock.patch.dict(os.environ, PATH=path, TMPDIR=self.path("tmp")):
            with self.running() as process:
                self.wait_for_file("started")
                self.assertTrue(os.listdir(self.path("tmp")))
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(PATIENCE_S), 130)
        self.assertEqual(os.listdir(self.path("tmp")), [])
        self.assert_nothing_left()

    def test_the_environment_of_every_player_is_in_the_results(self):
        self.master("a", "b")
        self.player("a", run="step1: true")
        self.player("b", run="step1: true")
        self.run_master()
        with open(os.path.join(self.out, "experiment.json"), encoding="utf-8") as file:
            environment = json.load(file)["environment"]
        self.assertEqual(sorted(environment["players"]), ["a", "b"])
        self.assertEqual(environment["players"]["a"]["kernel"], os.uname().release)
        self.assertTrue(environment["toolkit"])


if __name__ == "__main__":
    main()
