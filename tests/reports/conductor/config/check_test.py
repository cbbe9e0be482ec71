# SPDX-License-Identifier: MIT
# nsconduct check and run --dry-run: errors with file and line, and what would run where.
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import SOURCE, ConductCase, main  # noqa: E402

MANUAL = os.path.join(SOURCE, "reports/conductor/nsconduct.1")

PLAYER = """[Master]
player: 127.0.0.1
conductor: 127.0.0.1
cmdport: 6970
resultsport: 6971
[Startup]
step1: true
[Run]
step1: sleep 1
step10: echo ${size}
timeout5: sleep 9
spawn1: sleep 99
[Collect]
[Reset]
step1: true
"""


class CheckTest(ConductCase):
    def check(self, code=0):
        done = self.conduct("check", "master.cfg")
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def assert_errors(self, *expected):
        """Each is the start of a line of the messages."""
        said = self.check(2).stderr.splitlines()
        self.assertEqual(len(said), len(expected), said)
        for line, begin in zip(said, expected):
            self.assertTrue(line.startswith(f"nsconduct: {begin}"), line)

    def test_a_master_of_conductor_is_accepted(self):
        self.write("a.cfg", PLAYER)
        for section in ("Clients", "Workers"):
            self.write("master.cfg", f"[Test]\ntrials: 3\nformat: json\n[{section}]\nc1: a.cfg\n")
            done = self.check()
            self.assertEqual(done.stdout, "master.cfg: 1 player, 1 variant, 3 rounds, 0 values\n")
            self.assertEqual(done.stderr, "")

    def test_newer_files_with_coordinator_and_equal_signs_are_accepted(self):
        self.write("master.cfg", "[Test]\ntrials = 1\n[Workers]\nw = a.cfg\n")
        self.write(
            "a.cfg",
            "[Coordinator]\nplayer = 10.0.0.1   # address\nconductor = 10.0.0.2\ncmdport = 1\n"
            "resultsport = 2\n[Run]\ntimeout5 = a\ntimeout5 = b\n",
        )
        self.assertEqual(self.check().stderr, "")

    def test_the_examples_of_the_manual_are_accepted(self):
        with open(MANUAL, encoding="utf-8") as file:
            text = file.read().replace("\\-", "-")
        plain, full = re.findall(r"(?s)\.nf\n(\[Test\].*?)\.fi", text)
        (player,) = re.findall(r"(?s)\.nf\n(\[Master\].*?)\.fi", text)
        for name in ("source.cfg", "sink.cfg"):
            self.write(name, player)
        for master in (plain, full):
            self.write("master.cfg", master)
            self.assertEqual(self.check().stderr, "")

    def test_each_error_has_its_file_and_line(self):
        self.master("a", "b", "c", test="trials: none\nwarmup: -1", more="[Variants]\nx: y\n")
        self.write("a.cfg", "[Run]\nstep1: x\nstep1: y\ntimeoutx: z\nfoo bar\n")
        self.write("b.cfg", "[Master]\ncmdport: 70000\n[Run]\nstep1:\n")
        self.assert_errors(
            "a.cfg:3: ",
            "a.cfg:5: ",
            "a.cfg:4: ",
            "b.cfg:2: ",
            "b.cfg:4: ",
            "master.cfg:7: c: c.cfg: cannot open",
            "master.cfg:2: ",
            "master.cfg:3: ",
            'master.cfg:9: x: "y"',
        )

    def test_our_sections_are_checked(self):
        self.write("a.cfg", PLAYER)
        self.master(
            "a",
            more="""[Transport]
a: carrier pigeon
b: local
[Variants]
x: size=1
y: length=2
[Values]
v1: a run 9 bits/s seconds
v2: a walk 1 s seconds
v3: a run 1 s regex (a)(b)
v4: a run 1 s regex (
v5: b run 1 s seconds
v6: a run 1 s json
[Collectors]
b: cpu
a: cpu rain
[Network]
link: a eth0 10.0.0.1/24 b eth0 10.0.0.2/24
route: a
forward: b
other: 1
""",
        )
        self.assert_errors(
            'master.cfg:6: a: "carrier pigeon" is no transport',
            'master.cfg:7: no player "b"',
            'master.cfg:8: [Variants]: x has no "length"',
            'master.cfg:8: [Variants]: y has no "size"',
            'master.cfg:12: v1: a has no step "9" in run',
            'master.cfg:13: v2: "walk" is no phase',
            'master.cfg:14: v3: "(a)(b)" requires one group',
            'master.cfg:15: v4: "(": ',
            'master.cfg:16: v5: no player "b"',
            "master.cfg:17: v6: required: PLAYER PHASE STEP UNIT",
            'master.cfg:19: no player "b"',
            'master.cfg:20: a: no collector "rain" (cpu, ',
            'master.cfg:22: link: player "a" has no namespace of its own',
            "master.cfg:23: route: required: PLAYER DESTINATION",
            'master.cfg:24: forward: no player "b"',
            'master.cfg:25: "other" is unknown in [Network]',
        )

    def test_a_misspelt_name_is_a_warning(self):
        self.master("a", test="trails: 3", more="[Valves]\n")
        self.write("a.cfg", PLAYER + "[Rest]\n")
        said = self.check().stderr
        self.assertIn('master.cfg:2: warning: "trails" is unknown', said)
        self.assertIn("master.cfg:5: warning: [Valves] is unknown", said)
        self.assertIn("a.cfg:16: warning: [Rest] is unknown", said)

    def test_a_file_that_is_no_text_is_refused_with_its_line(self):
        with open(self.path("master.cfg"), "wb") as file:
            file.write(b"[Test]\n\xff\n")
        self.assert_errors("master.cfg:2: not UTF-8 text")

    def test_a_dry_run_shows_the_order_of_the_steps_and_runs_none(self):
        self.write("a.cfg", PLAYER.replace("step1: true", f"step1: touch {self.path('ran')}"))
        self.master("a", more="[Variants]\nsmall: size=64\nbig: size=1500\n")
        done = self.conduct("run", "master.cfg", "-o", "out", "--dry-run", "--seed", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = [line.split() for line in done.stdout.splitlines() if line.startswith("    a ")]
        names = ["step1", "step1", "step10", "timeout5", "spawn1", "step1"]
        self.assertEqual([words[1] for words in steps], names * 2)
        self.assertIn("a step10 (at most 30 s): echo 64\n", done.stdout)
        self.assertIn("a step10 (at most 30 s): echo 1500\n", done.stdout)
        self.assertIn("a timeout5 (at most 5 s): sleep 9\n", done.stdout)
        self.assertIn("a spawn1 (in the background): sleep 99\n", done.stdout)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.cfg", "master.cfg"])

    def test_output_that_cannot_be_written_is_an_error(self):
        self.master("a")
        self.player("a", run="step1: true")
        for arguments in (("check", "master.cfg"), ("run", "master.cfg", "-o", "x", "--dry-run")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run(
                    self.command(*arguments),
                    cwd=self.folder,
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                )
            self.assertEqual(done.returncode, 1)
            self.assertEqual(
                done.stderr,
                "nsconduct: standard output: cannot write: No space left on device\n",
            )

    def test_invalid_usage_has_exit_code_2(self):
        for arguments in (
            [],
            ["walk"],
            ["run", "master.cfg"],
            ["run", "missing.cfg", "-o", "out"],
            ["run", "master.cfg", "-o", "out", "--trials", "0"],
            ["run", "master.cfg", "-o", "out", "--transport", "pigeon"],
            ["show", "missing"],
        ):
            with self.subTest(arguments):
                done = self.conduct(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertTrue(done.stderr.startswith("nsconduct: "), done.stderr)


main()
