# SPDX-License-Identifier: MIT
# benchmarks: the sources of benchmarks and fuzz targets, which ./run test does not build -> errors
# and warnings of their compiler, which only parses them.
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess

import tree

FOLDERS = ("tests/bench", "tests/fuzz")


def commands(top, build):
    """path from the root -> (folder, command that parses it)"""
    found = {}
    for job in json.loads((build / "compile_commands.json").read_text()):
        folder = build / job["directory"]
        path = pathlib.Path(os.path.relpath(folder / job["file"], top))
        if str(path.parent) in FOLDERS:
            words = shlex.split(job["command"])
            place = words.index("-o")
            found[path] = (folder, [*words[:place], *words[place + 2 :], "-fsyntax-only"])
    return found


def parse(job):
    folder, command = job
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr.splitlines() if done.returncode or done.stderr else []


def main():
    top = tree.root()
    jobs = commands(top, tree.configured_build(top))
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        problems = [line for found in pool.map(parse, jobs.values()) for line in found]
    tree.finish("benchmarks", problems, len(jobs))


main()
