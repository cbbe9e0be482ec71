# SPDX-License-Identifier: MIT
# Requests to the supervisor on a player: opens its folder there, connects again when the connection
# was lost, and says which case it is if it cannot.
import contextlib
import json
import pathlib
import shlex

from ...errors import EXIT_USAGE, TransportError
from . import lost, supervisor
from .lost import Lost, Refused
from .session import AnsibleSession

_LEASE_S = 30.0
_LEASE_PARTS = 3  # the conductor is heard at least this often while a lease lasts
_CONNECT_S = 10.0  # Ansible's own default
END_S = 3 * supervisor.GRACE_S  # of all steps
_SOURCE = pathlib.Path(supervisor.__file__)
_PYTHONS = "/usr/bin/python3 python3 /usr/local/bin/python3 /usr/libexec/platform-python"
# A folder for the user alone; the supervisor's program comes on stdin.
_OPEN = """umask 077
for python in {pythons}; do command -v "$python" >/dev/null && break; python=; done
[ "$python" ] || {{ echo "python3: not found on the player" >&2; exit 127; }}
folder={folder}
cat >"$folder/supervisor.py" && {run} {request}"""
# Imported, so that Python compiles it once, into the folder.
_RUN = "import sys; sys.path[:0] = sys.argv[1:2]; import supervisor; supervisor.main(sys.argv[2:])"
_NO_FOLDER = 9  # exit code
_NEW_FOLDER = '$(mktemp -d "${TMPDIR:-/tmp}/nsconduct.XXXXXX") || exit 1'


class Remote:
    """send() and is_back() are called by one thread at a time, break_off() by any."""

    def __init__(self, host, inventory):
        self._ansible = AnsibleSession(host, inventory)
        self._folder = None
        self.why = "not connected"  # None while the player answers
        self.lease_s = _LEASE_S
        self._has_abandoned = False
        self.sessions = 0  # folders on the player: a new one has none of the earlier steps

    def start(self):
        """Raises TransportError."""
        self._ansible.start()

    def connect(self):
        """Raises TransportError."""
        self._begin()
        try:
            self._join()
        except (Lost, Refused) as error:
            raise TransportError(lost.reason(str(error)), lost.exit_code(str(error))) from error

    @property
    def wait_s(self):
        """How long a request may wait for its step."""
        return self.lease_s / _LEASE_PARTS

    def send(self, verb, wait_s=0.0, **arguments):
        """-> the reply; raises Lost, with the case as its text."""
        try:
            return self._send(verb, wait_s, arguments)
        except Lost as error:
            self.why = lost.reason(str(error))
            raise Lost(self.why) from error

    def break_off(self):
        """Ends the running request; it raises Lost."""
        self._ansible.break_off()

    def is_back(self):
        """Whether the player answers on a new connection."""
        try:
            self._ansible.forget_connection()
            if not self._ansible.is_running():
                self._ansible.start()
                self._begin()
            self._join()
            return True
        except (Lost, Refused, TransportError) as error:
            self.why = lost.reason(str(error))
            return False

    def abandon_steps(self):
        """Those of a trial that ended while the player was unreachable end when it is back."""
        self._has_abandoned = True

    def close(self):
        """Never raises."""
        if self._folder and self.why is None:  # else the player's lease ends what runs there
            with contextlib.suppress(Lost, Refused):
                self.send("close", END_S)
        self._ansible.close()

    def _begin(self):
        self._ansible.wait_for_start()
        self.lease_s = self._number("nsconduct_lease_s", _LEASE_S, 0.5)
        self._connect_s = self._number("ansible_ssh_timeout", _CONNECT_S, 0.5)
        self._python = self._ansible.variables.get("ansible_python_interpreter", "auto")

    def _number(self, name, default, least):
        text = self._ansible.variables.get(name, default)
        with contextlib.suppress(ValueError):
            if float(text) >= least:
                return float(text)
        raise TransportError(
            f'inventory: {name}: invalid value "{text}" (at least {least:g} s)', EXIT_USAGE
        )

    def _join(self):
        """The folder on the player: the one that it had, or a new one."""
        reply = self._opened(self._folder) if self._folder else None
        if reply is None:  # the first one, or its lease has expired, or the host was started again
            self.sessions += 1
            reply = self._opened(None)
        self._folder, self._interpreter = reply["folder"], reply["python"]
        quoted = shlex.quote(f"{self._folder}/lease")
        renew = f"test -e {quoted} && touch {quoted}"
        self._ansible.keep_alive(renew, self._command("close"), self.wait_s)
        if self._has_abandoned:
            self._send("end", END_S, {})
            self._has_abandoned = False
        self.why = None

    def _opened(self, folder):
        request = json.dumps({"verb": "open", "lease_s": self.lease_s})
        earlier = f'{shlex.quote(folder or "")}; cd "$folder" || exit {_NO_FOLDER}'
        command = _OPEN.format(
            pythons=_PYTHONS if self._python.startswith("auto") else shlex.quote(self._python),
            folder=earlier if folder else _NEW_FOLDER,
            run=f'"$python" -I -S -c {shlex.quote(_RUN)} "$folder"',
            request=shlex.quote(request),
        )
        answer = self._ansible.request(command, _SOURCE.read_bytes(), self._connect_s + self.wait_s)
        if folder and answer["exit_code"] == _NO_FOLDER:
            return None
        return _reply(answer)

    def _command(self, verb=None):
        words = [self._interpreter, "-I", "-S", "-c", _RUN, self._folder]
        if verb:
            words.append(json.dumps({"verb": verb, "wait_s": END_S}))
        return shlex.join(words)

    def _send(self, verb, wait_s, arguments):
        request = {"verb": verb, "lease_s": self.lease_s, "wait_s": wait_s, **arguments}
        seconds = wait_s + self.wait_s + self._connect_s
        answer = self._ansible.request(self._command(), json.dumps(request).encode(), seconds)
        return _reply(answer)


def _reply(answer):
    for line in answer["out"].splitlines():
        if line.startswith(supervisor.MARK):
            reply = json.loads(line[len(supervisor.MARK) :])
            if "error" in reply:
                raise Refused(reply["error"])
            return reply
    said = answer["err"].strip().splitlines()
    raise Lost(said[-1] if said else f"exit code {answer['exit_code']} without a reply")
