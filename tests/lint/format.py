# SPDX-License-Identifier: MIT
# format: C and C++ sources -> places that clang-format 14 would change, and lines over 100 columns.
import re
import subprocess

import tree

CLANG_FORMAT = "clang-format-14"
COLUMNS = 100
# Kernel code has the kernel's style, appendices are as published, and assembly stands in columns.
OTHER_STYLE = re.compile(
    r"nsmod/|mapi-core/apps/examples/appendix_|libnsprobe/include/nsprobe/detail/arch_"
)
# A table reads better with a row a line; no tool breaks these.
TABLES = {"mapi-core/apps/mapi_cost/source/scenario.cpp", "mapi-core/include/mapi/argument_types.h"}


def findings(top, paths):
    command = [CLANG_FORMAT, "--dry-run", "--ferror-limit=1", *map(str, paths)]
    said = subprocess.run(command, cwd=top, text=True, capture_output=True, check=False).stderr
    return re.findall(r"(?m)^(.*?:\d+):\d+: warning: code should be clang-formatted", said)


def main():
    tree.require_tool(CLANG_FORMAT)
    top = tree.root()
    paths = [
        path
        for path in tree.paths(top)
        if path.suffix in tree.CODE - {".S"} and not OTHER_STYLE.match(str(path))
    ]
    problems = [f"{place}: clang-format would change it" for place in findings(top, paths)]
    for path in paths:
        for number, line in enumerate(
            (top / path).read_text(errors="replace").splitlines(), start=1
        ):
            if len(line) > COLUMNS and str(path) not in TABLES:
                problems.append(f"{path}:{number}: {len(line)} columns, at most {COLUMNS}")
    tree.finish("format", problems, len(paths))


main()
