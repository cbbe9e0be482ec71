# SPDX-License-Identifier: MIT
# Output folder: all or nothing. The report is built in a hidden folder next to it, which is renamed
# at the end.
import errno
import os
import shutil
import tempfile

from . import signals
from .errors import EXIT_OUTPUT, Interrupted, ReportError, shown

MARKER = ".nsreport"  # lists the files of a report; a folder with any other file is not replaced
MARKER_HEAD = "made by nsreport; replaced as a whole by the next run, with these files:"


def output_error(path, error):
    remedy = {
        errno.ENOSPC: "free some space or choose another folder with -o",
        errno.EDQUOT: "free some of your quota or choose another folder with -o",
        errno.EFBIG: (
            "raise the file size limit with ulimit -f unlimited or choose another folder with -o"
        ),
        errno.EROFS: "mount it read-write or choose another folder with -o",
        errno.EACCES: "check its permissions or choose another folder with -o",
        errno.EPERM: "check its permissions or choose another folder with -o",
        errno.ENOENT: "create the parent folder first or choose another folder with -o",
    }.get(error.errno, "choose another folder with -o")
    return ReportError(
        EXIT_OUTPUT, f"{shown(path)}: cannot write the report: {error.strerror or error} ({remedy})"
    )


class ReportFolder:
    """Context manager: leaves the complete report at `path`, or nothing."""

    def __init__(self, path):
        self.asked = path
        self.path = os.path.realpath(path)
        self.work = None

    def refuse_input(self, path):
        """An input inside the folder would be deleted together with the older report."""
        place = os.path.realpath("/proc/self/fd/0" if path == "-" else path)
        if _is_inside(place, self.path) and place != self.path:
            raise ReportError(
                EXIT_OUTPUT,
                f"{shown(place)}: the input is inside the output folder {shown(self.asked)}, "
                "which would be replaced (choose another folder with -o)",
            )

    def __enter__(self):
        self._refuse_foreign()
        parent = os.path.dirname(self.path)
        try:
            with signals.held():
                self.work = tempfile.mkdtemp(
                    prefix=f".{os.path.basename(self.path)[:100]}.part-", dir=parent
                )
        except OSError as error:
            raise output_error(self.asked, error) from error
        except Interrupted:
            # raised at the end of held(): the folder exists already and must be removed here
            self._remove_work()
            raise
        return self

    def __exit__(self, kind, value, trace):
        work = self.work
        self._remove_work()
        if isinstance(value, OSError) and (
            value.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
            or (work and _is_inside(str(value.filename), work))
        ):
            raise output_error(self.asked, value) from value

    def _refuse_foreign(self):
        if not os.path.lexists(self.path):
            return
        if not os.path.isdir(self.path):
            raise ReportError(
                EXIT_OUTPUT, f"{shown(self.asked)}: not a folder (choose another folder with -o)"
            )
        if _is_inside(os.getcwd(), self.path):
            raise ReportError(
                EXIT_OUTPUT,
                f"{shown(self.asked)}: contains the current folder, and a report replaces its "
                "folder as a whole (choose a separate folder with -o)",
            )
        try:
            found = _files_in(self.path)
            own = _marked_files(self.path)
        except OSError as error:
            raise output_error(self.asked, error) from error
        foreign = sorted(found - own)
        if foreign:
            raise ReportError(
                EXIT_OUTPUT,
                f'{shown(self.asked)}: contains "{shown(foreign[0])}", which is not part of a '
                "report; nsreport replaces only its own folders (choose another folder with -o)",
            )

    def _remove_work(self):
        with signals.held():
            if self.work:
                shutil.rmtree(self.work, ignore_errors=True)
                self.work = None

    def publish(self):
        """Renames the finished folder into place and deletes an older report."""
        try:
            with signals.held():
                self._rename()
        except OSError as error:
            raise output_error(self.asked, error) from error

    def _rename(self):
        names = sorted(_files_in(self.work))
        with open(os.path.join(self.work, MARKER), "w", encoding="utf-8") as marker:
            marker.write("\n".join([MARKER_HEAD, *names]) + "\n")
        os.chmod(self.work, 0o777 & ~_umask())
        old = None
        if os.path.isdir(self.path):
            old = tempfile.mkdtemp(
                prefix=f".{os.path.basename(self.path)[:100]}.old-", dir=os.path.dirname(self.path)
            )
            try:
                os.rename(self.path, old)
            except OSError:
                os.rmdir(old)
                raise
        try:
            os.rename(self.work, self.path)
        except OSError:
            if old:
                os.rename(old, self.path)
            raise
        self.work = None
        if old:
            shutil.rmtree(old, ignore_errors=True)


def _is_inside(path, folder):
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _files_in(folder):
    """Relative paths of everything in the folder except its marker; folders end with a slash."""

    def stop(error):
        raise error

    found = set()
    for place, folders, files in os.walk(folder, onerror=stop):
        at = os.path.relpath(place, folder)
        found |= {os.path.normpath(os.path.join(at, name)) for name in files}
        found |= {os.path.normpath(os.path.join(at, name)) + "/" for name in folders}
    return found - {MARKER}


def _marked_files(folder):
    try:
        with open(
            os.path.join(folder, MARKER), encoding="utf-8", errors="surrogateescape"
        ) as marker:
            return set(marker.read().split("\n")[1:])
    except FileNotFoundError:
        return set()


def _umask():
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
