# SPDX-License-Identifier: MIT
# What ssh reports -> why a player does not answer.
import re

from ...errors import EXIT_MISSING, EXIT_USAGE

# In this order: the first that matches.
_CASES = (
    ("unknown host", r"Could not resolve hostname|Name or service not known"),
    ("program missing", r"not found on the player"),
    ("unknown host key", r"Host key verification failed|IDENTIFICATION HAS CHANGED"),
    ("key refused", r"Permission denied|Too many authentication failures|invalid format"),
    ("player hangs", r"timed out during banner exchange|banner exchange: .*timed out"),
    ("player cut off", r"timed out|No route to host|Network is unreachable|Network is down"),
    ("player died", r"refused|closed by|reset by|Connection closed|Broken pipe"),
)
_OF_ANSIBLE = re.compile(r".*(?:via|over) ssh: ")
_REMEDY = {
    "unknown host": "check its name, or ansible_host in the inventory",
    "unknown host key": "connect once with ssh, or set ssh's known hosts in the inventory",
    "key refused": "check the keys, ansible_user and ansible_ssh_private_key_file",
}


class Lost(Exception):
    """The player does not answer; the text says why, in words for the report."""


class Refused(Exception):
    """The player answers, but cannot do what was requested."""


def case_of(text):
    for case, pattern in _CASES:
        if re.search(pattern, text, re.IGNORECASE):
            return case
    return "player unreachable"


def reason(text):
    """One line: the case, and the line of ssh's message that names it."""
    case = case_of(text)
    pattern = dict(_CASES).get(case, ".")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.search(pattern, line, re.IGNORECASE)] or lines[-1:]
    line = _OF_ANSIBLE.sub("", named[-1]) if named else "no message"
    remedy = f"; {_REMEDY[case]}" if case in _REMEDY else ""
    return f"{case} ({line}{remedy})"


def exit_code(text):
    return EXIT_USAGE if case_of(text) in _REMEDY else EXIT_MISSING
