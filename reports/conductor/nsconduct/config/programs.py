# SPDX-License-Identifier: MIT
# A command -> the programs that it certainly starts, by name.
#
# Only what is plain to see is returned: names with a variable, a path or an alternative ("a || b"),
# and commands in loops and substitutions, are left to the shell.
import re
import shlex

_BUILTINS = frozenset(
    (
        ". : [ alias bg break cd command continue echo eval exec exit export false fg getopts hash "
        "jobs kill local printf pwd read readonly return set shift test times trap true type "
        "ulimit umask unalias unset wait"
    ).split()
)
_KEYWORDS = frozenset(
    "if then else elif fi for while until do done case esac in { } ! function".split()
)
# The next word is a program too.
_WRAPPERS = frozenset("sudo env nice nohup time setsid ionice stdbuf exec command".split())
_NAME = re.compile(r"[A-Za-z0-9_][\w.+-]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SUBSTITUTION = re.compile(r"\$\(\([^()]*\)\)|\$\([^()]*\)|`[^`]*`")
_ENDS = {";", "&", "&&", "|", "||", "\n", ";;", "(", ")"}


def programs(command):
    found = []
    for group in _lists(_without_substitutions(command.replace("\\\n", " "))):
        for words in group:
            name = _first(words)
            if name and name not in found:
                found.append(name)
    return found


def _without_substitutions(command):
    """Innermost first; "" if some remain."""
    count = 1
    while count:
        command, count = _SUBSTITUTION.subn("$X", command)
    return "" if "$(" in command or "`" in command else command


def _lists(command):
    """Simple commands by list; a list with an alternative is left out."""
    try:
        lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words = list(lexer)
    except ValueError:  # an unclosed quote
        return
    starts = [w for before, w in zip([";", *words], words) if before in _ENDS]
    if any(word in _KEYWORDS for word in starts):
        return
    if any(set(word) <= set("()") or word == "<<" for word in words):
        return  # subshells, functions, text that follows
    group, current, alternative = [], [], False
    for word in [*words, ";"]:
        if word not in _ENDS:
            current.append(word)
            continue
        group.append(current)
        current = []
        alternative = alternative or word == "||"
        if word in (";", "&"):
            if not alternative:
                yield group
            group, alternative = [], False


def _first(words):
    place = 0
    while place < len(words):
        word = words[place]
        if _ASSIGNMENT.match(word):
            place += 1
        elif word in ("<", ">", ">>", ">&"):
            place += 2
        elif word in _WRAPPERS:
            place += 1
            if place < len(words) and words[place].startswith("-"):
                return word if word not in _BUILTINS else None
        else:
            is_program = _NAME.fullmatch(word) and not word.isdigit() and word not in _BUILTINS
            return word if is_program else None
    return None
