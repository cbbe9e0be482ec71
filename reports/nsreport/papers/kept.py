# SPDX-License-Identifier: MIT
# What is kept of each part in the output folder: its results, and when and how they were made.
import json
import os
import shutil
import time

from ..traffic import bench
from .parts import LONG

STATUS = "status.json"
_TEXTS = ("form", "kernel", "cpu", "version", "started")


def machine():
    kernel = " ".join(os.uname()[i] for i in (0, 2, 4))
    return {"kernel": kernel, "cpu": bench.cpu_words()}


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Kept:
    """Parts below a folder: NAME/ with results and status.json, NAME.failed.json."""

    def __init__(self, folder):
        self.folder = folder

    def place(self, name):
        return os.path.join(self.folder, name)

    def _failed_path(self, name):
        return os.path.join(self.folder, f"{name}.failed.json")

    def status(self, name):
        """Of results that are complete, or None."""
        found = _read(os.path.join(self.place(name), STATUS))
        is_whole = found is not None and all(isinstance(found.get(key), str) for key in _TEXTS)
        is_whole = is_whole and _are_texts(found.get("commands"))
        return found if is_whole and _are_texts(found.get("failures", [])) else None

    def failure(self, name):
        """Of the last attempt, or None."""
        found = _read(self._failed_path(name))
        return found if found and isinstance(found.get("why"), str) else None

    def is_fresh(self, name, form, version):
        """Whether measuring would give the same: this machine, these programs, no longer form."""
        found = self.status(name)
        if found is None or found["version"] != version:
            return False
        same = all(found[key] == value for key, value in machine().items())
        return same and found["form"] in (form, LONG)

    def keep(self, name, work, status):
        """Puts a finished folder into its place."""
        with open(os.path.join(work, STATUS), "w", encoding="utf-8") as file:
            json.dump(status, file, indent=1)
        shutil.rmtree(self.place(name), ignore_errors=True)
        os.rename(work, self.place(name))
        self.forget_failure(name)

    def keep_failure(self, name, status):
        with open(self._failed_path(name), "w", encoding="utf-8") as file:
            json.dump(status, file, indent=1)

    def forget_partial(self):
        """Scratch folders of a run that was killed."""
        for name in os.listdir(self.folder):
            if name.startswith("."):
                shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)

    def forget_failure(self, name):
        if os.path.exists(self._failed_path(name)):
            os.remove(self._failed_path(name))


def _are_texts(value):
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _read(path):
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
