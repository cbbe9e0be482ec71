# SPDX-License-Identifier: MIT
# A folder of earlier results -> parts of the output folder.
import os
import shutil
import time

from ..errors import EXIT_INPUT, ReportError, shown
from . import parts
from .kept import Kept

PARTS_FOLDER = "parts"
FORM = "earlier"  # of a report that was not made by nsreport papers


def take(folder, kept):
    """Copies what is there; returns the names of parts."""
    if not os.path.isdir(folder):
        raise ReportError(EXIT_INPUT, f"{shown(folder)}: not a folder (give an earlier output)")
    taken = []
    for part in parts.PARTS:
        source = os.path.join(folder, PARTS_FOLDER, part.name)
        if Kept(os.path.dirname(source)).status(part.name):
            _copy(source, kept.place(part.name))
        elif not _of_report(part, os.path.join(folder, part.name), kept):
            continue
        kept.forget_failure(part.name)
        taken.append(part.name)
    if not taken:
        raise ReportError(
            EXIT_INPUT,
            f"{shown(folder)}: no results in it (give an output of nsreport papers, or a folder "
            "with reports in folders such as load/)",
        )
    return taken


def _copy(source, place):
    if os.path.realpath(source) == os.path.realpath(place):
        return
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place)


def _of_report(part, source, kept):
    """A single report, such as of `nsreport --load -o load`."""
    path = os.path.join(source, os.path.relpath(part.results, parts.REPORT))
    if not part.option or not os.path.isfile(path):
        return False
    work = os.path.join(kept.folder, f".{part.name}.taken")
    shutil.rmtree(work, ignore_errors=True)
    try:
        shutil.copytree(source, os.path.join(work, parts.REPORT))
        document = parts.document(part, work)
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(os.path.getmtime(path)))
        status = {"form": FORM, "version": "", "started": when, "seconds": None}
        status |= {key: document.get(key) or "" for key in ("kernel", "cpu")}
        status |= {"commands": [f"nsreport {part.option}"], "failures": []}
        kept.keep(part.name, work, status)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return True
