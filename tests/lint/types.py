# SPDX-License-Identifier: MIT
# types: C++ files -> fixed-width types and casts that are not spelled as everywhere else.
import re

import tree

ARITHMETIC = (
    r"(?:u?int(?:8|16|32|64)_t|size_t|ptrdiff_t|u?intptr_t|double|float|int|unsigned|char|bool"
    r"|long|short)"
)
RULES = {
    "write uint64_t without std::": re.compile(
        r"\bstd::(?:u?int(?:8|16|32|64)_t|size_t|ptrdiff_t|u?intptr_t)\b"
    ),
    "write uint64_t(x) for a conversion of arithmetic types": re.compile(
        r"\bstatic_cast<(?:std::)?" + ARITHMETIC + r">"
    ),
}


def main():
    top = tree.root()
    files = tree.chosen(top, lambda path, _: path.suffix in {".cpp", ".hpp"})
    problems = []
    for path in files:
        for number, line in enumerate(tree.text(top, path).splitlines(), start=1):
            for what, pattern in RULES.items():
                if pattern.search(line):
                    problems.append(f"{path}:{number}: {what}")
    tree.finish("types", problems, len(files))


main()
