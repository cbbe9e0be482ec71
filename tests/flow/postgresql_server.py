# SPDX-License-Identifier: MIT
"""A PostgreSQL server of this test alone, in a folder of its own, reachable through a socket
there."""

import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import needs


def find_programs():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        needs.skip("not installed: postgresql")
    return found[-1].parent


def find_user():
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    needs.skip("there is no user for the server")


class Server:
    def __init__(self):
        self.programs = find_programs()
        self.user = find_user()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pg"))
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.data = self.folder / "data"
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "--no-sync", "-N")
        self.start()

    def run(self, program, *arguments):
        as_user = {"user": self.user.pw_uid, "group": self.user.pw_gid} if self.user else {}
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
            **as_user,
        )
        if done.returncode != 0:
            raise AssertionError(f"{program}: {done.stdout}")

    def start(self):
        options = f"-c listen_addresses= -c unix_socket_directories={self.folder} -c fsync=off"
        log = self.folder / "log"
        self.run("pg_ctl", "-D", self.data, "-w", "-t", "60", "-l", log, "-o", options, "start")

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-t", "60", "-m", "immediate", "stop")

    def close(self):
        try:
            self.stop()
        except AssertionError:
            pass  # it was stopped before
        shutil.rmtree(self.folder, ignore_errors=True)

    def create_database(self, name):
        """Returns its address."""
        self.run("createdb", "-h", self.folder, "-U", "postgres", name)
        return f"postgresql:///{name}?host={self.folder}&user=postgres"
