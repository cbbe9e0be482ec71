# SPDX-License-Identifier: MIT
# netslice: a folder of output, which is complete or absent.
import errno
import os
import shutil
import tempfile

REMEDIES = {  # the texts of common/file_error
    errno.ENOENT: "create its folder first with `mkdir -p`, or use another path",
    errno.EACCES: "check the permissions there with `namei -l`, or use another path",
    errno.EROFS: "use a writable file system",
    errno.ENOSPC: "free some space there, or use another disk",
    errno.EDQUOT: "free some of your quota there, or use another disk",
    errno.EFBIG: "raise the limit with `ulimit -f unlimited`, or choose a file system that "
    "supports larger files",
    errno.ENOTDIR: "a part of the path is a file, not a folder; check the name",
    errno.ENAMETOOLONG: "shorten the name",
    errno.EMFILE: "raise the limit of open files, `ulimit -n`",
    errno.EIO: "the medium may be failing; see the kernel log, `dmesg`",
}


class FolderError(Exception):
    """The folder cannot be written; the text says why, and what to do."""


def failure(path, error):
    remedy = REMEDIES.get(error.errno)
    why = os.strerror(error.errno) if error.errno else error
    return FolderError(f"{path}: cannot write: {why}" + (f" ({remedy})" if remedy else ""))


class OutputFolder:
    """Context manager: what is written to `work` appears at `path` at finish(), or not at all."""

    def __init__(self, path):
        self.asked = path
        self.path = os.path.realpath(path)
        self.work = None

    def __enter__(self):
        self._refuse_other()
        head, name = os.path.split(self.path)
        try:
            self.work = tempfile.mkdtemp(prefix=f".{name[:100]}.part-", dir=head)
        except OSError as error:
            raise failure(self.asked, error) from error
        return self

    def __exit__(self, kind, value, trace):
        if self.work:
            shutil.rmtree(self.work, ignore_errors=True)
        if isinstance(value, OSError):
            raise failure(self.asked, value) from value

    def _refuse_other(self):
        """Files of someone else are not replaced, nor mixed with ours."""
        if not os.path.lexists(self.path):
            return
        if not os.path.isdir(self.path):
            raise FolderError(f"{self.asked}: exists and is not a folder (choose another name)")
        try:
            is_empty = not os.listdir(self.path)
        except OSError as error:
            raise failure(self.asked, error) from error
        if not is_empty:
            raise FolderError(f"{self.asked}: the folder is not empty (choose another name)")

    def finish(self):
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(self.work, 0o777 & ~umask)  # mkdtemp() makes it private
        os.rename(self.work, self.path)  # replaces an empty folder
        self.work = None
