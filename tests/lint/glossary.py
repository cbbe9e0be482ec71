# SPDX-License-Identifier: MIT
# glossary: text files + GLOSSARY.md -> lines with a word of its right column.
import pathlib
import re

import tree

GLOSSARY = pathlib.Path(__file__).with_name("GLOSSARY.md")
# Data that is kept as it was recorded, published texts of MAPI 2, and the words themselves.
EXEMPT = (
    "tests/format/golden",
    "tests/format/damaged",
    "tests/unit/reports/data",
    "tests/lint/GLOSSARY.md",
    "tests/lint/self_test.py",
    "mapi-core/client/errors/error_table.hpp",
    "LICENSE",
)


def words(table):
    """The phrases of the last column of the tables whose last heading is "not"; parentheses hold
    remarks."""
    found, is_right = [], False
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").replace("\\|", "").split("|")]
        if not line.startswith("|"):
            is_right = False
        elif cells[-1] == "not":
            is_right = True
        elif is_right and not set(cells[-1]) <= set("- "):
            found += [
                word.strip()
                for word in re.sub(r"\([^)]*\)", "", cells[-1]).split(";")
                if word.strip()
            ]
    return found


def pattern(found):
    phrases = "|".join(
        r"\s+".join(map(re.escape, word.split())) for word in sorted(found, key=len, reverse=True)
    )
    return re.compile(rf"\b({phrases})\b", re.IGNORECASE)


def main():
    top = tree.root()
    found = words(GLOSSARY.read_text())
    wrong = pattern(found)
    problems, looked_at = [], 0
    for path in tree.paths(top):
        if str(path).startswith(EXEMPT) or (top / f"{path}.license").exists():
            continue
        content = tree.text(top, path)
        if content is None:
            continue
        looked_at += 1
        for match in wrong.finditer(content):
            line = content.count("\n", 0, match.start()) + 1
            problems.append(f'{path}:{line}: "{" ".join(match[1].split())}" (see GLOSSARY.md)')
    tree.finish("glossary", problems, looked_at)


main()
