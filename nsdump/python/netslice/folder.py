# SPDX-License-Identifier: MIT
# netslice: a folder of output, which is complete or absent.
import errno
import os
import shutil
import tempfile

REMEDIES = {
    errno.ENOSPC: "free some space or choose another folder with -o",
    errno.EDQUOT: "free some of your quota or choose another folder with -o",
    errno.EFBIG: "raise the file size limit with ulimit -f unlimited",
    errno.EACCES: "check its permissions or choose another folder with -o",
    errno.ENOENT: "create the parent folder first or choose another folder with -o",
}


class FolderError(Exception):
    """The folder cannot be written; the text says why, and what to do."""


def failure(path, error):
    remedy = REMEDIES.get(error.errno, "choose another folder with -o")
    why = os.strerror(error.errno) if error.errno else error
    return FolderError(f"{path}: cannot write: {why} ({remedy})")


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
            raise FolderError(
                f"{self.asked}: is a file, but this format writes a folder (choose another name "
                "with -o)"
            )
        try:
            is_empty = not os.listdir(self.path)
        except OSError as error:
            raise failure(self.asked, error) from error
        if not is_empty:
            raise FolderError(
                f"{self.asked}: the folder is not empty (remove it first, or choose another one "
                "with -o)"
            )

    def finish(self):
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(self.work, 0o777 & ~umask)  # mkdtemp() makes it private
        os.rename(self.work, self.path)  # replaces an empty folder
        self.work = None
