#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate: a program -> its completions for bash, zsh and fish, in the folders where these look.

usage: generate.py PROGRAM FOLDER
"""

import pathlib
import subprocess
import sys

from bash import bash
from fish import fish
from help_text import program_of
from zsh import zsh


def main():
    path, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    name = path.name
    try:
        program = program_of(path, name)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"completions of {name}: its --help cannot be read: {error}")
    for place, text in (
        (f"bash-completion/completions/{name}", bash(program)),
        (f"zsh/site-functions/_{name}", zsh(program)),
        (f"fish/vendor_completions.d/{name}.fish", fish(program)),
    ):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)


if __name__ == "__main__":
    main()
