# SPDX-License-Identifier: MIT
"""The folder of built packages -> each package, with its control fields, files and scripts."""

import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("NETSLICE_PACKAGES", SOURCE / "build/packages")).resolve()
SKIP = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


class Package:
    def __init__(self, path):
        self.path = path
        self.name = self.field("Package")

    def field(self, name):
        done = subprocess.run(
            ["dpkg-deb", "--field", self.path, name], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def unpacked(self, folder):
        """Its files below the folder, its control files in DEBIAN there."""
        subprocess.run(["dpkg-deb", "--raw-extract", self.path, folder], check=True)
        return folder

    def files(self):
        """path -> its line of `dpkg-deb --contents`; folders are left out."""
        done = subprocess.run(
            ["dpkg-deb", "--contents", self.path], check=True, capture_output=True, text=True
        )
        found = {}
        for line in done.stdout.splitlines():
            if not line.startswith("d"):
                found[line.split(None, 5)[5].split(" -> ")[0].removeprefix(".")] = line
        return found

    def control_file(self, name):
        """Its text, or nothing."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["dpkg-deb", "--control", self.path, folder], check=True)
            path = pathlib.Path(folder) / name
            return path.read_text(encoding="utf-8") if path.exists() else ""


def built(with_debug_symbols=False):
    """name -> Package"""
    found = [Package(path) for path in sorted(FOLDER.glob("*.deb"))]
    if not found:
        skip(f"{FOLDER}: no packages (./run package)")
    return {one.name: one for one in found if with_debug_symbols or "-dbgsym" not in one.name}
