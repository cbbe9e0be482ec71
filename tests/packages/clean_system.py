# SPDX-License-Identifier: MIT
"""A fresh Debian in a folder, of this machine's release and mirrors -> commands run in it."""

import os
import re
import subprocess

# In a namespace of its own, so that nothing stays mounted and no process stays behind.
ENTER = """
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount -t tmpfs tmpfs "$0/dev/shm"
mount --rbind -o ro /sys "$0/sys"
exec chroot "$0" "$@"
"""
VARIABLES = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root"}
OPTIONS_OF_APT = re.compile(r"Acquire::(Check-|https?::)")


def output_of(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def apt_sources():
    """Debian's part of what apt of this machine reads."""
    lines = output_of(
        "apt-get",
        "indextargets",
        "--format",
        "deb $(REPO_URI) $(RELEASE) $(COMPONENT)",
        "Created-By: Packages",
        "Origin: Debian",
    ).splitlines()
    return sorted(set(lines))


def apt_options():
    """What apt of this machine needs to reach its mirrors."""
    lines = output_of(
        "apt-config", "dump", "--no-empty", "--format", '%f "%v";%n', "Acquire"
    ).splitlines()
    return [line for line in lines if OPTIONS_OF_APT.match(line)]


class CleanSystem:
    def __init__(self, root, tools):
        """tools: packages that are installed at first."""
        self.root = root
        release = output_of("sh", "-c", '. /etc/os-release && echo "$VERSION_CODENAME"').strip()
        options = [f"--aptopt={line}" for line in apt_options()]
        subprocess.run(
            [
                "unshare",  # what it mounts is gone when it ends, however it ends
                "--mount",
                "mmdebstrap",
                "--quiet",
                "--mode=root",
                "--variant=minbase",
                f"--include={','.join(tools)}",
                "--dpkgopt=force-unsafe-io",
                *options,
                release,
                str(root),
                "-",
            ],
            input="\n".join(apt_sources()) + "\n",
            text=True,
            check=True,
        )
        resolver = root / "etc/resolv.conf"
        if not resolver.exists():
            with open("/etc/resolv.conf", encoding="utf-8") as this_machine:
                resolver.write_text(this_machine.read(), encoding="utf-8")

    def run(self, *command, user="root", variables=None):
        """The finished command: its returncode and, as text, stdout with stderr."""
        words = [str(word) for word in command]
        if user != "root":
            words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *words]
        return subprocess.run(
            ["unshare", "--mount", "--ipc", "--pid", "--fork", "--kill-child"]
            + ["sh", "-euc", ENTER, str(self.root), *words],
            env=VARIABLES | (variables or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def must(self, *command, **more):
        """What a command prints that must succeed."""
        done = self.run(*command, **more)
        if done.returncode != 0:
            raise AssertionError(f"{command}: exit code {done.returncode}: {done.stdout[-6000:]}")
        return done.stdout

    def apt(self, *arguments):
        return self.must(
            "apt-get",
            "--yes",
            "--no-install-recommends",
            *arguments,
            variables={"DEBIAN_FRONTEND": "noninteractive"},
        )

    def paths(self):
        """Every file, link and folder, as inside; what is mounted here is not."""
        found = set()
        for folder, folders, files in os.walk(self.root):
            for name in folders + files:
                found.add("/" + os.path.relpath(os.path.join(folder, name), self.root))
        return found

    def owned(self):
        """The paths that installed packages have, as paths() names them: /lib is /usr/lib."""
        listed = set()
        for list_of_files in (self.root / "var/lib/dpkg/info").glob("*.list"):
            listed.update(list_of_files.read_text(encoding="utf-8").splitlines())
        return {re.sub(r"^/(?=(bin|sbin|lib[0-9]*)/)", "/usr/", path) for path in listed}
