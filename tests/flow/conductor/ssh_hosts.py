# SPDX-License-Identifier: MIT
"""Hosts with real ssh servers: network namespaces, joined by a bridge, in namespaces that disappear
with this process."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

INSIDE = "NETSLICE_TEST_INSIDE"
SSHD = "/usr/sbin/sshd"
LEASE_S = 4.5  # so that a loaded machine renews it in time
CONNECT_S = 2
_FLOW = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_FLOW))

import needs  # noqa: E402
from mapi_interfaces import wait_until  # noqa: E402

ADDRESS = "192.168.5"  # of Conductor's own example


def enter(*arguments):
    """Restarts the test in its own network, mount and process namespaces, or skips it.  arguments:
    those that the test has taken from its command line."""
    if os.environ.get(INSIDE):
        _be_init()
        for folder in ("/run", "/tmp"):
            subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
        pathlib.Path("/run/sshd").mkdir(mode=0o755)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    needs.tools("ansible-playbook", "ip", "ssh", "ssh-keygen", "unshare", SSHD)
    if os.geteuid() != 0:
        needs.skip("requires root, for network namespaces and ssh servers")
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        needs.skip("cannot create network, mount and process namespaces")
    command = [*unshare, sys.executable, "-B", sys.argv[0], *arguments, *sys.argv[1:]]
    os.execvpe(command[0], command, os.environ | {INSIDE: "1"})


def _be_init():
    """The first process of a process namespace waits for those that have lost their parent; the
    test is its child."""
    child = os.fork()
    while child:
        process, status = os.wait()
        if process == child:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def run(*command):
    subprocess.run(command, check=True, capture_output=True)


def make_key(path):
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path))


class Host:
    """A namespace with an address, and an ssh server in it."""

    def __init__(self, world, name, number):
        self.name, self.folder = name, world.folder / name
        self.address = f"{ADDRESS}.{number}"
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.temporary.chmod(0o1777)
        run("ip", "netns", "add", name)
        run(
            "ip",
            "link",
            "add",
            name,
            "master",
            "bridge",
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            name,
        )
        run("ip", "-n", name, "addr", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            run("ip", "-n", name, "link", "set", device, "up")
        self.plug(True)
        make_key(self.folder / "host_key")
        key = (self.folder / "host_key.pub").read_text()
        with open(world.folder / "known_hosts", "a") as file:
            file.write(f"{self.address} {key}")
        (self.folder / "sshd_config").write_text(
            f"ListenAddress {self.address}\n"
            f"HostKey {self.folder}/host_key\n"
            f"AuthorizedKeysFile {world.folder}/key.pub\n"
            f"PidFile {self.folder}/sshd.pid\n"
            f"SetEnv HOME={self.folder} PATH={self.folder}/bin:{os.environ['PATH']}\n"
            "StrictModes no\nUsePAM no\nUseDNS no\nPasswordAuthentication no\n"
            "PermitRootLogin prohibit-password\nSubsystem sftp internal-sftp\n"
            "ClientAliveInterval 1\nClientAliveCountMax 3\n"
        )
        (self.folder / "bin").mkdir()
        self.start()

    def start(self):
        mount = f"mount --bind {self.temporary} /tmp"  # in a mount namespace that ip made
        server = f"{SSHD} -E {self.folder}/sshd.log -f {self.folder}/sshd_config"
        run("ip", "netns", "exec", self.name, "sh", "-c", f"{mount} && exec {server}")

    def plug(self, is_up):
        run("ip", "link", "set", self.name, "up" if is_up else "down")

    def processes(self):
        """Process -> command line of those that run in the namespace, without the ssh server's."""
        found = {}
        for pid in self.all_processes():
            with contextlib.suppress(OSError):
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
                state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
                if "sshd" not in words and state not in "ZX":
                    found[pid] = words.replace("\0", " ").strip()
        return found

    def all_processes(self):
        shown = subprocess.run(["ip", "netns", "pids", self.name], capture_output=True, text=True)
        return [int(word) for word in shown.stdout.split()]

    def signal_all(self, number):
        """All processes of the host, until there are no others: some start while others end."""
        done = set()
        while new := set(self.all_processes()) - done:
            for pid in new:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            done |= new


class World:
    """Hosts, a bridge between them and this process, a key and an inventory."""

    def __init__(self, *names):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hosts-", dir="/run"))
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "addr", "add", f"{ADDRESS}.1/24", "dev", "bridge")
        run("ip", "link", "set", "bridge", "up")
        make_key(self.folder / "key")
        self.hosts = {name: Host(self, name, number + 81) for number, name in enumerate(names)}
        self.inventory = self.folder / "inventory.ini"
        self.write_inventory()

    def write_inventory(self, key="key", python=None, become=None, lease_s=LEASE_S, **extra):
        """Each host has its name and, as in Conductor's files, its address.  extra: names and
        addresses of hosts that do not exist."""
        lines = [f"{name} ansible_host={host.address}" for name, host in self.hosts.items()]
        lines += [host.address for host in self.hosts.values()]
        lines += [f"{name} ansible_host={address}" for name, address in extra.items()]
        known = self.folder / "known_hosts"
        self.inventory.write_text(
            "\n".join(lines)
            + "\n[all:vars]\nansible_user=root\n"
            + f"ansible_ssh_private_key_file={self.folder}/{key}\n"
            + f"ansible_ssh_common_args=-F none -o UserKnownHostsFile={known}\n"
            + f"nsconduct_lease_s={lease_s}\nansible_ssh_timeout={CONNECT_S}\n"
            + (f"ansible_become=true\nansible_become_user={become}\n" if become else "")
            + (f"ansible_python_interpreter={python}\n" if python else "")
        )

    def join(self, one, other, device):
        """A link between two hosts, whose ends have the same name."""
        peer = ["type", "veth", "peer", "name", device, "netns", other]
        run("ip", "link", "add", device, "netns", one, *peer)
        for host in (one, other):
            run("ip", "-n", host, "link", "set", device, "up")

    def close(self):
        for host in self.hosts.values():
            host.plug(True)
            host.signal_all(signal.SIGCONT)
            host.signal_all(signal.SIGKILL)
            run("ip", "netns", "del", host.name)
        run("ip", "link", "del", "bridge")
        shutil.rmtree(self.folder)


def has_only_ssh_servers(host, seconds=15):
    return wait_until(lambda: not host.processes(), seconds)


_OURS = "nsconduct", "ansible", "ssh: "


def our_processes():
    """Command lines of processes of nsconduct, Ansible and ssh outside the hosts."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            if entry.name.isdigit() and any(name in words for name in _OURS):
                found.append(words)
    return found
