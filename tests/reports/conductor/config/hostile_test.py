# SPDX-License-Identifier: MIT
# Damaged configuration files: an experiment, or errors with file and line, and never a crash.
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conduct_case import ConductCase, main  # noqa: E402
from nsconduct.config import master_file, programs  # noqa: E402
from nsconduct.engine import dry_run  # noqa: E402
from nsconduct.errors import ConductError, ConfigErrors  # noqa: E402

MASTER = """[Test]
trials: 3
warmup: 1
seed: 4
[Clients]
a: a.cfg
b: b.cfg
[Transport]
a: namespace
b: namespace one
[Network]
link: a eth0 10.0.0.1/24 b eth0 fd00::1/64 mtu 1500
route: a default via 10.0.0.2
forward: b
[Variants]
x: size=1
y: size=2
[Values]
v: a run 1 s seconds
w: a run step2 m/s regex ([0-9.]+) m
[Collectors]
a: cpu
"""
PLAYER = """[Master]
player: 1.2.3.4
cmdport: 6970
[Startup]
step1: %(step2)s && b | c > d
step2: $(x) 'y' "z" ${size}
[Run]
step1: a \\
    b
step2: timeout 5 c
timeout5: %% || d
spawn1: e &
"""
ROUNDS = 600


class HostileTest(ConductCase):
    def damaged(self, chance, text):
        letters = list(text)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(letters))
            letters[place] = chance.choice(
                ["", "\n", "\0", "[", "]", ":", "=", "%", "%(", "${", "'", "\t", "\u20ac", "9" * 30]
                + [text[chance.randrange(len(text)) :][:20]]
            )
        return "".join(letters)

    def test_damaged_files_are_read_or_refused_with_file_and_line(self):
        chance, refused = random.Random(27), 0
        self.write("b.cfg", PLAYER)
        for number in range(ROUNDS):
            texts = {"master.cfg": MASTER, "a.cfg": PLAYER}
            name = chance.choice(list(texts))
            texts[name] = self.damaged(chance, texts[name])
            for file, text in texts.items():
                self.write(file, text)
            with self.subTest(number=number):
                try:
                    experiment = master_file.read(self.path("master.cfg"))
                except ConductError as error:
                    refused += 1
                    for problem in getattr(error, "problems", [str(error)]):
                        self.assertRegex(problem, r"^[^\n]+\.cfg:[0-9]+: ")
                    continue
                self.assertTrue(dry_run.text(experiment))
                for player in experiment.players.values():
                    for steps in player.phases.values():
                        for step in steps:
                            programs.programs(step.command)
        self.assertGreater(refused, ROUNDS // 10)
        self.assertLess(refused, ROUNDS)

    def test_a_name_that_leads_out_of_the_results_is_refused(self):
        for section, line in (
            ("[Clients]\n../a: b.cfg\n", "master.cfg:4: "),
            ("[Clients]\na: b.cfg\n[Variants]\n../x: y=1\n", "master.cfg:6: "),
        ):
            self.write("b.cfg", PLAYER)
            self.write("master.cfg", f"[Test]\ntrials: 1\n{section}")
            with self.assertRaises(ConfigErrors) as caught:
                master_file.read(self.path("master.cfg"))
            self.assertIn(line, caught.exception.problems[0])
        self.write("master.cfg", "[Test]\ntrials: 1\n[Clients]\na: b.cfg\n")
        self.write("b.cfg", "[Run]\n../../x: y\n")
        with self.assertRaises(ConfigErrors):
            master_file.read(self.path("master.cfg"))

    def assert_refused(self, place, more="", player="[Run]\nstep1: true\n", test="trials: 1"):
        self.write("a.cfg", player)
        self.write("master.cfg", f"[Test]\n{test}\n[Clients]\na: a.cfg\n{more}")
        with self.assertRaises(ConfigErrors) as caught:
            master_file.read(self.path("master.cfg"))
        self.assertIn(place, str(caught.exception))

    def test_a_number_that_python_cannot_convert_is_refused(self):
        run = "[Run]\nstep1: true\n"
        network = "[Transport]\na: namespace\n[Network]\nlink: a e0 - a e1 - mtu "
        for number in ("\u00b2", "9" * 5000):
            with self.subTest(number=number[:9]):
                self.assert_refused("master.cfg:2: trials", test=f"trials: {number}")
                self.assert_refused("master.cfg:8: link", f"{network}{number}\n")
                port = f"[Master]\ncmdport: {number}\n"
                self.assert_refused("a.cfg:2: cmdport", player=port + run)
                self.assert_refused("a.cfg:2: ", player=f"[Run]\ntimeout{number}: true\n")

    def test_an_expression_that_python_cannot_compile_is_refused(self):
        for expression in ("(a{1,99999999999999999999})", "(" * 9999 + ")" * 9999):
            with self.subTest(expression=expression[:9]):
                values = f"[Values]\nv: a run 1 s regex {expression}\n"
                self.assert_refused("master.cfg:6: v", values)

    def test_a_player_file_that_would_never_end_is_refused(self):
        os.mkfifo(self.path("pipe"))
        self.assert_refused("master.cfg:5: b: ", "b: pipe\n")

    def test_a_host_without_address_or_with_that_of_an_option_is_refused(self):
        self.assert_refused("a.cfg:1: ", "[Transport]\na: ssh\n")
        self.assert_refused("master.cfg:6: a: ", "[Transport]\na: ssh -oProxyCommand=x\n")


main()
