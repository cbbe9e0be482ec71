# SPDX-License-Identifier: MIT
# Players that are killed, hang or lose their network, in each phase: Reset runs wherever it can,
# the report names the case, and nothing is left.
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import PATIENCE_S, ConductCase, main  # noqa: E402

PHASES = ("startup", "run", "collect", "reset")
# A player dies with its keeper process, whose command line has the mark of the player's processes.
KILL_PLAYER = 'pkill -KILL -f -- " $NSCONDUCT_MARK"; sleep 1000'


NETWORK = """[Network]
link: a eth0 10.1.0.1/24 b eth0 10.1.0.2/24
"""
CUT_OFF = "ip link set eth0 down; ping -c 1 -W 1 10.1.0.2 >&2"


def namespaces():
    return os.geteuid() == 0 and all(map(shutil.which, ("unshare", "nsenter", "ip")))


class FaultyRun:
    """Player a has the fault in phase N of trial N, and none in the fifth; or, if a phase is given,
    in that phase of the first trial."""

    def __init__(self, case, transport, fault, timeout_s=30, phase=None):
        self.case, self.transport = case, transport
        self.folder = case.path(f"{transport}-{phase or 'all'}")
        os.mkdir(self.folder)
        kinds = f"a: {transport}\nb: {transport}\n" + (NETWORK if transport == "namespace" else "")
        self.write(
            "master.cfg",
            f"[Test]\ntrials: 5\ntimeout: {timeout_s}\n"
            f"[Clients]\na: a.cfg\nb: b.cfg\n[Transport]\n{kinds}",
        )
        for name in ("a", "b"):
            steps = {p: f"step1: echo {name}-{p} >> log" for p in PHASES}
            if name == "a":
                steps["startup"] += "; echo >> trials"
                for number, of_phase in enumerate(PHASES, start=1):
                    trial = 1 if of_phase == phase else number if not phase else 0
                    steps[of_phase] += (
                        f"\nstep2: test $(wc -l < trials) != {trial} || {{ {fault}; }}"
                    )
            self.write(f"{name}.cfg", "".join(f"[{p.title()}]\n{steps[p]}\n" for p in PHASES))
        self.process = subprocess.Popen(
            case.command("run", "master.cfg", "-o", "out"),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        case.addCleanup(self.stop)

    def stop(self):
        self.process.kill()
        self.process.communicate()

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def end(self, trials):
        """Waits -> messages, failures of the trials, steps that ran."""
        said = self.process.communicate(timeout=PATIENCE_S)[1]
        self.case.assertEqual(self.process.returncode, 1, said)
        self.case.out = os.path.join(self.folder, "out")
        failures = [trial["failure"] for trial in self.case.trials()]
        self.case.assertEqual(len(failures), trials, said)
        steps = self.case.read(os.path.join(self.folder, "log")).split()
        self.case.assertEqual(steps.count("b-reset"), trials)
        return said, failures, steps


class FaultsTest(ConductCase):
    def transports(self):
        return ("local", "namespace") if namespaces() else ("local",)

    def each_phase(self, fault, expected, transports=None, **options):
        runs = [FaultyRun(self, kind, fault, **options) for kind in transports or self.transports()]
        for run in runs:
            with self.subTest(transport=run.transport):
                said, failures, steps = run.end(trials=5)
                for number, phase in enumerate(PHASES, start=1):
                    failure = f"a: {phase} step2: {expected}"
                    self.assertIn(f"round {number}, variant default: failed: {failure}", said)
                    self.assertTrue(failures[number - 1].startswith(failure), failures)
                self.assertIsNone(failures[4])
                self.assertEqual(steps.count("a-reset"), 5)
        self.assert_nothing_left()

    def test_a_step_that_is_killed(self):
        self.each_phase("kill -KILL $$", "killed by signal 9")

    def test_a_step_that_hangs(self):
        self.each_phase("sleep 1000", "hung: ended after 2 s", timeout_s=2)

    def test_a_player_that_loses_its_network(self):
        """What notices it is a step that needs the network; Reset does not."""
        if not namespaces() or not shutil.which("ping"):
            self.skipTest("requires root, util-linux, iproute2 and iputils-ping")
        self.each_phase(CUT_OFF, "exit code ", transports=("namespace",))

    def test_a_player_that_is_killed(self):
        """Its own Reset cannot run; that of the others does, and no further trial begins."""
        runs = {
            (kind, phase): FaultyRun(self, kind, KILL_PLAYER, phase=phase)
            for kind in self.transports()
            for phase in PHASES
        }
        for (kind, phase), run in runs.items():
            with self.subTest(transport=kind, phase=phase):
                said, failures, steps = run.end(trials=1)
                failure = f"a: {phase} step2: player died"
                self.assertIn(f"failed: {failure}", said)
                self.assertTrue(failures[0].startswith(failure), failures)
                self.assertIn("player a: player died", said)
                self.assertEqual(steps.count("a-reset"), int(phase == "reset"))
        self.assert_nothing_left()


main()
