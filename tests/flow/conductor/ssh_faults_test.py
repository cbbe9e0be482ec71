#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A player that is killed, hangs or loses its network, in each phase: Reset runs on the other
player, exit code and report name the case, and no process stays.  Argument: killed, hung or cut."""

import concurrent.futures
import signal
import sys
import unittest

import ssh_hosts
from ssh_experiments import PHASES, TIMEOUT_S, Experiment, left_behind
from ssh_hosts import wait_until

FAULT = sys.argv.pop(1) if len(sys.argv) > 1 else "killed"
REPORTED = {"killed": "player died", "hung": "player hangs", "cut": "player cut off"}[FAULT]
ORDINARY = "spawn1:sleep 900\nstep2:echo {phase}\n"
STOPPED = "step3:echo here >/tmp/here; sleep 901 & setsid sleep 902 & sleep 903\n"


def steps(stopped=None):
    text = ""
    for phase in PHASES:
        text += f"\n[{phase.capitalize()}]\n" + ORDINARY.format(phase=phase)
        text += STOPPED if phase == stopped else ""
    return text


class Faults(unittest.TestCase):
    """The four experiments run at the same time: most of their time is waiting."""

    @classmethod
    def setUpClass(cls):
        pairs = [(f"source-{phase}", f"sink-{phase}") for phase in PHASES]
        cls.world = ssh_hosts.World(*(name for pair in pairs for name in pair))
        cls.addClassCleanup(cls.world.close)
        cls.cases = {}
        for phase in PHASES:
            source, sink = (cls.world.hosts[f"{role}-{phase}"] for role in ("source", "sink"))
            text = {"source": steps(phase), "sink": steps()}
            cls.cases[phase] = Experiment(cls.world, phase, source, sink, text)
        with concurrent.futures.ThreadPoolExecutor(len(PHASES)) as pool:
            list(pool.map(cls.perform, cls.cases.values()))
        if FAULT == "hung":  # what runs there ends when it continues
            for case in cls.cases.values():
                case.source.signal_all(signal.SIGCONT)

    @classmethod
    def perform(cls, case):
        running = case.start()
        if wait_until((case.source.temporary / "here").exists, TIMEOUT_S):
            if FAULT == "cut":
                case.source.plug(False)
            else:
                case.source.signal_all(signal.SIGKILL if FAULT == "killed" else signal.SIGSTOP)
        case.finish(running)

    def check_case(self, phase):
        case = self.cases[phase]
        self.assertEqual(case.code, 1, case.said)
        reported = rf"client1: {phase} step3: {REPORTED}"
        self.assertRegex(case.said, reported)
        (trial,) = case.lines("trials.jsonl")
        self.assertEqual(trial["status"], "failed")
        self.assertRegex(trial["failure"], reported)
        self.assertNotIn("client3", trial["failure"])
        self.assertEqual(case.steps("client3", "reset"), [-15, 0])
        ran = [one for one in PHASES if case.steps("client3", one)]
        self.assertEqual(ran, ["startup", "reset"] if phase == "startup" else list(PHASES))
        # A host that is cut off cleans up without its network; one that was killed cannot.
        hosts = [case.sink] if FAULT == "killed" else [case.sink, case.source]
        self.assertEqual(left_behind(self.world, *hosts), [])
        self.assertEqual(case.source.processes(), {})

    def test_in_startup(self):
        self.check_case("startup")

    def test_in_run(self):
        self.check_case("run")

    def test_in_collect(self):
        self.check_case("collect")

    def test_in_reset(self):
        self.check_case("reset")


if __name__ == "__main__":
    ssh_hosts.enter(FAULT)
    unittest.main()
