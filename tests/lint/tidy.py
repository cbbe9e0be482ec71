# SPDX-License-Identifier: MIT
# tidy: C and C++ sources -> findings of clang-tidy 14 with the checks of .clang-tidy; exit 77
# without it.  By default what has changed and, as far as time permits, others; --all: everything.
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import tree

CLANG_TIDY = "clang-tidy-14"
# CPU time, for each CPU; then no file is begun.  What has changed comes first.
SECONDS = 6
# Without a branch to compare with, what these commits changed.
COMMITS = 5
# Kernel code has the kernel's own checks, appendices are as published.
OTHERS = re.compile(r"\.\./|nsmod/|build[-/]|mapi-core/apps/examples/appendix_")
FINDING = re.compile(r"^(.+?):(\d+):(\d+): (?:warning|error): (.*)$")
INCLUDE = re.compile(r'(?m)^\s*#\s*include\s*[<"]([^">]+)')
# All that the meaning of the code depends on; other options may be gcc's own.
WITH_VALUE = ("-I", "-isystem", "-D", "-U", "-include")
KEPT = re.compile(r"-(I|isystem|D|U|std=|m|include)")


def kept_options(words):
    """The compiler and its options that clang understands, without precompiled headers."""
    kept, words = [words[0]], iter(words[1:])
    for word in words:
        if not KEPT.match(word):
            continue
        option = [word, next(words)] if word in WITH_VALUE else [word]
        if "cmake_pch" not in option[-1]:
            kept += option
    return kept


def commands(top, build):
    """file, by path from the root -> how it is compiled; of several ways, the first."""
    found = {}
    for job in json.loads((build / "compile_commands.json").read_text()):
        folder = build / job["directory"]
        path = pathlib.Path(os.path.relpath(folder / job["file"], top))
        if path in found or path.suffix not in tree.CODE or OTHERS.match(str(path)):
            continue
        options = kept_options(shlex.split(job["command"]))
        found[path] = {
            "directory": str(folder),
            "file": str(top / path),
            "arguments": [*options, "-c", str(top / path)],
        }
    return {path: job for path, job in found.items() if path.suffix != ".S"}


def git(top, *arguments):
    """The lines that git prints, or none if it fails."""
    command = ["git", "-c", "safe.directory=*", "-C", str(top), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return done.stdout.splitlines()


def changed(top):
    """What differs from the upstream's main branch; on that branch itself, from some commits
    ago."""
    head = git(top, "rev-parse", "HEAD")
    base = git(top, "merge-base", "HEAD", "origin/HEAD")
    if base == head:
        base = git(top, "rev-list", "--first-parent", "-n", str(COMMITS + 1), "HEAD")[-1:]
    if not base:
        return []
    names = git(top, "diff", "--name-only", "--relative", base[0])
    names += git(top, "ls-files", "--others", "--exclude-standard")
    return [pathlib.Path(name) for name in sorted(set(names))]


def includes(top):
    """name of a header -> the files that include one of that name, with its path there."""
    found = {}
    for path in tree.paths(top):
        if path.suffix in tree.CODE:
            for name in INCLUDE.findall((top / path).read_text(errors="replace")):
                found.setdefault(pathlib.Path(name).name, []).append((path, name))
    return found


def user(header, included, files):
    """A source that includes the header, directly or through others, or nothing."""
    wanted, seen = [header], {header}
    while wanted:
        used = wanted.pop(0)
        for path, name in included.get(used.name, []):
            if path not in seen and f"/{used}".endswith(f"/{name}"):
                if path in files:
                    return [path]
                seen.add(path)
                wanted.append(path)
    return []


def in_order(top, files):
    """Changed files, then all others, each in an order that depends on the commit; the number of
    the former."""
    commit = "".join(git(top, "rev-parse", "HEAD"))

    def place(path):
        return hashlib.sha256(f"{commit}{path}".encode()).digest()

    first, included = set(), includes(top)
    for path in changed(top):
        if path in files:
            first.add(path)
        elif path.suffix in {".h", ".hpp"} and (top / path).is_file():
            first.update(user(path, included, files))
    rest = set(files) - first
    return sorted(first, key=place) + sorted(rest, key=place), len(first)


def findings(top, said):
    """clang-tidy's output -> its findings in this tree, by path from the root."""
    found = []
    for line in said.splitlines():
        match = FINDING.match(line)
        if match:
            path = os.path.relpath(match[1], top)
            if not OTHERS.match(path):
                found.append(f"{path}:{match[2]}:{match[3]}: {match[4]}")
    return found


def check(top, database, path):
    command = [CLANG_TIDY, "--quiet", "-p", database, "--header-filter=.*", top / path]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, check=False)
    found = findings(top, done.stdout)
    is_misconfigured = "Error parsing" in done.stderr  # of .clang-tidy; the exit code is 0
    if is_misconfigured or (done.returncode != 0 and not found):
        found.append(f"{path}: {CLANG_TIDY} ended with {done.returncode}: {done.stderr}")
    return found


def cpu_seconds():
    """Of the programs that have ended."""
    used = os.times()
    return used.children_user + used.children_system


def check_all(top, jobs, paths, seconds):
    """The problems, and the number of files that were checked in time."""
    problems, count = {}, 0
    workers = int(os.environ.get("NETSLICE_JOBS") or len(os.sched_getaffinity(0)))
    with (
        tempfile.TemporaryDirectory() as database,
        concurrent.futures.ThreadPoolExecutor(workers) as pool,
    ):
        pathlib.Path(database, "compile_commands.json").write_text(json.dumps(list(jobs.values())))

        def in_time(path):
            is_late = seconds and cpu_seconds() > seconds * workers
            return None if is_late else check(top, database, path)

        for path, found in zip(paths, pool.map(in_time, paths)):
            if found is not None:
                count += 1
                problems |= dict.fromkeys(found)
                # As ninja reports its steps: `run` shows them.
                print(f"[{count}/{len(paths)}] Check {path}", flush=True)
    return list(problems), count


def main():
    tree.require_tool(CLANG_TIDY)
    everything = "--all" in sys.argv[2:]
    top = tree.root()
    jobs = commands(top, tree.configured_build(top))
    paths, first = in_order(top, jobs)
    problems, count = check_all(top, jobs, paths, None if everything else SECONDS)
    print(f"{first} files that changed, or use headers that did; {count} of {len(paths)} checked")
    tree.finish("tidy", problems, count)


main()
