# SPDX-License-Identifier: MIT
# The environment of a player, why two of them are not alike, and the load by others.
import contextlib
import copy
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import conduct_case  # noqa: E402, F401
from nsconduct.environment import cpu_times, gather, load, unlike  # noqa: E402

SERVER = """\
==> uname <==
Linux
6.1.0-25-amd64
#1 SMP PREEMPT_DYNAMIC Debian 6.1.106-3
x86_64
==> cpus <==
4
==> /etc/os-release <==
PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"

==> /proc/cpuinfo <==
processor\t: 0
model name\t: Intel(R) Xeon(R) CPU E5-2637 v3 @ 3.50GHz
flags\t\t: fpu vme aes avx2

==> /proc/meminfo <==
MemTotal:       65774420 kB

==> /sys/devices/system/cpu/smt/active <==
1

==> /sys/devices/system/cpu/intel_pstate/no_turbo <==
1

==> /sys/devices/system/clocksource/clocksource0/current_clocksource <==
tsc
==> mitigations <==
meltdown:Mitigation: PTI
spectre_v2:Mitigation: Retpolines; IBPB: conditional
==> cpufreq <==
cpu0/cpufreq/scaling_governor:performance
cpu1/cpufreq/scaling_governor:powersave
cpu0/cpufreq/scaling_driver:intel_pstate
cpu0/cpufreq/scaling_min_freq:1200000
cpu1/cpufreq/scaling_min_freq:1200000
cpu0/cpufreq/scaling_max_freq:3500000
==> interface ix0 <==
driver: ixgbe
version: 6.1.0
firmware-version: 0x800003e1
bus-info: 0000:03:00.0
mtu: 9000
speed: 10000
==> offloads ix0 <==
Features for ix0:
rx-checksumming: on
\ttx-checksum-ipv4: off [fixed]
tcp-segmentation-offload: off
large-receive-offload: on
==> interface veth0 <==
driver: veth
mtu: 1500
speed: -1
==> offloads veth0 <==
"""


class Gathered(unittest.TestCase):
    def test_a_recorded_server_has_what_changes_figures(self):
        found = gather.parsed(SERVER)
        self.assertEqual(found["system"], "Debian GNU/Linux 12 (bookworm)")
        self.assertEqual((found["kernel"], found["architecture"]), ("6.1.0-25-amd64", "x86_64"))
        self.assertEqual(found["cpu"], "Intel(R) Xeon(R) CPU E5-2637 v3 @ 3.50GHz")
        self.assertEqual((found["cpus"], found["smt"], found["hypervisor"]), (4, True, None))
        self.assertEqual(found["memory_kb"], 65774420)
        self.assertEqual(found["clock_source"], "tsc")
        self.assertEqual(found["mitigations"]["meltdown"], "Mitigation: PTI")
        frequency = found["frequency"]
        self.assertEqual(frequency["governor"], "performance, powersave")
        self.assertEqual((frequency["min_khz"], frequency["max_khz"]), ("1200000", "3500000"))
        self.assertIs(frequency["turbo"], False)

    def test_interfaces_have_driver_speed_and_the_offloads_that_are_on(self):
        found = gather.parsed(SERVER)["interfaces"]
        self.assertEqual(found["ix0"]["driver"], "ixgbe")
        self.assertEqual((found["ix0"]["mtu"], found["ix0"]["mbits_per_s"]), (9000, 10000))
        self.assertEqual(found["ix0"]["offloads"], ["large-receive-offload", "rx-checksumming"])
        self.assertIsNone(found["veth0"]["mbits_per_s"])

    def test_what_a_machine_does_not_have_is_null(self):
        found = gather.parsed("==> uname <==\nLinux\n")
        self.assertIsNone(found["kernel"])
        self.assertIsNone(found["cpu"])
        self.assertEqual((found["mitigations"], found["interfaces"]), ({}, {}))

    def test_this_machine_is_described_as_other_programs_do(self):
        before = set(os.listdir("/sys/class/net"))
        done = subprocess.run(
            ["sh", "-c", gather.SCRIPT], capture_output=True, text=True, check=True
        )
        self.assertEqual(done.stderr, "")
        found = gather.parsed(done.stdout)
        self.assertEqual(found["kernel"], os.uname().release)
        self.assertEqual(found["cpus"], os.cpu_count())
        if os.path.exists("/sys/devices/system/cpu/vulnerabilities/meltdown"):
            self.assertIn("meltdown", found["mitigations"])
        after = set(os.listdir("/sys/class/net"))  # other tests make and remove interfaces
        self.assertLessEqual((before & after) - {"lo"}, found["interfaces"].keys())
        self.assertLessEqual(found["interfaces"].keys(), before | after)


class Unlike(unittest.TestCase):
    def setUp(self):
        self.first = gather.parsed(SERVER)
        self.second = copy.deepcopy(self.first)

    def test_equal_machines_have_no_reason(self):
        self.assertEqual(unlike.reasons(self.first, self.second), [])

    def test_each_change_that_matters_is_a_reason(self):
        for change, words in (
            (lambda e: e.update(cpu="AMD EPYC"), "other CPU ('Intel(R) Xeon"),
            (lambda e: e.update(kernel="6.12.1"), "other kernel ('6.1.0-25-amd64', '6.12.1')"),
            (lambda e: e.update(cpus=2), "other number of CPUs (4, 2)"),
            (lambda e: e.update(hypervisor="KVM"), "other hypervisor (unknown, 'KVM')"),
            (lambda e: e["frequency"].update(turbo=True), "other turbo (False, True)"),
            (lambda e: e["frequency"].update(governor="schedutil"), "other governor"),
            (lambda e: e["mitigations"].update(meltdown="Vulnerable"), "mitigations (meltdown)"),
            (lambda e: e["interfaces"]["ix0"].update(mtu=1500), "other MTU of ix0 (9000, 1500)"),
            (
                lambda e: e["interfaces"]["ix0"]["offloads"].remove("rx-checksumming"),
                "other offloads of ix0 (rx-checksumming)",
            ),
        ):
            with self.subTest(words=words):
                changed = copy.deepcopy(self.first)
                change(changed)
                self.assertIn(words, "".join(unlike.reasons(self.first, changed)))
                self.assertEqual(len(unlike.reasons(self.first, changed)), 1)

    def test_memory_and_interfaces_of_one_side_are_no_reason(self):
        self.second["memory_kb"] = 1
        del self.second["interfaces"]["veth0"]
        self.assertEqual(unlike.reasons(self.first, self.second), [])

    def test_an_environment_that_is_unknown_is_unlike_any(self):
        self.assertEqual(
            unlike.reasons(self.first, {"unavailable": "hung"}), ["unknown environment"]
        )
        self.assertEqual(unlike.reasons_of_runs({}, {}), ["unknown environment"])

    def test_reasons_of_runs_name_the_player(self):
        self.second["cpus"] = 8
        runs = [{"toolkit": "1", "players": {"sink": one}} for one in (self.first, self.second)]
        self.assertEqual(unlike.reasons_of_runs(*runs), ["sink: other number of CPUs (4, 8)"])
        runs[1]["players"] = {"source": self.first}
        self.assertEqual(unlike.reasons_of_runs(*runs), ["other players (sink; source)"])


def burn(seconds):
    """A command that uses one CPU."""
    end = (
        f"import time\nend = time.process_time() + {seconds}\nwhile time.process_time() < end: pass"
    )
    return [sys.executable, "-S", "-c", end]


@contextlib.contextmanager
def of_another_family():
    """A process whose parent has ended, burning a CPU until it is killed."""
    script = 'setsid "$@" >/dev/null 2>&1 & echo $!'
    process = subprocess.run(
        ["sh", "-c", script, "sh", *burn(60)], capture_output=True, text=True, check=True
    )
    try:
        yield
    finally:
        os.kill(int(process.stdout), 9)


class Load(unittest.TestCase):
    def test_times_of_all_cpus_are_read_from_the_first_line(self):
        text = "cpu  1138252 843885 524024 234558 2855 7 8883 2010 0 0"
        found = cpu_times.parsed(text, ticks_per_s=100)
        self.assertEqual((found["user"], found["idle"], found["steal"]), (11382.52, 2345.58, 20.1))
        self.assertAlmostEqual(
            cpu_times.busy(found), 11382.52 + 8438.85 + 5240.24 + 0.07 + 88.83, places=5
        )
        self.assertRaises(ValueError, cpu_times.parsed, "intr 5")

    def test_descendants_are_not_others_while_they_run_and_when_they_have_ended(self):
        before = load._own_s()
        with subprocess.Popen(["sh", "-c", '"$@" & wait', "sh", *burn(0.3)]) as child:
            while load._own_s() - before < 0.2 and child.poll() is None:
                time.sleep(0.02)
            self.assertIsNone(child.poll(), "it was seen only when it had ended")
        self.assertGreater(load._own_s() - before, 0.28)

    def test_a_process_of_another_family_is_counted_as_load(self):
        meter = load.LoadMeter()
        with of_another_family():
            time.sleep(0.6)
        found = meter.stop()
        # the rest of the machine may be idle, and the process may get only a part of a CPU
        self.assertGreater(found["load_by_others"], 0.1 / os.cpu_count())
        self.assertLessEqual(found["load_by_others"] + found["steal"], 1.01)


if __name__ == "__main__":
    unittest.main(verbosity=2)
