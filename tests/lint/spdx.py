# SPDX-License-Identifier: MIT
# spdx: source files -> those whose first line (the second after #!) does not name the licence of
# their folder.
import pathlib
import re

import tree

TAG = re.compile(r"SPDX-License-Identifier: (.+?)\s*(\*/|-->)?\s*$")

# Folder -> licences; the longest prefix applies.
LICENCES = {
    "": {"MIT"},
    "nsmod": {"GPL-2.0", "GPL-2.0-only", "MIT"},
    "nsbpf/examples": {"(GPL-2.0 OR MIT)", "MIT"},
    "nsbpf/include/nslice": {"(GPL-2.0 OR MIT)"},  # part of users' BPF programs
    "nsbpf/programs": {"(GPL-2.0 OR MIT)"},  # the kernel requires the GPL of BPF programs
    "tests/vm/cases/exact_module": {"GPL-2.0"},  # kernel modules
    "tests/vm/cases/meet_module": {"GPL-2.0"},
    "nsmod/uapi": {"(GPL-2.0 WITH Linux-syscall-note) OR MIT", "MIT"},
}
# Unmodified third-party programs keep their own header; a file NAME.license next to them states the
# licence (REUSE).


def allowed(path):
    folder = max(
        (prefix for prefix in LICENCES if prefix == "" or path.is_relative_to(prefix)), key=len
    )
    return LICENCES[folder]


def problem_of(top, path, content):
    if (top / f"{path}.license").exists():
        return None
    lines = content.splitlines()
    first = (
        lines[1] if lines and lines[0].startswith("#!") and len(lines) > 1 else "".join(lines[:1])
    )
    found = TAG.search(first)
    if not found:
        return f"{path}:1: no SPDX-License-Identifier in the first line"
    if found.group(1) not in allowed(path):
        return (
            f"{path}:1: licence '{found.group(1)}' is not one of this folder: "
            f"{', '.join(sorted(allowed(path)))}"
        )
    return None


def main():
    top = tree.root()
    problems, looked_at = [], 0
    for path in tree.paths(top):
        content = tree.text(top, path)
        if content is None or not tree.is_source(path, content):
            continue
        looked_at += 1
        problem = problem_of(top, pathlib.PurePosixPath(path), content)
        if problem:
            problems.append(problem)
    tree.finish("spdx", problems, looked_at)


main()
