#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A player that is killed, hangs or loses its network, in each phase: Reset runs on the other
player, exit code and report name the case, and no process stays.  Argument: killed, hung or cut."""

import signal
import sys
import unittest

import ssh_hosts
from ssh_experiments import PHASES, ExperimentCase
from ssh_hosts import wait_until

FAULT = sys.argv.pop(1) if len(sys.argv) > 1 else "killed"
REPORTED = {"killed": "player died", "hung": "player hangs", "cut": "player cut off"}[FAULT]
ORDINARY = "spawn1:sleep 900\nstep2:echo {phase}; echo {phase} >>/tmp/ran\n"
STOPPED = "step3:echo here >/tmp/here; sleep 901 & setsid sleep 902 & sleep 903\n"


def file_of(stopped=None):
    text = ""
    for phase in PHASES:
        text += f"\n[{phase.capitalize()}]\n" + ORDINARY.format(phase=phase)
        text += STOPPED if phase == stopped else ""
    return text


class Faults(ExperimentCase):
    def inflict(self):
        if FAULT == "cut":
            self.source.plug(False)
        else:
            self.source.signal_all(signal.SIGKILL if FAULT == "killed" else signal.SIGSTOP)

    def repair(self):
        """Processes that hung end by themselves; a cut host cleans up without its network."""
        if FAULT == "cut":
            self.assertTrue(ssh_hosts.has_only_ssh_servers(self.source))
            self.source.plug(True)
        elif FAULT == "hung":
            self.source.signal_all(signal.SIGCONT)
        else:
            self.assertEqual(self.source.processes(), {})
            self.source.start()

    def check_case(self, phase):
        for host in self.source, self.sink:
            for left in host.temporary.iterdir():
                ssh_hosts.run("rm", "-r", str(left))
        self.write(source=file_of(phase), sink=file_of())
        running = self.start()
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        here = self.source.temporary / "here"
        self.assertTrue(wait_until(here.exists), "the step has not started")
        self.inflict()
        out, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 1, out + err)
        self.assertRegex(err, rf"client1: {phase} step3: {REPORTED}")
        (trial,) = self.lines("trials.jsonl")
        self.assertEqual(trial["status"], "failed")
        self.assertRegex(trial["failure"], rf"client1: {phase} step3: {REPORTED}")
        self.assertNotIn("client3", trial["failure"])
        self.assertEqual(self.steps("client3", "reset"), [-15, 0])
        ran = [one for one in PHASES if self.steps("client3", one)]
        self.assertEqual(ran, ["startup", "reset"] if phase == "startup" else list(PHASES))
        self.repair()
        self.require_nothing_left(self.sink, *([] if FAULT == "killed" else [self.source]))

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
