# SPDX-License-Identifier: MIT
# python: Python files -> findings of ruff with the rules of ruff.toml; exit 77 without it.
import pathlib
import re

import tree

RULES = pathlib.Path(__file__).resolve().parents[2] / "ruff.toml"
FIRST_LINE = re.compile(r"#!.*\bpython3?\b")


def is_python(path, content):
    return path.suffix == ".py" or bool(FIRST_LINE.match(content))


def main():
    tree.require_tool("ruff")
    top = tree.root()
    files = tree.chosen(top, is_python)
    command = ["ruff", "check", "--config", RULES, "--no-cache", "--quiet"]
    problems = tree.run_tool([*command, "--output-format=concise"], files, top)
    tree.finish("python", problems, len(files))


main()
