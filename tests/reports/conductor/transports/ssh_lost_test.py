# SPDX-License-Identifier: MIT
# What ssh prints -> the case that nsconduct reports, and the exit code.
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import conduct_case  # noqa: E402,F401
from nsconduct.errors import EXIT_MISSING, EXIT_USAGE  # noqa: E402
from nsconduct.transports.ssh import lost  # noqa: E402

# As OpenSSH 9.2 prints them.
CASES = {
    "ssh: connect to host a port 22: Connection refused": "player died",
    "Shared connection to 192.0.2.1 closed.\nConnection closed by 192.0.2.1 port 22": "player died",
    "kex_exchange_identification: read: Connection reset by peer": "player died",
    "Connection timed out during banner exchange\nConnection to a timed out": "player hangs",
    "ssh: connect to host a port 22: Connection timed out": "player cut off",
    "ssh: connect to host a port 22: No route to host": "player cut off",
    "ssh: connect to host a port 22: Network is unreachable": "player cut off",
    "ssh: Could not resolve hostname a: Name or service not known": "unknown host",
    "root@a: Permission denied (publickey).": "key refused",
    "Host key verification failed.": "unknown host key",
    "python3: not found on the player": "program missing",
    "something else": "player unreachable",
}


class LostTest(unittest.TestCase):
    def test_each_message_of_ssh_has_its_case(self):
        for text, case in CASES.items():
            with self.subTest(text):
                self.assertEqual(lost.case_of(text), case)

    def test_the_reason_has_the_line_that_names_the_case_without_words_of_ansible(self):
        said = "ssh: connect to host a port 22: No route to host"
        by_ansible = f"Warning: something\nFailed to connect to the host via ssh: {said}\n"
        self.assertEqual(lost.reason(by_ansible), f"player cut off ({said})")
        self.assertEqual(lost.reason(""), "player unreachable (no message)")

    def test_what_the_user_can_correct_is_invalid_usage(self):
        for text, case in CASES.items():
            usage = case in ("unknown host", "unknown host key", "key refused")
            self.assertEqual(lost.exit_code(text), EXIT_USAGE if usage else EXIT_MISSING, text)
            self.assertEqual(
                " inventory" in lost.reason(text) or "ansible_" in lost.reason(text), usage
            )


if __name__ == "__main__":
    unittest.main()
