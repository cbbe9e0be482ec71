# SPDX-License-Identifier: MIT
# file_size: source files -> files with more than 500 lines, functions with more than 60, folders
# with more than 25 files.
import collections
import re

import tree

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_FOLDER_FILES = 25
ANY_NUMBER = "tests"  # tests are found by the name of what they test
FUNCTION_HEAD = re.compile(r"\)\s*(const|noexcept|override)*$")


def long_functions(path, lines):
    """Functions whose braces are at the start of a line, as .clang-format places them outside
    classes."""
    opened = None
    for number, line in enumerate(lines, start=1):
        if line.rstrip() == "{" and number > 1:
            opened = number if FUNCTION_HEAD.search(lines[number - 2].rstrip()) else None
        elif line.startswith("}") and opened:
            length = number - opened + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{path}:{opened}: function of {length} lines, at most {MAX_FUNCTION_LINES}"
            opened = None


def full_folders(paths):
    files = collections.Counter(path.parent for path in paths if path.parts[0] != ANY_NUMBER)
    for folder, count in sorted(files.items()):
        if count > MAX_FOLDER_FILES:
            yield f"{folder}: {count} files, at most {MAX_FOLDER_FILES} (sort them into subfolders)"


def main():
    top = tree.root()
    paths = tree.paths(top)
    problems, looked_at = list(full_folders(paths)), 0
    for path in paths:
        content = tree.text(top, path)
        if content is None or not tree.is_source(path, content):
            continue
        looked_at += 1
        lines = content.splitlines()
        if len(lines) > MAX_FILE_LINES:
            problems.append(f"{path}: {len(lines)} lines, at most {MAX_FILE_LINES}")
        if path.suffix in tree.CODE:
            problems.extend(long_functions(path, lines))
    tree.finish("file_size", problems, looked_at)


main()
