# SPDX-License-Identifier: MIT
# Four phases in order, with a barrier; every step's output, exit code and time; Reset always runs.
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import ConductCase, main  # noqa: E402


def say(name):
    """Steps of all phases that note their names in one log."""
    return {
        phase: f"step1: echo {name}-{phase} >> log"
        for phase in ("startup", "run", "collect", "reset")
    }


class PhasesTest(ConductCase):
    def test_a_phase_begins_when_all_players_have_ended_the_one_before(self):
        self.master("slow", "fast", test="trials: 2")
        self.player("fast", **say("fast"))
        slow = {
            phase: steps.replace("echo", "sleep 0.1; echo") for phase, steps in say("slow").items()
        }
        self.player("slow", **slow)
        self.run_master()
        phases = [line.split("-")[1] for line in self.read("log").split()]
        expected = [p for p in ("startup", "run", "collect", "reset") for _ in range(2)]
        self.assertEqual(phases, expected * 2)

    def test_steps_run_in_the_order_of_the_file(self):
        names = ["step2", "step10", "step1", "other"]
        self.master("a")
        self.player("a", run="".join(f"{name}: echo {name} >> log\n" for name in names))
        self.run_master()
        self.assertEqual(self.read("log").split(), names)

    def test_each_steps_output_exit_code_and_time_are_kept(self):
        self.master("a")
        self.player("a", run="step1: echo out; echo err >&2; sleep 0.2\n", collect="x: exit 3")
        self.run_master(code=1)
        run, collect = self.steps()
        self.assertEqual(self.output("1/default/a/run-step1.out"), "out\n")
        self.assertEqual(self.output("1/default/a/run-step1.err"), "err\n")
        self.assertEqual(run["stdout"], "output/1/default/a/run-step1.out")
        self.assertEqual((run["exit_code"], run["timed_out"], run["failure"]), (0, False, None))
        self.assertGreaterEqual(run["duration_ns"], 0.2e9)
        self.assertEqual(
            (collect["player"], collect["phase"], collect["step"]), ("a", "collect", "x")
        )
        self.assertEqual(collect["exit_code"], 3)

    def test_a_command_has_the_shells_features(self):
        self.master("a")
        self.player("a", run='step1: A=x; echo "$A  b" | tr x y > f && echo \\\n    more >> f\n')
        self.run_master()
        self.assertEqual(self.read("f"), "y  b\nmore\n")

    def test_a_failed_startup_skips_run_and_collect_but_not_reset(self):
        self.master("a", "b")
        self.player("a", **{**say("a"), "startup": "step1: echo why >&2; exit 7\nstep2: touch two"})
        self.player("b", **say("b"))
        said = self.run_master(code=1)
        self.assertIn("round 1, variant default: failed: a: startup step1: exit code 7: why", said)
        self.assertEqual(sorted(self.read("log").split()), ["a-reset", "b-reset", "b-startup"])
        self.assertTrue(os.path.exists(self.path("two")), "later steps of the phase run")
        (trial,) = self.trials()
        self.assertEqual(trial["status"], "failed")
        self.assertEqual(trial["failure"], "a: startup step1: exit code 7: why")

    def test_collect_follows_a_failed_run(self):
        self.master("a")
        self.player("a", **{**say("a"), "run": "step1: false"})
        self.run_master(code=1)
        self.assertEqual(self.read("log").split(), ["a-startup", "a-collect", "a-reset"])

    def test_an_end_by_timeout_is_no_failure_if_the_step_names_it(self):
        self.master("a", test="trials: 1\ntimeout: 1")
        self.player("a", run="timeout1: sleep 60", reset="step1: echo reset > log")
        self.run_master()
        run = self.steps()[0]
        self.assertTrue(run["timed_out"])
        self.assertLess(run["duration_ns"], 30e9)

    def test_a_step_that_ignores_sigterm_ends_by_sigkill(self):
        self.master("a")
        self.player("a", run="timeout1: trap '' TERM; sleep 1000; sleep 1001")
        self.run_master()
        self.assertEqual(self.steps()[0]["exit_code"], -9)
        self.assert_nothing_left()

    def test_a_spawned_process_runs_until_the_end_of_the_trial(self):
        self.master("a")
        self.player(
            "a",
            run="spawn1: trap 'echo ended; exit 5' TERM; echo begun > begun; "
            "while :; do sleep 0.01; done\nstep1: until test -e begun; do sleep 0.01; done",
            reset="step1: echo reset",
        )
        self.run_master()
        spawned = next(s for s in self.steps() if s["spawned"])
        self.assertEqual(spawned["exit_code"], 5)
        self.assertEqual(self.output("1/default/a/run-spawn1.out"), "ended\n")
        self.assert_nothing_left()

    def test_a_spawned_process_that_ends_with_an_error_fails_the_trial(self):
        self.master("a")
        self.player(
            "a",
            run="spawn1: echo no such device >&2; touch over; exit 4\n"
            "step1: until test -e over; do sleep 0.01; done\nstep2: sleep 0.2",
        )
        said = self.run_master(code=1)
        self.assertIn("a: run spawn1: exit code 4: no such device", said)

    def test_daemons_of_steps_end_with_the_trial(self):
        self.master("a")
        self.player("a", run=f"step1: setsid sh -c 'sleep 1000; : {self.folder}' & sleep 0.1")
        self.run_master()
        self.assert_nothing_left()

    def test_a_missing_program_is_reported_before_anything_runs(self):
        self.master("a", "b")
        self.player("a", startup="step1: touch ran")
        self.player("b", run="step1: echo x | no-such-program -y")
        said = self.run_master(code=3)
        self.assertIn('player b: program "no-such-program" is missing (', said)
        self.assertIn("b.cfg:2: step1)", said)
        self.assertFalse(os.path.exists(self.path("ran")))


main()
