# SPDX-License-Identifier: MIT
# A folder of earlier results -> parts of the output folder.
import contextlib
import os
import shutil
import time

from ..errors import EXIT_INPUT, EXIT_OUTPUT, ReportError, shown
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


@contextlib.contextmanager
def _copied(source, work, *below):
    """A copy of the folder in a scratch folder."""
    shutil.rmtree(work, ignore_errors=True)
    try:
        # What a link leads to is no result; as root it could be any file.
        shutil.copytree(source, os.path.join(work, *below), symlinks=True)
        yield
    except shutil.Error as error:
        path, _, why = error.args[0][0]
        raise ReportError(EXIT_OUTPUT, f"{shown(path)}: cannot copy: {shown(why)}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _copy(source, place):
    if os.path.realpath(source) == os.path.realpath(place):
        return
    work = os.path.join(os.path.dirname(place), f".{os.path.basename(place)}.taken")
    with _copied(source, work):
        shutil.rmtree(place, ignore_errors=True)
        os.rename(work, place)


def _of_report(part, source, kept):
    """A single report, such as of `nsreport --load -o load`."""
    path = os.path.join(source, os.path.relpath(part.results, parts.REPORT))
    if not part.option or not os.path.isfile(path):
        return False
    work = os.path.join(kept.folder, f".{part.name}.taken")
    with _copied(source, work, parts.REPORT):
        document = parts.document(part, work)
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(os.path.getmtime(path)))
        status = {"form": FORM, "version": "", "started": when, "seconds": None}
        status |= {key: document.get(key) or "" for key in ("kernel", "cpu")}
        status |= {"commands": [f"nsreport {part.option}"], "failures": []}
        kept.keep(part.name, work, status)
    return True
