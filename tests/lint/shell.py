# SPDX-License-Identifier: MIT
# shell: shell scripts -> findings of shellcheck, which follows sourced files; exit 77 without it.
import re

import tree

FIRST_LINE = re.compile(r"#!\s*\S*(/|env\s+)(sh|bash|dash)\b")


def is_shell(path, content):
    return path.suffix == ".sh" or bool(FIRST_LINE.match(content))


def main():
    tree.require_tool("shellcheck")
    top = tree.root()
    scripts = tree.chosen(top, is_shell)
    command = ["shellcheck", "-x", "--source-path=SCRIPTDIR", "--format=gcc"]
    tree.finish("shell", tree.run_tool(command, scripts, top), len(scripts))


main()
