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


def namespaces():
    return os.geteuid() == 0 and all(map(shutil.which, ("unshare", "nsenter", "ip")))


class Fault:
    """One experiment in a folder of its own: player a has the fault in a phase of the first
    trial."""

    def __init__(self, case, phase, transport):
        self.case, self.phase, self.transport = case, phase, transport
        self.folder = case.path(f"{phase}-{transport}")
        os.mkdir(self.folder)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, fault, test):
        kinds = f"a: {self.transport}\nb: {self.transport}\n"
        self.write(
            "master.cfg", f"[Test]\n{test}\n[Clients]\na: a.cfg\nb: b.cfg\n[Transport]\n{kinds}"
        )
        for name in ("a", "b"):
            steps = {p: f"step1: echo {name}-{p} >> log" for p in PHASES}
            if name == "a":
                steps[self.phase] += f"\nstep2: test -e once || {{ touch once; {fault}; }}"
            self.write(f"{name}.cfg", "".join(f"[{p.title()}]\n{steps[p]}\n" for p in PHASES))
        self.process = subprocess.Popen(
            self.case.command("run", "master.cfg", "-o", "out"),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def check(self, expected, reset_of_a, trials):
        said = self.process.communicate(timeout=PATIENCE_S)[1]
        case = self.case
        case.assertEqual(self.process.returncode, 1, said)
        case.out = os.path.join(self.folder, "out")
        failure = f"a: {self.phase} step2: {expected}"
        case.assertIn(f"failed: {failure}", said)
        case.assertTrue(case.trials()[0]["failure"].startswith(failure), said)
        case.assertEqual(len(case.trials()), trials)
        steps = case.read(os.path.join(self.folder, "log")).split()
        case.assertEqual(steps.count("b-reset"), trials)
        if reset_of_a or self.phase == "reset":
            case.assertEqual(steps.count("a-reset"), trials)


class FaultsTest(ConductCase):
    def each(self, fault, expected, reset_of_a=True, trials=2, timeout_s=30):
        """In each phase, with each transport, all at the same time."""
        transports = ("local", "namespace") if namespaces() else ("local",)
        faults = [Fault(self, phase, kind) for phase in PHASES for kind in transports]
        for one in faults:
            one.start(fault, f"trials: 2\ntimeout: {timeout_s}")
        for one in faults:
            with self.subTest(phase=one.phase, transport=one.transport):
                one.check(expected, reset_of_a, trials)
        self.assert_nothing_left()

    def test_a_step_that_is_killed(self):
        self.each("kill -KILL $$", "killed by signal 9")

    def test_a_player_that_is_killed(self):
        """Its own Reset cannot run; that of the others does, and no further trial begins."""
        self.each(KILL_PLAYER, "player died", reset_of_a=False, trials=1)

    def test_a_step_that_hangs_and_ignores_sigterm(self):
        self.each(
            "trap '' TERM; sleep 1000 & wait; sleep 1000",
            "hung: ended after 2 s",
            timeout_s=2,
        )


main()
