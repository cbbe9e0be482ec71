# SPDX-License-Identifier: MIT
# include_rules: source files + include_rules.txt -> includes that go in a direction the table does not allow.
import fnmatch
import pathlib
import re

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
C_STANDARD = {f"{name}.h" for name in
              "assert ctype errno float inttypes limits locale math setjmp signal stdalign stdarg "
              "stdatomic stdbool stddef stdint stdio stdlib string time".split()}
# Where an include is looked for after the including file's own folder.
SEARCH = ("nsmod/uapi", "libnsprobe/include", "mapi-core/include", "mapi-core/include/mapi", "libnsprobe/src", "nsdump",
          "mapi-core", "mapi-core/functions", "mapi-core/apps", "calibrate", "nsmod/src", "nsmod", "tests", ".")
# Made by the build, not in the tree.
GENERATED = ("*.pb.h", "*.skel.h", "*_version.h")


class Rules:
    def __init__(self, lines):
        self.table, self.exceptions, self.only = {}, [], {}
        for line in lines:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if "=>" in line:
                rule, _, reason = line.partition(" : ")
                source, target = (side.strip() for side in rule.split("=>"))
                if not reason.strip():
                    raise SystemExit(f"include_rules.txt: exception without a reason: {line}")
                self.exceptions.append((source, target))
            elif "<-" in line:
                header, _, source = line.partition("<-")
                self.only[header.strip()[1:-1]] = source.strip()
            else:
                source, _, targets = line.partition("->")
                self.table[source.strip()] = re.findall(r"<[^>]+>|\S+", targets)

    def folder(self, path):
        found = [source for source in self.table if under(path, source)]
        return max(found, key=len) if found else None

    def allows(self, path, target):
        folder = self.folder(path)
        if under(target, folder) or any(under(target, to) for to in self.table[folder]):
            return True
        return any(under(path, source) and under(target, to) for source, to in self.exceptions)

    def allows_system(self, path, header):
        named = [to[1:-1] for to in self.table[self.folder(path)] if to.startswith("<")]
        excepted = any(under(path, source) and to == f"<{header}>" for source, to in self.exceptions)
        return not named or header in named or ("C standard" in named and header in C_STANDARD) or excepted


def under(path, prefix):
    """True when path is prefix, lies in it, or matches its stars."""
    if "*" in prefix:
        return fnmatch.fnmatchcase(path, prefix) or fnmatch.fnmatchcase(path, prefix + "/*")
    return path == prefix or path.startswith(prefix + "/")


def resolve(known, path, name):
    """The file of the tree that an include means, or None for a header of the system."""
    for folder in (str(pathlib.PurePosixPath(path).parent), *SEARCH):
        candidate = name if folder == "." else f"{folder}/{name}"
        if candidate in known:
            return candidate
    return None


def public_header_rule(path, target):
    """Only probe.h, whose macros are inline, may reach into detail/."""
    public = under(path, "libnsprobe/include/nsprobe") and "/detail/" not in path
    return not (public and "/detail/" in target and not path.endswith("/probe.h"))


def problem_of(rules, known, path, quote, name):
    if ".." in name.split("/"):
        return f"'{name}' goes up; name the file from its part's root"
    target = resolve(known, path, name)
    if target is None:
        if quote == '"' and not any(fnmatch.fnmatchcase(name, pattern) for pattern in GENERATED) \
                and not path.startswith("tests/"):
            return f"\"{name}\" is no file of the tree; a system header stands in <>"
        if rules.only.get(name, path) != path:
            return f"<{name}> is for {rules.only[name]} alone; include the header of that"
        if not rules.allows_system(path, name):
            return f"<{name}> is not allowed in {rules.folder(path)}"
        return None
    if under(target, "tests") and not under(path, "tests"):
        return f"{target}: nothing includes tests"
    if not rules.allows(path, target):
        return f"{rules.folder(path)} may not include {target}"
    if not public_header_rule(path, target):
        return f"a public header may not include {target}"
    return None


def main():
    top = tree.root()
    table = pathlib.Path(__file__).with_name("include_rules.txt").read_text().splitlines()
    rules = Rules(table)
    files = [path for path in tree.paths(top) if path.suffix in tree.CODE]
    known = {str(path) for path in files}
    problems, looked_at = [], 0
    for path in sorted(known):
        looked_at += 1
        if rules.folder(path) is None:
            problems.append(f"{path}: its folder is not in include_rules.txt")
            continue
        for number, line in enumerate((top / path).read_text(errors="replace").splitlines(), start=1):
            found = INCLUDE.match(line)
            problem = found and problem_of(rules, known, path, *found.groups())
            if problem:
                problems.append(f"{path}:{number}: {problem}")
    tree.finish("include_rules", problems, looked_at)


main()
