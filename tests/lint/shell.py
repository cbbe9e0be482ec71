# SPDX-License-Identifier: MIT
# shell: shell scripts -> findings of shellcheck, which follows sourced files; exit 77 without it.
import re
import shutil
import subprocess
import sys

import tree

SKIP = 77
FIRST_LINE = re.compile(r"#!\s*\S*(/|env\s+)(sh|bash|dash)\b")


def is_shell(path, content):
    return path.suffix == ".sh" or bool(FIRST_LINE.match(content))


def main():
    if not shutil.which("shellcheck"):
        print("skipped: shellcheck is not installed")
        sys.exit(SKIP)
    top = tree.root()
    scripts = [
        path
        for path in tree.paths(top)
        if (content := tree.text(top, path)) is not None and is_shell(path, content)
    ]
    problems = []
    if scripts:
        done = subprocess.run(
            ["shellcheck", "-x", "--source-path=SCRIPTDIR", "--format=gcc", "--", *scripts],
            cwd=top,
            capture_output=True,
            text=True,
            check=False,
        )
        problems = done.stdout.splitlines()
        if done.returncode not in (0, 1):
            problems.append(f"shellcheck ended with {done.returncode}: {done.stderr}")
    tree.finish("shell", problems, len(scripts))


main()
