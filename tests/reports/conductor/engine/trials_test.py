# SPDX-License-Identifier: MIT
# Warm-up, variants in random order, values, and continuing after an interruption.
import collections
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import ConductCase, main  # noqa: E402

VARIANTS = "[Variants]\none: n=1\ntwo: n=2\nthree: n=3\n"


class TrialsTest(ConductCase):
    def order(self):
        return [(t["warmup"], t["round"], t["variant"]) for t in self.trials()]

    def test_each_round_has_every_variant_once_after_the_warm_up(self):
        self.master("a", test="trials: 4\nwarmup: 1", more=VARIANTS)
        self.player("a", run="step1: echo ${n} ${HOME}")
        self.run_master("--seed", "3")
        rounds = collections.defaultdict(list)
        for is_warmup, number, variant in self.order():
            rounds[is_warmup, number].append(variant)
        self.assertEqual(list(rounds), [(True, 1), *((False, n) for n in range(1, 5))])
        for variants in rounds.values():
            self.assertEqual(sorted(variants), ["one", "three", "two"])
        self.assertGreater(len({tuple(v) for v in rounds.values()}), 1)
        self.assertEqual(
            self.output("2/three/a/run-step1.out"), f"3 {os.environ.get('HOME', '')}\n"
        )

    def test_the_same_seed_gives_the_same_order(self):
        self.master("a", test="trials: 5\nseed: 11", more=VARIANTS)
        self.player("a", run="step1: true")
        orders = []
        for name in ("first", "second"):
            self.out = self.path(name)
            self.run_master()
            orders.append(self.order())
        self.assertEqual(*orders)

    def test_settings_are_recorded_and_the_command_line_can_change_them(self):
        self.master("a", more="[Settings]\nSeconds: 10\nhost: b\n[Variants]\nx: size=1\n")
        self.player("a", run="step1: echo ${Seconds} ${host} ${size}")
        self.run_master("--set", "Seconds=0.5")
        self.assertEqual(self.output("1/x/a/run-step1.out"), "0.5 b 1\n")
        with open(os.path.join(self.out, "experiment.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["settings"], {"Seconds": "0.5", "host": "b"})
        self.assertIn("of other settings", self.run_master("--resume", code=2))
        self.run_master("--resume", "--set", "Seconds=0.5")
        self.assertIn('no setting "second"', self.run_master("--set", "second=1", code=2))

    def test_values_are_taken_from_the_output_of_steps(self):
        self.master(
            "a",
            test="trials: 3\nwarmup: 1",
            more=VARIANTS + "[Values]\nrate: a run 1 bits/s json end.0.rate\n"
            "pps: a run step2 packets/s regex ([0-9.]+) pps\ntook: a run 2 s seconds\n",
        )
        self.player(
            "a", run='step1: echo \'{"end": [{"rate": ${n}e6}]}\'\nstep2: echo 1 pps, ${n}.5 pps'
        )
        self.run_master()
        found = self.results()["values"]
        self.assertEqual(found["rate"]["unit"], "bits/s")
        self.assertEqual(found["rate"]["variants"]["two"]["samples"], [2e6] * 3)
        self.assertEqual(found["pps"]["variants"]["three"]["samples"], [3.5] * 3)
        self.assertTrue(all(0 < s < 10 for s in found["took"]["variants"]["one"]["samples"]))

    def test_a_value_that_is_not_there_fails_its_trial(self):
        for what, kind in {
            "no JSON": "json a",
            'nothing matches "(pps)"': "regex (pps)",
            '"text" is no number': "regex (text)",
        }.items():
            with self.subTest(what):
                self.out = self.path(f"out-{len(what)}")
                self.master("a", more=f"[Values]\nv: a run 1 s {kind}\n")
                self.player("a", run="step1: echo text")
                said = self.run_master(code=1)
                self.assertIn("a: value v: output/1/default/a/run-step1.out: ", said)
                self.assertIn(what, said)
                self.assertEqual(
                    self.results()["values"]["v"]["variants"]["default"]["samples"], []
                )

    def test_a_number_that_no_statistics_can_have_fails_its_trial(self):
        huge = "1" + "0" * 400
        for number, path in ((huge, "a"), ("1e308", "a"), ("[1]", "a.\u00b2"), ("[1]", "a.--1")):
            with self.subTest(number=number[:9], path=path):
                self.out = self.path(f"out-{number[:3]}-{path}")
                self.master("a", more=f"[Values]\nv: a run 1 s json {path}\n")
                self.player("a", run=f"step1: echo '{{\"a\": {number}}}'")
                self.assertIn("a: value v: output/1/", self.run_master(code=1))
                self.assertEqual(self.trials()[0]["status"], "failed")

    def test_a_failed_trial_is_told_even_if_quiet(self):
        self.master("a")
        self.player("a", run="step1: exit 3")
        self.assertIn("a: run step1: exit code 3", self.run_master("--quiet", code=1))

    def test_results_that_were_changed_by_hand_are_not_continued(self):
        self.master("a")
        self.player("a", run="step1: true")
        self.run_master()
        for name, changed in (
            ("steps.jsonl", "[1]\n"),
            ("experiment.json", '{"format": 1, "name": "m", "variants": ["default"]}'),
        ):
            with self.subTest(name):
                self.write(os.path.join("out", name), changed)
                self.assertIn(name, self.run_master("--resume", code=2))

    def interrupted(self, number):
        """Interrupts the second of three trials -> its messages."""
        self.master("a", test="trials: 3", more="[Values]\nt: a run 1 s seconds\n")
        self.player(
            "a",
            run="step1: echo x >> begun; test $(wc -l < begun) != 2 || sleep 100",
            reset="step1: echo reset >> reset",
        )
        with self.running() as process:
            self.wait_for_file("begun")
            self.wait_for(lambda: len(self.read("begun").split()) == 2, "the second trial")
            process.send_signal(number)
            said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 128 + number, said)
        self.assertEqual(self.read("reset").split(), ["reset"] * 2)
        self.assert_nothing_left()
        return said

    def test_an_interruption_runs_reset_and_leaves_whole_files(self):
        self.assertIn("interrupted (continue with --resume)", self.interrupted(signal.SIGINT))
        self.assertEqual(self.order(), [(False, 1, "default")])
        self.assertEqual(len(self.results()["values"]["t"]["variants"]["default"]["samples"]), 1)
        self.assertEqual(len(self.steps()), 2)

    def test_resume_runs_the_trials_that_are_left(self):
        self.interrupted(signal.SIGTERM)
        with open(os.path.join(self.out, "trials.jsonl"), "a", encoding="utf-8") as file:
            file.write('{"round": 2, "varia')  # as a crash leaves it
        first = self.trials_whole()[0]
        said = self.run_master("--resume")
        self.assertIn("1 of 3 trials are done", said)
        self.assertEqual(self.order(), [(False, n, "default") for n in (1, 2, 3)])
        self.assertEqual(self.trials()[0], first)
        self.assertEqual(len(self.steps()), 6)

    def test_resume_runs_the_reset_of_a_trial_in_which_nsconduct_was_killed(self):
        self.master("a", test="trials: 2")
        self.player(
            "a",
            startup="step1: mkdir dirty",
            run="step1: test -e second || { touch second; sleep 100; }",
            reset="step1: rmdir dirty",
        )
        with self.running() as process:
            self.wait_for_file("second")
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=60)
        self.assert_nothing_left()
        self.assertTrue(os.path.isdir(self.path("dirty")))
        said = self.run_master("--resume")
        self.assertIn("round 1, variant default was cut short: its Reset runs first", said)
        self.assertEqual([t["status"] for t in self.trials()], ["ok", "ok"])
        self.assertFalse(os.path.exists(os.path.join(self.out, "running.json")))

    def trials_whole(self):
        with open(os.path.join(self.out, "trials.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file.read().split("\n")[:-1]]

    def test_resume_can_add_trials_but_not_change_the_configuration(self):
        self.master("a", test="trials: 2", more=VARIANTS)
        self.player("a", run="step1: true")
        self.run_master()
        before = self.order()
        self.assertIn("has results already", self.run_master(code=2))
        self.run_master("--resume", "--trials", "4")
        self.assertEqual(self.order()[: len(before)], before)
        self.assertEqual(len(self.order()), 12)
        for what, option in {
            "seed": ["--seed", "1"],
            "transports": ["--transport", "ssh:x"],
        }.items():
            said = self.run_master("--resume", *option, code=2)
            self.assertIn(f"of other {what}: ", said)
        self.player("a", run="step1: echo")
        self.assertIn("of another configuration: ", self.run_master("--resume", code=2))

    def test_a_folder_in_which_another_run_writes_is_refused(self):
        self.master("a")
        self.player("a", run="step1: touch begun; sleep 1000")
        with self.running() as process:
            self.wait_for_file("begun")
            said = self.run_master("--resume", code=2)
            self.assertIn("another nsconduct writes here", said)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)

    def test_a_folder_with_other_files_is_refused(self):
        self.master("a")
        self.player("a", run="step1: true")
        os.mkdir(self.out)
        self.write("out/letter", "")
        self.assertIn("not empty, and no results of nsconduct", self.run_master(code=2))
        self.assertEqual(os.listdir(self.out), ["letter"])


main()
