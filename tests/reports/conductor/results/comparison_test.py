# SPDX-License-Identifier: MIT
# nsconduct compare and show on result folders: variants of a run, separate runs, and refusals.
import contextlib
import copy
import io
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import ConductCase, main, needs  # noqa: E402

needs("scipy.special")
import result_files  # noqa: E402
from nsconduct import cli  # noqa: E402
from result_files import trial  # noqa: E402

NOISE = (0.3, -0.2, 0.5, -0.4, 0.1, 0.0, -0.1, 0.2, -0.3, 0.4, 0.25, -0.15)


def of_variant(name, level, unit="s"):
    return [
        trial(number, name, {"seconds": level * (1 + noise / 100)}, unit)
        for number, noise in enumerate(NOISE, start=1)
    ]


class CompareTest(ConductCase):
    def results_of(self, name, trials, variants=("plain", "gcm"), **options):
        return result_files.write(self.path(name), list(variants), trials, **options)

    def compare(self, *arguments, code=0):
        """In this process: each start of nsconduct takes a third of a second."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            ended = cli.main(["compare", *arguments], version="0")
        self.assertEqual(ended, code, err.getvalue())
        return out.getvalue() if code == 0 else err.getvalue()

    def test_two_variants_of_a_run_are_compared_by_rounds(self):
        folder = self.results_of("a", of_variant("plain", 10) + of_variant("gcm", 11)[::-1])
        text = self.compare(folder, "plain", "gcm")
        self.assertIn("seconds [s]: gcm is slower than plain by 10 % (95 % interval", text)
        self.assertIn("12 rounds, paired", text)

    def test_the_order_of_the_variants_decides_the_direction(self):
        folder = self.results_of("a", of_variant("plain", 10) + of_variant("gcm", 11))
        self.assertIn("plain is faster than gcm", self.compare(folder, "gcm", "plain"))

    def test_warm_up_and_failed_trials_have_no_part(self):
        trials = of_variant("plain", 10) + of_variant("gcm", 10)
        trials += [trial(1, "gcm", {"seconds": 1e9}, warmup=True)]
        trials[0] = trial(1, "plain", {}, status="failed", failure="host: run step1: exit code 1")
        text = self.compare(self.results_of("a", trials), "plain", "gcm")
        self.assertIn("no difference shown", text)
        self.assertIn("11 rounds, paired", text)

    def test_two_runs_are_compared_variant_by_variant_as_separate_trials(self):
        one = self.results_of("a", of_variant("plain", 10) + of_variant("gcm", 20))
        other = self.results_of("b", of_variant("plain", 10) + of_variant("gcm", 10))
        document = json.loads(self.compare(one, other, "--json"))
        found = {c["a"].split()[-1]: c for c in document["comparisons"]}
        self.assertEqual(found["plain"]["outcome"], "no difference shown")
        self.assertEqual(found["gcm"]["outcome"], "different")
        self.assertIs(found["gcm"]["paired"], False)
        self.assertAlmostEqual(found["gcm"]["relative"], -0.5, places=2)
        text = self.compare(one, other)
        self.assertIn(f"{other} gcm is faster than {one} gcm by 50 %", text)
        self.assertIn("If all were equal, 0.1 of 2 comparisons would show a difference.", text)

    def test_runs_of_unlike_machines_are_not_compared_and_the_reason_is_named(self):
        changed = copy.deepcopy(result_files.ENVIRONMENT)
        changed["players"]["host"]["cpu"] = "Xeon"
        one = self.results_of("a", of_variant("plain", 10))
        other = self.results_of("b", of_variant("plain", 11), environment=changed)
        text = self.compare(one, other)
        self.assertEqual(text, "not comparable: host: other CPU ('EPYC', 'Xeon')\n")
        document = json.loads(self.compare(one, other, "--json"))
        self.assertEqual((document["comparisons"], len(document["unlike"])), ([], 1))
        self.assertIn("plain is slower", self.compare(one, other, "--any-environment"))

    def test_values_of_other_units_are_not_comparable(self):
        one = self.results_of("a", of_variant("plain", 10))
        other = self.results_of("b", of_variant("plain", 10, unit="ms"))
        self.assertIn("not comparable: other unit (s, ms)", self.compare(one, other))

    def test_few_rounds_are_not_comparable(self):
        folder = self.results_of("a", of_variant("plain", 10)[:5] + of_variant("gcm", 11)[:5])
        text = self.compare(folder, "plain", "gcm")
        self.assertEqual(
            text,
            "seconds [s]: not comparable: 5 rounds have both, and at least 6 are needed\n",
        )

    def test_unknown_variants_values_and_folders_are_refused(self):
        folder = self.results_of("a", of_variant("plain", 10) + of_variant("gcm", 11))
        for arguments, words in (
            ((folder, "plain", "ctr"), 'no variant "ctr" (variants: plain, gcm)'),
            ((folder, "plain", "gcm", "--value", "rate"), 'no value "rate" (values: seconds)'),
            ((folder, self.path("none")), "no folder of results"),
            ((self.path("none"), "plain", "gcm"), "cannot open"),
            ((folder, "plain", "gcm", "ctr"), "compare requires"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.compare(*arguments, code=2))

    def test_the_rounds_for_a_wanted_precision_grow_with_its_square(self):
        trials = of_variant("plain", 10) + of_variant("gcm", 11)[::-1]
        for one in trials[12:]:
            one["values"]["seconds"]["value"] += one["round"] % 3
        folder, wanted = self.results_of("a", trials), {}
        for percent in ("1", "0.5"):
            text = self.compare(folder, "plain", "gcm", "--precision", percent)
            wanted[percent] = int(re.search(rf"about (\d+) rounds .* ±{percent} %", text)[1])
        self.assertAlmostEqual(wanted["0.5"] / wanted["1"], 4, delta=0.05)

    def test_damaged_results_are_refused_with_file_and_line(self):
        good = of_variant("plain", 10)
        for damage, words in (
            ({"round": "1"}, '"round" is missing or of another kind'),
            ({"values": {"seconds": 5}}, '"values" is missing'),
            ({"values": {"seconds": {"value": float("inf"), "unit": "s"}}}, '"values" is missing'),
            ({"status": None}, '"status" is missing'),
            ({"collected": {"host": {"cpu": []}}}, '"collected" is of another kind'),
            ({"load_by_others": "much"}, '"load_by_others" is of another kind'),
        ):
            with self.subTest(damage=damage):
                trials = [good[0], {**good[1], **damage}, *good[2:]]
                folder = self.results_of(f"damaged {words} {len(str(damage))}", trials)
                said = self.compare(folder, "plain", "gcm", code=2)
                self.assertIn(f"{folder}/trials.jsonl:2: malformed: {words}", said)
        folder = self.results_of("environment", good, environment={"players": {"host": 1}})
        said = self.compare(folder, "plain", "gcm", code=2)
        self.assertIn(f'{folder}/experiment.json: malformed: "environment"', said)

    def test_show_has_the_interval_outliers_and_wanted_trials(self):
        trials = of_variant("plain", 10)
        trials[3]["values"]["seconds"]["value"] = 20.0
        folder = self.results_of("a", trials, variants=["plain"])
        done = self.conduct("show", folder)
        self.assertIn("outlier, kept: plain, round 4: 20", done.stdout)
        self.assertRegex(done.stdout, r"plain: \d+ trials for an interval of ±1 %")
        self.assertRegex(done.stdout, r"plain +12 +\S+ +20 ")

    def test_show_names_the_trial_that_others_disturbed_most(self):
        trials = of_variant("plain", 10)
        trials[4].update(load_by_others=0.6, steal=0.01)
        done = self.conduct("show", self.results_of("a", trials, variants=["plain"]))
        self.assertIn(
            "disturbed: other processes had 5.0 % of the CPU time during Run, at most 60 % "
            "(round 5, plain)\n",
            done.stdout,
        )
        self.assertNotIn("hypervisor", done.stdout)

    def test_show_has_the_verdicts_of_up_to_three_variants(self):
        trials = of_variant("plain", 10) + of_variant("gcm", 11)
        done = self.conduct("show", self.results_of("a", trials))
        self.assertIn("\ngcm is slower than plain by 10 %", done.stdout)


if __name__ == "__main__":
    main()
