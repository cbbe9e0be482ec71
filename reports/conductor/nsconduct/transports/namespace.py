# SPDX-License-Identifier: MIT
# A player whose steps run in a network namespace of its own, on this host.
#
# Nothing but the player's processes, and nsconduct until it closes the player, holds the namespace:
# with the last of them it disappears, and with it its interfaces.  Its keeper ends them all, even
# if nsconduct is killed.  Players that name the same namespace share it.
import os
import shutil

from ..errors import TransportError
from . import processes
from .links import connect
from .local import SHELL, LocalPlayer
from .transport import Transport

_REQUIRED = ("unshare", "nsenter", "ip", "mount")
# /sys shows the interfaces of the namespace it was mounted in.  Only these two folders differ.
_OWN_SYSFS = """
d=$(mktemp -d) || exit 0
mount -t sysfs nsconduct "$d" || { rmdir "$d"; exit 0; }
for folder in class/net devices/virtual/net; do mount --bind "$d/$folder" "/sys/$folder"; done
umount --lazy "$d"; rmdir "$d"
"""


class NamespaceTransport(Transport):
    def __init__(self, settings):
        super().__init__(settings)
        self.players = {}
        self._first = {}  # name of a namespace -> the player that made it

    def player(self, name, argument):
        shared = self._first.get(argument) if argument else None
        made = NamespacePlayer(name, self.settings.folder, shared)
        self._first.setdefault(argument or f"player {name}", made)
        self.players[name] = made
        return made

    def connect(self):
        connect(self.settings.network, self.players)


class NamespacePlayer(LocalPlayer):
    def __init__(self, name, folder, shared):
        super().__init__(name, folder)
        self._shared = shared
        self._namespace = None
        self._held = None  # keeps the namespace's number from being given to another

    def open(self):
        missing = [program for program in _REQUIRED if not shutil.which(program)]
        if missing:
            raise TransportError(
                f'program "{missing[0]}" is missing (install util-linux, iproute2)'
            )
        if os.geteuid() != 0:
            raise TransportError("network namespaces require root (run nsconduct as root)")
        super().open()
        place = f"/proc/{self.keeper.pid}/ns/net"
        self._held = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
        self._namespace = os.readlink(place)
        if not self._shared:
            self.command("/bin/sh", "-c", _OWN_SYSFS)
            self.command("ip", "link", "set", "lo", "up")

    def keeper_command(self):
        if self._shared:
            return enter(self._shared.keeper.pid)
        return ["unshare", "--net", "--mount", "--"]

    def words(self, command):
        """The mount namespace is entered at its root."""
        inside = 'cd "$1" && exec "$2" "$3" "$4"'
        return [*enter(self.keeper.pid), *SHELL, inside, "sh", self.folder, *SHELL, command]

    def command(self, *words):
        """Runs in the namespace, to prepare it -> what it printed; raises TransportError."""
        return processes.checked([*enter(self.keeper.pid), *words])

    def close(self):
        super().close()
        if self._namespace and not self._shared:
            processes.end_all(lambda: processes.in_namespace(self._namespace))
        if self._held is not None:
            os.close(self._held)
            self._held = None


def enter(pid):
    return ["nsenter", "--target", str(pid), "--net", "--mount", "--"]
