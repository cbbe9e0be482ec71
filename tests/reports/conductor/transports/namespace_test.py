# SPDX-License-Identifier: MIT
# Players in network namespaces: links, routes and forwarding as declared; nothing remains.
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import SKIP, ConductCase, main  # noqa: E402

THREE_HOSTS = """[Transport]
source: namespace
router: namespace
sink: namespace
[Network]
link1: source eth0 10.1.0.1/24 router left 10.1.0.2/24
link2: router right 10.2.0.2/24 sink eth0 10.2.0.1/24 mtu 9000
route: source default via 10.1.0.2
route: sink default via 10.2.0.2
forward: router
"""
TWO_HOSTS = """[Transport]
a: namespace
b: namespace
[Network]
link: a eth0 10.1.0.1/24 b eth0 10.1.0.2/24
"""


class NamespaceTest(ConductCase):
    def setUp(self):
        super().setUp()
        self.before = self.namespaces()

    def namespaces(self):
        """Network namespaces that a process of this test holds."""
        found = set()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if self.folder.encode() in file.read():
                        found.add(os.readlink(f"/proc/{pid}/ns/net"))
            except OSError:
                pass
        return found

    def run_master(self, *arguments, code=0, env=None):
        said = super().run_master(*arguments, code=code, env={"MARKED": self.folder})
        self.assertEqual(self.namespaces(), self.before)
        self.assert_nothing_left()
        return said

    def test_packets_pass_through_a_third_namespace(self):
        self.master("source", "router", "sink", more=THREE_HOSTS)
        self.player("source", run="step1: ping -c 1 10.2.0.1\nstep2: ls /sys/class/net")
        self.player("router", run="step1: ip -oneline -4 address")
        self.player("sink", run="step1: cat /sys/class/net/eth0/mtu; pwd")
        self.run_master()
        self.assertIn("ttl=63", self.output("1/default/source/run-step1.out"))
        self.assertEqual(self.output("1/default/source/run-step2.out").split(), ["eth0", "lo"])
        self.assertIn("10.2.0.2/24", self.output("1/default/router/run-step1.out"))
        self.assertEqual(self.output("1/default/sink/run-step1.out"), f"9000\n{self.folder}\n")

    def test_ipv6_addresses_serve_as_well(self):
        text = TWO_HOSTS.replace("10.1.0.1/24", "fd00::1/64").replace("10.1.0.2/24", "fd00::2/64")
        self.master("a", "b", more=text)
        self.player("a", run="step1: ping -c 1 fd00::2")
        self.player("b", run="step1: true")
        self.run_master()

    def test_players_that_name_the_same_namespace_share_it(self):
        transports = "[Transport]\na: namespace one\nb: namespace one\nc: namespace\n"
        self.master("a", "b", "c", more=transports)
        for name in ("a", "b", "c"):
            self.player(name, run="step1: readlink /proc/self/ns/net")
        self.run_master()
        a, b, c = (self.output(f"1/default/{name}/run-step1.out") for name in ("a", "b", "c"))
        self.assertEqual(a, b)
        self.assertEqual(len({a, c, os.readlink("/proc/self/ns/net") + "\n"}), 3)

    def test_a_player_that_loses_its_network_is_reported_and_reset_repairs_it(self):
        self.master("a", "b", test="trials: 2", more=TWO_HOSTS)
        self.player(
            "a",
            run="step1: test -e cut || { touch cut; ip link set eth0 down; }\n"
            "step2: ping -c 1 -W 1 10.1.0.2",
            reset="step1: ip link set eth0 up",
        )
        self.player("b", run="step1: true")
        self.assertIn("failed: a: run step2: exit code", self.run_master(code=1))
        self.assertEqual([t["status"] for t in self.trials()], ["failed", "ok"])

    def test_an_address_that_the_kernel_refuses_is_reported_before_any_trial(self):
        self.master("a", "b", more=TWO_HOSTS + "route: a default via 10.9.9.9\n")
        for name in ("a", "b"):
            self.player(name, run="step1: touch ran")
        self.assertIn("route of a: ", self.run_master(code=3))
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_processes_without_the_mark_and_daemons_end_too(self):
        self.master("a", "b", more=TWO_HOSTS)
        self.player("a", run=f"step1: env -i MARKED={self.folder} setsid sleep 1000 &")
        self.player("b", run="spawn1: sleep 1000")
        self.run_master()

    def test_another_namespace_does_not_get_the_number_of_an_open_player(self):
        """Whatever has this number is ended with the player, also if its keeper was killed."""
        self.master("a", "b", more="[Transport]\na: namespace\n")
        self.player(
            "a",
            startup="step1: readlink /proc/self/ns/net > number",
            run="step1: for pid in $(cat /proc/$PPID/task/*/children); do "
            'test $pid = $$ || test "$(readlink /proc/$pid/ns/net)" != "$(cat number)" || '
            "{ touch killed; kill -9 $pid; }; done; sleep 100",
        )
        self.player(
            "b",
            run="step1: until test -e killed; do sleep 0.02; done\n"
            'step2: ls -l /proc/$PPID/fd | grep -F "$(cat number)"',
        )
        said = self.run_master(code=1)
        self.assertIn("a: run step1: player died", said)
        self.assertNotIn("b: ", said)

    def test_nothing_remains_when_nsconduct_is_killed(self):
        self.master("a", "b", more=TWO_HOSTS)
        self.player("a", run="step1: touch begun; sleep 1000")
        self.player("b", run="spawn1: trap '' TERM; sleep 1001; sleep 1002")
        with self.running() as process:
            self.wait_for_file("begun")
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=60)
            self.assert_nothing_left()
            self.wait_for(lambda: self.namespaces() == self.before, "the end of the namespaces")


missing = [name for name in ("ip", "unshare", "nsenter", "ping") if not shutil.which(name)]
if os.geteuid() != 0 or missing:
    print(f"skipped: {'not installed: ' + missing[0] if missing else 'requires root'}")
    sys.exit(SKIP)
main()
