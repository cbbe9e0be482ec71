# SPDX-License-Identifier: MIT
# checkpatch: the kernel module's sources -> findings of the kernel's own checkpatch.pl, except
# those in checkpatch_exceptions.txt. The program is searched where Debian's kernel packages put
# their sources; exit 77 if it is not found.
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

SKIP = 77
LIST = pathlib.Path(__file__).resolve().parent / "checkpatch_exceptions.txt"
PARTS = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
OPTIONS = (
    "--no-tree",
    "--terse",
    "--show-types",
    "--strict",
    "--max-line-length=140",
    "--no-summary",
    "--file",
)
SAID = re.compile(
    r"(?P<path>.+?):(?P<line>\d+): (?P<kind>ERROR|WARNING|CHECK):(?P<type>[A-Z0-9_]+): (?P<text>.*)"
)


def exceptions():
    """(type, path prefix) of each line; a line without a reason is a fault of the list."""
    found = []
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            rule, _, reason = line.partition(" : ")
            if len(rule.split()) != 2 or not reason.strip():
                raise SystemExit(f"{LIST.name}: not 'TYPE PATH : reason': {line}")
            found.append(tuple(rule.split()))
    return found


def version(path):
    return [int(word) for word in re.findall(r"\d+", str(path))]


def unpacked(archive, folder):
    """The three files from linux-source-VERSION.tar.xz; kept in the build folder, because searching
    the archive takes seconds."""
    top = archive.name.removesuffix(".tar.xz")
    kept = pathlib.Path(os.environ.get("NETSLICE_BUILD", folder)) / f"checkpatch-{top}"
    if not kept.exists():
        new = pathlib.Path(tempfile.mkdtemp(prefix="checkpatch-", dir=kept.parent))
        subprocess.run(
            [
                "tar",
                "-xJf",
                archive,
                "-C",
                new,
                "--strip-components=2",
                *(f"{top}/scripts/{part}" for part in PARTS),
            ],
            check=True,
        )
        try:
            new.rename(kept)
        except OSError:  # another process was faster
            shutil.rmtree(new)
    return kept / PARTS[0]


def program(folder):
    """checkpatch.pl of CHECKPATCH, of an unpacked kernel, or of the newest archive of Debian's
    package linux-source."""
    if os.environ.get("CHECKPATCH"):
        return pathlib.Path(os.environ["CHECKPATCH"])
    sources = pathlib.Path("/usr/src")
    there = sorted(sources.glob("linux-*/scripts/checkpatch.pl"), key=version)
    if there:
        return there[-1]
    archives = sorted(sources.glob("linux-source-*.tar.xz"), key=version)
    return unpacked(archives[-1], folder) if archives else None


def main():
    top = tree.root()
    listed = exceptions()
    paths = [
        path for path in tree.paths(top) if path.parts[0] == "nsmod" and path.suffix in (".c", ".h")
    ]
    with tempfile.TemporaryDirectory(prefix="netslice-checkpatch-") as folder:
        if not shutil.which("perl"):
            print("skipped: perl is not installed")
            sys.exit(SKIP)
        found = program(pathlib.Path(folder))
        if not found:
            print(
                "skipped: checkpatch.pl not found: install linux-source-6.1, or set the variable "
                "CHECKPATCH"
            )
            sys.exit(SKIP)
        done = subprocess.run(
            ["perl", found, *OPTIONS, *(top / path for path in paths)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    problems = (
        []
        if done.returncode in (0, 1)
        else [f"{found} ended with {done.returncode}: {done.stderr}"]
    )
    for line in done.stdout.splitlines():
        said = SAID.match(line)
        path = said and str(pathlib.Path(said["path"]).relative_to(top))
        if not said:
            problems.append(line)
        elif not any(kind == said["type"] and path.startswith(place) for kind, place in listed):
            problems.append(f"{path}:{said['line']}: {said['type']}: {said['text']}")
    tree.finish("checkpatch", problems, len(paths))


main()
