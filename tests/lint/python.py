# SPDX-License-Identifier: MIT
# python: Python files -> findings of ruff with the rules of ruff.toml; exit 77 without it.
import pathlib
import re
import shutil
import subprocess
import sys

import tree

SKIP = 77
RULES = pathlib.Path(__file__).resolve().parents[2] / "ruff.toml"
FIRST_LINE = re.compile(r"#!.*\bpython3?\b")


def is_python(path, content):
    return path.suffix == ".py" or bool(FIRST_LINE.match(content))


def main():
    if not shutil.which("ruff"):
        print("skipped: ruff is not installed")
        sys.exit(SKIP)
    top = tree.root()
    files = [
        path
        for path in tree.paths(top)
        if (content := tree.text(top, path)) is not None and is_python(path, content)
    ]
    problems = []
    if files:
        options = ["--config", RULES, "--no-cache", "--quiet", "--output-format=concise"]
        done = subprocess.run(
            ["ruff", "check", *options, "--", *files],
            cwd=top,
            capture_output=True,
            text=True,
            check=False,
        )
        problems = done.stdout.splitlines()
        if done.returncode not in (0, 1):
            problems.append(f"ruff ended with {done.returncode}: {done.stderr}")
    tree.finish("python", problems, len(files))


main()
