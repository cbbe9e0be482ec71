# SPDX-License-Identifier: MIT
# Programs that a command certainly starts.
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import conduct_case  # noqa: E402,F401
from nsconduct.config.programs import programs  # noqa: E402


class ProgramsTest(unittest.TestCase):
    def test_each_simple_command_names_a_program(self):
        for command, found in {
            "ping -c 3 10.0.0.1": ["ping"],
            "a -x | b > file; c && d": ["a", "b", "c", "d"],
            "A=1 B=2 a": ["a"],
            "sudo env X=1 a": ["a"],
            "> file a": ["a"],
            "a 2>&1 &": ["a"],
            "a -R f -G \\\n    g": ["a"],
            "a\nb": ["a", "b"],
            'ps aux | grep -E "(ab|curl)"': ["ps", "grep"],
            "a # b; c": ["a"],
            "a $(b | c)0 `d; e`; f $((1 + 2))": ["a", "f"],
            "a $(b $(c; d))": ["a"],
        }.items():
            with self.subTest(command):
                self.assertEqual(programs(command), found)

    def test_what_the_shell_decides_is_left_to_it(self):
        for command in (
            'echo "running"',
            "which a || install a",
            "$PROGRAM -x",
            "./built -x",
            "/opt/a -x",
            "while true; do a; done",
            "(a; b)",
            "a $(b",
            "f() { a; }; f",
            "cat <<END\na\nEND",
            "exec 3> file",
            "$(a) b",
            "a 'unclosed",
            "cd /tmp; test -e a",
        ):
            with self.subTest(command):
                self.assertEqual(programs(command), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
