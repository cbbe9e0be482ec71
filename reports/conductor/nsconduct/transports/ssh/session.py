# SPDX-License-Identifier: MIT
# One ansible-playbook for each player: it connects with Ansible's inventory and runs what it is
# sent (action_plugins/nsconduct_session.py), so that a step does not cost a start of Ansible.
import base64
import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from ...errors import EXIT_USAGE, TransportError
from .. import processes
from .lost import Lost

_PROGRAM = "ansible-playbook"
_PLAY = pathlib.Path(__file__).parent / "play.yml"
_START_S = 60  # until Ansible has read inventory and play, on a slow machine
_END_S = 5
_MALFORMED = re.compile(r"Failed\s+to\s+parse\s.*?\splugin:\s+(.*?)\n\[WARNING\]", re.DOTALL)
_ENVIRONMENT = {
    "ANSIBLE_NOCOLOR": "1",
    "ANSIBLE_STDOUT_CALLBACK": "default",
    "ANSIBLE_RETRY_FILES_ENABLED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class AnsibleSession:
    """request() is called by one thread at a time, break_off() by any."""

    def __init__(self, host, inventory):
        self.host, self.inventory = host, inventory
        self.variables = {}
        self._process, self._socket = None, None
        self._buffered = b""
        self._mark = processes.new_mark()
        self._folder = tempfile.mkdtemp(prefix="nsc-")  # short: a socket's path has 107 bytes

    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def start(self):
        """Raises TransportError."""
        if self.inventory and "," not in self.inventory and not os.path.exists(self.inventory):
            raise TransportError(f"{self.inventory}: cannot open: No such file", EXIT_USAGE)
        if self._process:  # it has ended, perhaps without its children
            self._kill()
        self._close_socket()
        ours, theirs = socket.socketpair()
        arguments = {"nsconduct_host": self.host, "nsconduct_descriptor": theirs.fileno()}
        command = [_PROGRAM, "-i", self.inventory or f"{self.host},", "-e", json.dumps(arguments)]
        try:
            with theirs, open(self._log(), "wb") as log:
                self._process = subprocess.Popen(
                    [*command, str(_PLAY)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    env=os.environ
                    | _ENVIRONMENT
                    | {"ANSIBLE_SSH_CONTROL_PATH_DIR": self._folder, processes.MARK: self._mark},
                )
        except FileNotFoundError as error:
            ours.close()
            raise TransportError(f"{_PROGRAM}: not installed (install ansible-core)") from error
        self._socket, self._buffered = ours, b""

    def wait_for_start(self):
        """Raises TransportError."""
        try:
            self.variables = self._received(_START_S)["variables"]
        except Lost as error:
            raise self._did_not_start() from error
        self._said()  # Ansible uses what it could read of a malformed inventory

    def request(self, command, data, seconds):
        """Runs a command on the host, with data on its stdin -> exit_code, out, err.  Raises Lost
        if there is no answer in time: the connection is given up then."""
        self._send({"command": command, "input": base64.b64encode(data).decode()})
        try:
            answer = self._received(seconds)
        except Lost:
            self.forget_connection()
            if not self._has_answered_late():
                self._kill()
            raise
        if "unreachable" in answer:
            raise Lost(answer["unreachable"])
        return answer

    def keep_alive(self, command, last, every_s):
        """command: run whenever there was no request for that time; last: when this process ends"""
        self._send({"idle": {"command": command, "every_s": every_s}, "last": last})

    def break_off(self):
        """Ends the running request."""
        _kill_all(pid for pid, words in self._ssh() if "[mux]" not in words)

    def forget_connection(self):
        """The next request connects again, as the present connection no longer answers."""
        _kill_all(pid for pid, _ in self._ssh())

    def close(self):
        """Never raises."""
        if self._socket:
            with contextlib.suppress(Lost):
                self.keep_alive("", "", None)
        self._close_socket()
        if self._process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
            self._kill()
        self.forget_connection()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _close_socket(self):
        if self._socket:
            self._socket.close()

    def _log(self):
        return os.path.join(self._folder, "log")

    def _kill(self):
        processes.end_marked(self._mark)
        self._process.wait()

    def _ssh(self):
        """Our ssh processes: the folder of the connection's socket is in their command lines."""
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                words = pathlib.Path("/proc", name, "cmdline").read_bytes().decode(errors="replace")
                if self._folder in words:
                    yield int(name), words

    def _send(self, what):
        try:
            self._socket.sendall(json.dumps(what).encode() + b"\n")
        except OSError as error:
            raise Lost("Ansible has ended") from error

    def _received(self, seconds):
        end_s = time.monotonic() + seconds
        while b"\n" not in self._buffered:
            left_s = end_s - time.monotonic()
            if left_s <= 0 or not select.select([self._socket], [], [], left_s)[0]:
                raise Lost(f"no answer for {seconds:g} s")
            try:
                data = self._socket.recv(1 << 16)
            except OSError:
                data = b""
            if not data:
                raise Lost("Ansible has ended")
            self._buffered += data
        line, _, self._buffered = self._buffered.partition(b"\n")
        return json.loads(line)

    def _has_answered_late(self):
        """The request that was broken off is answered, too: with that it failed."""
        with contextlib.suppress(Lost):
            self._received(_END_S)
            return True
        return False

    def _said(self):
        """What Ansible has printed; raises TransportError if it could not read the inventory."""
        said = pathlib.Path(self._log()).read_text(errors="replace")
        malformed = _MALFORMED.search(said)
        if malformed:
            words = malformed[1].replace("-\n", "-").split()  # Ansible breaks lines at hyphens
            raise TransportError(" ".join(words), EXIT_USAGE)
        return said

    def _did_not_start(self):
        self._kill()
        said = self._said()
        if "no hosts matched" in said or "Could not match supplied host" in said:
            return TransportError(
                f'"{self.host}" is not in the inventory {self.inventory}', EXIT_USAGE
            )
        if "several hosts" in said:
            return TransportError(f'"{self.host}" is a group of several hosts', EXIT_USAGE)
        lines = re.findall(r"(?m)^(?:ERROR!|fatal:).*|\"msg\": \"(.*)\"", said) or said.splitlines()
        return TransportError(f"{_PROGRAM}: {lines[-1] if lines else 'ended without a message'}")


def _kill_all(found):
    for process in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)
