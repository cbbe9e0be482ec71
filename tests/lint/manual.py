# SPDX-License-Identifier: MIT
# manual: manual pages, and those that are made of mapi.3 -> what `man` warns of.
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

SKIP = 77
PAGE = re.compile(r"\.[1-8]$")


def warnings_of(page):
    shown = subprocess.run(["man", "--warnings", "-l", page], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                           env=os.environ | {"MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
    told = [f"{page.name}: {line}" for line in shown.stderr.splitlines()]
    return told if told or shown.returncode == 0 else [f"{page.name}: man fails"]


def main():
    top = tree.root()
    if not shutil.which("man"):
        print("skipped: man is not installed")
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as folder:
        pages = pathlib.Path(folder) / "man3"
        client = top / "mapi-core/client"
        made = subprocess.run([sys.executable, "-B", client / "function_pages.py", client / "mapi.3", top / "mapi-core/functions", pages],
                              stderr=subprocess.PIPE, text=True, check=False)
        problems = made.stderr.splitlines()
        looked_at = [top / path for path in tree.paths(top) if PAGE.search(str(path))] + sorted(pages.glob("*.3mapi"))
        for page in looked_at:
            problems += warnings_of(page)
    tree.finish("manual", problems, len(looked_at))


main()
