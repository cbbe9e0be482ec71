#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapid as an operator runs it: installed, started at its socket by a real systemd, with all
restrictions of its unit.

The system runs in its own namespaces: systemd_system.sh.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import needs
from mapid import BUILD, DATA, SANITIZER, wait_until

SOURCE = pathlib.Path(os.environ["NETSLICE_SOURCE"])
OUTER_TRACE = DATA / "mapi/tracefile"
TRACE = "/usr/local/share/capture"  # the same path in the system
TCP_PACKETS = 596
NAMESPACES = ("--mount", "--pid", "--cgroup", "--uts", "--ipc", "--net")
UNSHARE = ("unshare", *NAMESPACES, "--fork", "--kill-child")
NET_RAW, NET_ADMIN, PERFMON, BPF = 1 << 13, 1 << 12, 1 << 38, 1 << 39
FUNCTIONS = (
    "TOP 10 1 1 1 0",
    "EXPIRED_FLOWS 1000 1000 0",
    "REGEXP 'HTTP.*OK' | PKT_COUNTER",
    "COOKING 32000 10 0 3 | PKT_COUNTER",
    "TRACK HTTP | PKT_COUNTER",
    "PKTINFO 1 | STATS @1 0",
    "BURST 1 1000 10 96 1000 1000 1000",
    "BYTE_COUNTER | DIST @1 0 1000 100",
    "SAMPLE 2 3 | PKT_COUNTER",
    "HASHSAMP 1024 1",
    "ANONYMIZE 'IP,SRC_IP,HASHED,SHA,PAD_WITH_ZERO' | HASH 3",
    "STARTSTOP 0 +1h | GAP",
    "INTERFACE 0 | PKT_COUNTER",
    "FLOW_REPORT IPFIX /tmp/flows.ipfix '' ''",
)
SEND = """
import socket
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(1000):
    to.sendto(b'packet', ('127.0.0.1', 4321))
"""


class System:
    """Namespaces with their own systemd."""

    def __init__(self, configuration):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / "mapi.conf"
        path.write_text(configuration)
        self.log = open(path.with_name("log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [
                *UNSHARE,
                "sh",
                SOURCE / "tests/flow/systemd_system.sh",
                BUILD.resolve(),
                path,
                OUTER_TRACE,
            ],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )
        if not wait_until(self.is_up, 60):
            self.log.seek(0)
            words = self.log.read()
            self.close()
            raise RuntimeError("systemd does not start here: " + words)

    def first_process(self):
        children = (
            pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
            .read_text()
            .split()
        )
        return children[0] if children else None

    def is_up(self):
        return self.process.poll() is not None or (
            self.first_process()
            and self.run("systemctl", "is-active", "mapid-test.target").stdout.strip() == "active"
        )

    def command(self, *command):
        return [
            "nsenter",
            "--target",
            self.first_process(),
            "--mount",
            "--pid",
            "--net",
            "--ipc",
            *command,
        ]

    def run(self, *command):
        return subprocess.run(
            self.command(*command),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd="/",
            env={"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
        )

    def state(self, unit="mapid.service"):
        return self.run("systemctl", "is-active", unit).stdout.strip()

    def property(self, name):
        return self.run(
            "systemctl", "show", "--value", "--property", name, "mapid.service"
        ).stdout.strip()

    def status_of_mapid(self):
        """/proc/PID/status as a dictionary"""
        lines = self.run("cat", f"/proc/{self.property('MainPID')}/status").stdout.splitlines()
        return {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}

    def close(self):
        if self.process.poll() is None:
            os.kill(int(self.first_process()), signal.SIGKILL)  # all others end with it
        self.process.wait()
        self.log.close()
        self.folder.cleanup()


class Systemd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.system = System(f"[driver]\ndevice=old\npath={TRACE}\n")
        cls.addClassCleanup(cls.system.close)

    def setUp(self):
        self.system.run("systemctl", "stop", "mapid.service")
        self.system.run("systemctl", "reset-failed", "mapid.service")

    def count(self, *arguments):
        result = self.system.run("mapi-count", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(result.stdout.split()[0])

    def test_the_first_client_at_the_socket_starts_it(self):
        self.assertEqual(self.system.state("mapid.socket"), "active")
        self.assertEqual(self.system.state(), "inactive")
        self.assertEqual(self.count("-r", TRACE, "tcp"), TCP_PACKETS)
        self.assertEqual(self.system.state(), "active")
        self.assertIn("old", self.system.run("mapi-info", "devices").stdout)

    def test_packets_of_an_interface_are_counted_by_a_process_without_other_rights(self):
        flow = subprocess.Popen(
            self.system.command(
                "mapi-flow", "-i", "lo", "-d", "4", "BPF_FILTER 'udp dst port 4321' | PKT_COUNTER"
            ),
            stdout=subprocess.PIPE,
            text=True,
        )
        self.assertTrue(
            wait_until(lambda: "PKT_COUNTER" in self.system.run("mapi-info", "flows").stdout)
        )
        self.system.run("python3", "-c", SEND)
        rows = [line.split("\t") for line in flow.communicate(timeout=60)[0].splitlines()]
        self.assertEqual([row[-1] for row in rows if row[1] == "PKT_COUNTER"], ["1000"])
        status = self.system.status_of_mapid()
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        self.assertEqual(int(status["CapBnd"], 16), NET_RAW | NET_ADMIN)

    def test_the_drop_in_lets_functions_run_in_the_kernel(self):
        folder = "/run/systemd/system/mapid.service.d"
        self.addCleanup(self.system.run, "systemctl", "daemon-reload")
        self.addCleanup(self.system.run, "rm", "-r", folder)
        self.addCleanup(self.system.run, "mv", "/etc/mapi.conf.before", "/etc/mapi.conf")
        self.system.run("cp", "/etc/mapi.conf", "/etc/mapi.conf.before")
        self.system.run("install", "-Dt", folder, "/usr/local/share/netslice/mapid-xdp.conf")
        section = "[driver]\\ndevice=kernel\\ndriver=xdp\\npath=lo\\n"
        self.system.run("sh", "-c", f"printf '{section}' >>/etc/mapi.conf")
        self.system.run("systemctl", "daemon-reload")
        flow = subprocess.Popen(
            self.system.command(
                "mapi-flow", "-i", "kernel", "-d", "4", "BPF_FILTER 'udp' | PKT_COUNTER"
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        listed = wait_until(lambda: " kernel\n" in self.system.run("mapi-info", "functions").stdout)
        self.system.run("python3", "-c", SEND)
        table, words = flow.communicate(timeout=60)
        self.assertEqual(flow.returncode, 0, words)
        self.assertTrue(listed)
        rows = [line.split("\t") for line in table.splitlines()]
        self.assertEqual([row[-1] for row in rows if row[1] == "PKT_COUNTER"], ["1000"])
        status = self.system.status_of_mapid()
        self.assertEqual(int(status["CapBnd"], 16), NET_RAW | NET_ADMIN | PERFMON | BPF)

    def test_every_kind_of_function_works_under_the_restrictions_of_the_unit(self):
        self.count("-r", TRACE)
        before = self.system.property("MainPID")
        flow = self.system.run(
            "mapi-flow",
            "-r",
            TRACE,
            "PERF_START | STR_SEARCH www 0 0 | PKT_COUNTER | PERF_STOP",
            *FUNCTIONS,
        )
        self.assertEqual(flow.returncode, 0, flow.stderr)
        self.assertIn("PERF_STOP", flow.stdout)
        self.assertEqual(self.system.property("MainPID"), before)

    def test_its_log_may_be_in_its_folder(self):
        self.system.run("sh", "-c", "sed -i '1i logfile=/var/log/mapid/mapid.log' /etc/mapi.conf")
        self.addCleanup(self.system.run, "sed", "-i", "1d", "/etc/mapi.conf")
        self.assertEqual(self.count("-r", TRACE, "tcp"), TCP_PACKETS)
        self.assertIn("mapid", self.system.run("cat", "/var/log/mapid/mapid.log").stdout)

    def test_files_are_written_where_the_client_may_write(self):
        flow = self.system.run(
            "mapi-flow",
            "-r",
            TRACE,
            "BPF_FILTER tcp | ANONYMIZE 'IP,SRC_IP,PREFIX_PRESERVING' | TO_FILE 0 "
            "/tmp/anonymous.pcap 0",
        )
        self.assertEqual(flow.returncode, 0, flow.stderr)
        self.assertEqual(self.count("-r", "/tmp/anonymous.pcap"), TCP_PACKETS)

    def test_a_user_outside_the_group_gets_an_error(self):
        asked = self.system.run(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "mapi-count",
            "--interface",
            "lo",
        )
        self.assertNotEqual(asked.returncode, 0)
        self.assertIn('is not in group "mapi"', asked.stderr)

    def test_reload_applies_the_current_configuration(self):
        self.count("-r", TRACE)
        before = self.system.property("MainPID")
        self.system.run(
            "sh", "-c", f"printf '[driver]\\ndevice=new\\npath={TRACE}\\n' >>/etc/mapi.conf"
        )
        self.assertEqual(self.system.run("systemctl", "reload", "mapid.service").returncode, 0)
        self.assertTrue(wait_until(lambda: "new" in self.system.run("mapi-info", "devices").stdout))
        self.assertEqual(self.system.property("MainPID"), before)

    def test_after_a_crash_it_runs_again(self):
        self.count("-r", TRACE)
        before = self.system.property("MainPID")
        self.system.run("kill", "-SEGV", before)
        self.assertTrue(
            wait_until(
                lambda: (
                    self.system.state() == "active"
                    and self.system.property("MainPID") not in ("0", before)
                )
            )
        )
        self.assertEqual(self.count("-r", TRACE, "tcp"), TCP_PACKETS)

    def test_its_messages_are_in_the_journal(self):
        self.count("-r", TRACE)
        self.system.run("systemctl", "stop", "mapid.service")
        self.assertEqual(self.system.property("Result"), "success")

        def journal():
            return self.system.run(
                "journalctl", "--unit", "mapid.service", "--priority", "info", "--output", "cat"
            ).stdout

        self.assertTrue(wait_until(lambda: "the service manager's socket" in journal()), journal())


def is_possible():
    return (
        os.geteuid() == 0
        and not SANITIZER
        and OUTER_TRACE.exists()
        and all(map(shutil.which, ("unshare", "nsenter", "setpriv", "systemctl", "ip")))
        and os.path.exists("/lib/systemd/systemd")
        and os.path.exists("/sys/fs/cgroup")
        and subprocess.run(
            [*UNSHARE, "mount", "-t", "cgroup2", "cgroup2", "/mnt"],
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )


if __name__ == "__main__":
    if not is_possible():
        needs.skip("requires root, systemd, namespaces, the capture, a build without sanitizers")
    unittest.main()
