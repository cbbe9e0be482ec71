# SPDX-License-Identifier: MIT
# manual: manual pages, including those of functions and calls generated from mapi.3 -> warnings of
# `man`, missing sections, and missing options.
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

SKIP = 77
PAGE = re.compile(r"\.[1-8]$")
OPTIONS = {
    "nsdump/nsdump.1": "nsdump/cli",
    "calibrate/nscalibrate.1": "calibrate/main.cpp",
    "reports/nsreport.1": "reports/nsreport",
    "reports/conductor/nsconduct.1": "reports/conductor/nsconduct/arguments.py",
    "mapi-core/apps/snort2sids/snort2sids.1": "mapi-core/apps/snort2sids/options.cpp",
}


def warnings_of(page):
    shown = subprocess.run(
        ["man", "--warnings", "-l", page],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=os.environ | {"MANWIDTH": "100", "LC_ALL": "C.UTF-8"},
    )
    reported = [f"{page.name}: {line}" for line in shown.stderr.splitlines()]
    return reported if reported or shown.returncode == 0 else [f"{page.name}: man fails"]


def missing_sections(top, pages):
    """Checks the pages of all functions of the catalogue and all calls of mapi.h."""
    core = top / "mapi-core"
    functions = re.findall(r"&mapi_fn_(\w+)", (core / "functions/catalog.cpp").read_text())
    calls = re.findall(
        r"^(?:#define |\w[\w *]*?)\b(mapi_[a-z_]+)\(",
        (core / "include/mapi/mapi.h").read_text(),
        re.MULTILINE,
    )
    wanted = {f"{name.upper()}.3mapi": ("ARGUMENTS", "RESULT", "ERRORS") for name in functions}
    wanted |= {f"{name}.3": ("RETURN VALUE", "ERRORS", "THREADS") for name in calls}
    for name, sections in wanted.items():
        page = pages / name
        text = page.read_text() if page.is_file() else ""
        if text.startswith(".so man3/"):
            text = (pages / text.split("/")[1].strip()).read_text()
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", *sections):
            if not re.search(
                rf"^\.SH {section}\n[^.\n]|^\.SH {section}\n\.(?!SH)", text, re.MULTILINE
            ):
                yield f"{name}: has no section {section}"


def options_of(source):
    """Long options in the source of a program in C++ or Python."""
    inside = (path for pattern in ("*.cpp", "arguments.py") for path in source.rglob(pattern))
    texts = [path.read_text() for path in ([source] if source.is_file() else inside)]
    found = {"--help", "--version"}
    for text in texts:
        names = re.findall(r'\badd(?:_flag|_argument)?\(\s*((?:"-[^"]*",\s*)+)', text)
        found |= set(re.findall(r"--[a-z-]+", " ".join(names)))
        if "add_format(" in text:
            found.add("--format")
    return found


def undescribed_options(top):
    """Options of a program without an entry on its page, and entries without an option."""
    for name, source in OPTIONS.items():
        if not (top / source).exists():
            continue
        heads = re.findall(r"^\.TP\n(.*)", (top / name).read_text(), re.MULTILINE)
        entries = set(re.findall(r"--[a-z-]+", " ".join(heads).replace("\\-", "-")))
        known = options_of(top / source)
        for option in sorted(known - entries):
            yield f"{name}: has no entry for {option}"
        for option in sorted(entries - known):
            yield f"{name}: has an entry for {option}, which {source} does not define"


def main():
    top = tree.root()
    if not shutil.which("man"):
        print("skipped: man is not installed")
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as folder:
        pages = pathlib.Path(folder) / "man3"
        client = top / "mapi-core/client"
        made = subprocess.run(
            [
                sys.executable,
                "-B",
                client / "function_pages.py",
                client / "mapi.3",
                top / "mapi-core/functions",
                pages,
            ],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        problems = made.stderr.splitlines() or list(missing_sections(top, pages))
        problems += undescribed_options(top)
        looked_at = [top / path for path in tree.paths(top) if PAGE.search(str(path))] + sorted(
            page for page in pages.glob("*.3*") if not page.read_text().startswith(".so ")
        )
        for page in looked_at:
            problems += warnings_of(page)
    tree.finish("manual", problems, len(looked_at))


main()
