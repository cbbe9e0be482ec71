# SPDX-License-Identifier: MIT
# A player whose steps run on another host, each under a supervisor there.
import base64
import concurrent.futures
import time

from ...errors import TransportError
from .. import transport
from ..transport import SpawnedEnd, StepResult
from . import supervisor
from .lost import Lost, Refused
from .remote import END_S, Remote

_ATTEMPTS = 5


class SshTransport(transport.Transport):
    def __init__(self, settings):
        super().__init__(settings)
        self._players = []

    def player(self, name, argument):
        made = SshPlayer(name, argument, self.settings.inventory)
        self._players.append(made)
        return made

    def connect(self):
        with concurrent.futures.ThreadPoolExecutor(max_workers=len(self._players)) as pool:
            connecting = [pool.submit(player.connect) for player in self._players]
            try:
                for done in connecting:
                    done.result()
            except BaseException:
                for player in self._players:
                    player.interrupt()
                raise


class SshPlayer(transport.Player):
    """open() starts Ansible, connect() waits for it: all players connect at the same time."""

    def __init__(self, name, host, inventory):
        super().__init__(name)
        self._remote = Remote(host, inventory)
        self._count = 0
        self._spawned = []  # step, output paths, session
        self._over = []  # steps whose folders are no longer required

    def open(self):
        self._remote.start()

    def connect(self):
        try:
            self._remote.connect()
        except TransportError as error:
            raise TransportError(f"player {self.name}: {error}", error.code) from error

    def check(self, programs):
        try:
            return self._remote.send("check", programs=list(programs))["missing"]
        except (Lost, Refused) as error:
            raise TransportError(str(error)) from error

    def run(self, command, timeout_s, stdout_path, stderr_path):
        paths = stdout_path, stderr_path
        return self._step(command, paths, lambda step: self._finished(step, command, timeout_s))

    def spawn(self, command, stdout_path, stderr_path):
        paths = stdout_path, stderr_path

        def started(step):
            self._spawned.append((step, paths, self._remote.sessions))
            self._start(step, command, None, 0)

        return self._step(command, paths, started)

    def end_spawned(self):
        spawned, self._spawned = self._spawned, []
        known = [one for one in spawned if one[2] == self._remote.sessions]
        replies, failure = {}, self._remote.why
        if failure:
            self._remote.abandon_steps()
        else:
            try:
                steps = [step for step, _, _ in known]
                ended = self._remote.send("end", wait_s=END_S, steps=steps)["ended"]
                replies = dict(zip(steps, ended))
            except (Lost, Refused) as error:
                failure = str(error)
        return [self._spawned_end(step, paths, replies, failure) for step, paths, _ in spawned]

    def alive(self):
        why = self._unreachable()
        if why:
            return why
        try:
            self._remote.send("alive")
        except Lost:
            return True if self._remote.is_back() else self._remote.why
        except Refused as error:
            return str(error)
        return True

    def interrupt(self):
        super().interrupt()
        self._remote.break_off()

    def close(self):
        self._remote.close()

    def _unreachable(self):
        """None, or why the player does not answer, after an attempt to connect again."""
        return None if self._remote.why is None or self._remote.is_back() else self._remote.why

    def _step(self, command, paths, work):
        """work: called with the step's name -> the reply with its result, or None."""
        begin = time.time_ns(), time.monotonic_ns()
        failure = "interrupted" if self.interrupted.is_set() else self._unreachable()
        reply = None
        if not failure:
            self._count += 1
            step = f"{supervisor.STEP}{self._count}"
            try:
                reply = work(step)
                if reply:
                    self._write_outputs(step, paths, reply["output"])
                    self._over.append(step)
            except (Lost, Refused) as error:
                failure = str(error)
            if self.interrupted.is_set():
                failure = "interrupted"
        return _result(begin, reply, failure)

    def _start(self, step, command, timeout_s, wait_s):
        over, self._over = self._over, []
        return self._answered(
            "start", wait_s, step=step, command=command, timeout_s=timeout_s, discard=over
        )

    def _finished(self, step, command, timeout_s):
        """The reply of a step that has ended, perhaps by interrupt()."""
        reply = self._start(step, command, timeout_s, self._remote.wait_s)
        while reply["is_running"]:
            if self.interrupted.is_set():
                return self._answered("end", END_S, steps=[step])["ended"][0]
            reply = self._answered("wait", self._remote.wait_s, step=step)
        return reply

    def _answered(self, verb, wait_s, **arguments):
        """The reply to a request that may be repeated: a connection that was lost and is back
        again does not end a step."""
        session = self._remote.sessions
        for _ in range(_ATTEMPTS):
            try:
                return self._remote.send(verb, wait_s, **arguments)
            except Lost:
                self._require_back(session)
            if self.interrupted.is_set() and verb != "end":
                wait_s = 0
        raise Lost(f"player hangs (no answer to {_ATTEMPTS} requests)")

    def _require_back(self, session):
        if not self._remote.is_back():
            raise Lost(self._remote.why)
        if self._remote.sessions != session:
            raise Lost("player died (it has lost its processes; it was started again, or cut off)")

    def _write_outputs(self, step, paths, output):
        for stream, path in zip(("out", "err"), paths):
            try:
                with open(path, "wb", buffering=0) as file:
                    self._copy(file, step, stream, output[stream])
            except OSError as error:
                raise Refused(f"{path}: cannot write: {error.strerror}") from error

    def _copy(self, file, step, stream, part):
        written = 0
        while part["data"]:
            data = base64.b64decode(part["data"])
            _write_all(file, data)
            written += len(data)
            if written >= part["bytes"]:
                break
            part = self._remote.send("read", step=step, stream=stream, offset=written)

    def _spawned_end(self, step, paths, replies, failure):
        reply = replies.get(step)
        if reply is None or reply["is_running"]:
            failure = failure or "player died: its processes are gone"
            return SpawnedEnd(paths[0], None, False, 0, failure)
        result = reply["result"]
        try:
            self._write_outputs(step, paths, reply["output"])
            self._over.append(step)
        except (Lost, Refused) as error:
            failure = str(error)
        return SpawnedEnd(
            paths[0],
            result["exit_code"],
            result["ended_by_us"],
            result["duration_ns"] or 0,
            failure or result["failure"],
        )


def _write_all(file, data):
    while data:
        data = data[file.write(data) :]


def _result(begin, reply, failure):
    result = reply["result"] if reply else {**supervisor.UNKNOWN, "failure": None}
    return StepResult(
        exit_code=result["exit_code"],
        timed_out=result["timed_out"],
        failure=failure or result["failure"],
        start_unix_ns=result["start_unix_ns"] or begin[0],
        duration_ns=result["duration_ns"] or time.monotonic_ns() - begin[1],
    )
