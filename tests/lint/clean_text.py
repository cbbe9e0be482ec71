# SPDX-License-Identifier: MIT
# clean_text: text files -> lines with machine paths, registry hosts, work markers, conflict marks
# or trailing blanks.
import re

import tree

# Written so that this file does not contain what it searches for.
FORBIDDEN = {
    "path of one machine": re.compile(r"(?<![\w.])/(wor[k]|hom[e]|roo[t])/\w|/tm[p]/(b-|bri)"),
    "host of a package registry": re.compile(
        r"pypi\.org|pythonhosted\.org|crates\.io|npmjs\.(org|com)|proxy\.golang\.org|rubygems\.org|"
        r"(deb|security|snapshot|ftp)\.debian\.org|ubuntu\.com/ubuntu|hub\.docker\.com|ghcr\.io|"
        r"nuget\.org"
    ),
    "marker of unfinished work": re.compile(r"\b(TO[D]O|FIX[M]E|XX[X]|HAC[K])\b"),
    "conflict mark": re.compile(r"^(<{7}|>{7})( |$)"),
    "blank at the line's end": re.compile(r"[ \t]+$"),
}
# Data that is kept as recorded or as written by others.
DATA_FOLDERS = ("tests/format/golden", "tests/format/damaged")


def main():
    top = tree.root()
    problems, looked_at = [], 0
    for path in tree.paths(top):
        if str(path).startswith(DATA_FOLDERS) or (top / f"{path}.license").exists():
            continue
        content = tree.text(top, path)
        if content is None:
            continue
        looked_at += 1
        for number, line in enumerate(content.splitlines(), start=1):
            for what, pattern in FORBIDDEN.items():
                if pattern.search(line):
                    problems.append(f"{path}:{number}: {what}")
        if content and not content.endswith("\n"):
            problems.append(f"{path}: no newline at the end")
    tree.finish("clean_text", problems, looked_at)


main()
