# SPDX-License-Identifier: MIT
# tree: the checkout -> its text files, by path from the root; shared by the lint checks.
import os
import pathlib
import shutil
import subprocess
import sys

CODE = {".c", ".h", ".cpp", ".hpp", ".S"}
SCRIPT = {".py", ".sh", ".cmake", ".gp"}
SKIP = 77
SKIPPED_FOLDERS = {".git", "build", "__pycache__"}


def root_of_this_file():
    return pathlib.Path(__file__).resolve().parents[2]


def root():
    """The tree to check: the first argument, or the checkout that contains this file."""
    if len(sys.argv) > 1:
        return pathlib.Path(sys.argv[1]).resolve()
    return root_of_this_file()


def _listed_by_git(top):
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "-C",
        str(top),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [pathlib.Path(name) for name in done.stdout.decode().split("\0") if name]


def paths(top):
    """Every file, tracked or untracked; without git (in a source archive), every file outside build
    folders."""
    listed = _listed_by_git(top)
    if listed is None:
        listed = [path.relative_to(top) for path in top.rglob("*") if path.is_file()]
    kept = [
        path
        for path in listed
        if (top / path).is_file()
        and not (top / path).is_symlink()
        and not any(
            part in SKIPPED_FOLDERS or part.startswith("build-") for part in path.parts[:-1]
        )
    ]
    return sorted(set(kept))


def text(top, path):
    """The file's text, or None for binary data."""
    raw = (top / path).read_bytes()
    if b"\0" in raw:
        return None
    return raw.decode("utf-8", errors="replace")


def is_script(path, content):
    return path.suffix in SCRIPT or content.startswith("#!")


def is_source(path, content):
    return path.suffix in CODE or is_script(path, content) or path.name == "CMakeLists.txt"


def chosen(top, is_wanted):
    """The text files that is_wanted(path, content) holds for."""
    return [
        path
        for path in paths(top)
        if (content := text(top, path)) is not None and is_wanted(path, content)
    ]


def require_tool(name):
    """Ends the check as skipped if the program is not installed."""
    if not shutil.which(name):
        print(f"skipped: {name} is not installed")
        sys.exit(SKIP)


def configured_build(top):
    """The build folder, whose compile_commands.json says how files are compiled; ends the check as
    skipped without it."""
    build = pathlib.Path(os.environ.get("NETSLICE_BUILD") or top / "build/release").resolve()
    if not (build / "compile_commands.json").exists():
        print(f"skipped: {build} has no compile_commands.json (cmake --preset release)")
        sys.exit(SKIP)
    return build


def run_tool(command, files, top):
    """A linter's findings, a line each; it exits with 0 or 1."""
    if not files:
        return []
    done = subprocess.run(
        [*command, "--", *files], cwd=top, capture_output=True, text=True, check=False
    )
    problems = done.stdout.splitlines()
    if done.returncode not in (0, 1):
        problems.append(f"{command[0]} ended with {done.returncode}: {done.stderr}")
    return problems


def finish(check, problems, looked_at):
    """Prints the problems and exits; a check that found no files has failed."""
    for problem in problems:
        print(problem)
    if not looked_at:
        print(f"{check}: no file to check")
        sys.exit(1)
    print(f"{check}: {looked_at} files, {len(problems)} problems")
    sys.exit(1 if problems else 0)
