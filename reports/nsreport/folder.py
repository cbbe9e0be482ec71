# SPDX-License-Identifier: MIT
# Output folder: all or nothing. Work goes into a hidden folder beside it, which is renamed at the end.
import errno
import os
import shutil
import tempfile

from .errors import EXIT_OUTPUT, ReportError, shown

MARKER = ".nsreport"  # tells a report, which may be replaced, from any other folder, which may not


def output_error(path, error):
    remedy = {
        errno.ENOSPC: "free some space or choose another place with -o",
        errno.EDQUOT: "free some of your quota or choose another place with -o",
        errno.EFBIG: "raise the file size limit (ulimit -f) or choose another place with -o",
        errno.EROFS: "the file system is read-only: choose another place with -o",
        errno.EACCES: "you may not write there: choose another place with -o",
        errno.EPERM: "you may not write there: choose another place with -o",
        errno.ENOENT: "make the folder above it first, or choose another place with -o",
    }.get(error.errno, "choose another place with -o")
    return ReportError(EXIT_OUTPUT, f"{shown(path)}: cannot write the report: {error.strerror or error}; {remedy}")


class ReportFolder:
    """Context manager: leaves the finished report at `path`, or nothing."""

    def __init__(self, path):
        self.asked = path
        self.path = os.path.realpath(path)
        self.work = None

    def __enter__(self):
        self._refuse_foreign()
        parent = os.path.dirname(self.path)
        try:
            self.work = tempfile.mkdtemp(prefix=f".{os.path.basename(self.path)[:100]}.part-", dir=parent)
            with open(os.path.join(self.work, MARKER), "w", encoding="utf-8") as marker:
                marker.write("made by nsreport; replaced as a whole by the next run\n")
        except OSError as error:
            self._remove_work()
            raise output_error(self.asked, error) from error
        return self

    def __exit__(self, kind, value, trace):
        self._remove_work()
        if isinstance(value, OSError) and value.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS):
            raise output_error(self.asked, value) from value

    def _refuse_foreign(self):
        if not os.path.lexists(self.path):
            return
        if not os.path.isdir(self.path):
            raise ReportError(EXIT_OUTPUT, f"{shown(self.asked)}: is a file, not a folder; choose another place with -o")
        try:
            entries = os.listdir(self.path)
        except OSError as error:
            raise output_error(self.asked, error) from error
        if entries and MARKER not in entries:
            raise ReportError(EXIT_OUTPUT, f"{shown(self.asked)}: holds files that are not a report; "
                                           "nsreport replaces only its own folders: choose another place with -o")

    def _remove_work(self):
        if self.work:
            shutil.rmtree(self.work, ignore_errors=True)
            self.work = None

    def publish(self):
        """The finished folder takes its name; an older report makes place and goes."""
        try:
            os.chmod(self.work, 0o777 & ~_umask())
            old = None
            if os.path.isdir(self.path):
                old = tempfile.mkdtemp(prefix=f".{os.path.basename(self.path)[:100]}.old-", dir=os.path.dirname(self.path))
                os.rename(self.path, old)
            try:
                os.rename(self.work, self.path)
            except BaseException:
                if old:
                    os.rename(old, self.path)
                raise
            self.work = None
            if old:
                shutil.rmtree(old, ignore_errors=True)
        except OSError as error:
            raise output_error(self.asked, error) from error


def _umask():
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
