# SPDX-License-Identifier: MIT
# Runs on a player, started by Ansible: a request as JSON on stdin -> a reply as JSON on stdout.
# Each step has a supervisor of its own, which no connection ends: it ends the step's processes when
# the step is over, too slow, or when the conductor has not been heard for the time of the lease.
# Python 3.7 and its standard library only: a player may be older than the conductor.
# What only some requests need is imported there: loading it takes longer than most requests.
import binascii
import errno
import fcntl
import json
import os
import signal
import sys
import time

MARK = "nsconduct-reply "  # a player's login shell may print before it
FOLDER = os.path.dirname(os.path.abspath(__file__))
STEP = "step"  # begin of the steps' folders
LEASE = os.path.join(FOLDER, "lease")
GRACE_S = 2.0  # from SIGTERM to SIGKILL
_CHUNK_BYTES = 4 << 20
_SUBREAPER, _PARENT_DEATH = 36, 1  # PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG
UNKNOWN = {
    "exit_code": None,
    "timed_out": False,
    "ended_by_us": False,
    "start_unix_ns": None,
    "duration_ns": 0,
}
_LOOKS = 3  # of a supervisor at the lease, while it lasts


def _prctl(option, value):
    """Linux only; elsewhere the process group alone is ended."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class Lease:
    """Renewed by a change of the file's time, whatever the clocks show."""

    def __init__(self, seconds):
        self.seconds = seconds
        self._seen, self._since = None, time.monotonic()

    def has_expired(self):
        try:
            changed = os.stat(LEASE).st_mtime_ns
        except OSError:
            return True
        now = time.monotonic()
        if changed != self._seen:
            self._seen, self._since = changed, now
        return now - self._since > self.seconds


def descendants(top):
    """Processes below one, by /proc; nothing where there is none."""
    children = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(name))
    found, left = [], [top]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def _send(group, number):
    for process in descendants(os.getpid()):
        try:
            os.kill(process, number)
        except OSError:
            pass
    try:
        os.killpg(group, number)
    except OSError:
        pass


def terminated(signals, seconds):
    """Waits for one of them -> whether it was SIGTERM."""
    got = signal.sigtimedwait(signals, seconds)
    # A process that was stopped until after the time gets no signal here, but not None either.
    return got is not None and got.si_signo == signal.SIGTERM


class Step:
    """A command as a session of its own, in its folder: out, err, result.json; files that are
    locked, by a process that may be killed: running (until the command has ended) and supervisor
    (until the last process has)."""

    def __init__(self, folder, command, timeout_s, lease):
        self.folder, self.command, self.timeout_s, self.lease = folder, command, timeout_s, lease
        self.signals = {signal.SIGCHLD, signal.SIGTERM}
        self.mask = signal.pthread_sigmask(signal.SIG_BLOCK, self.signals)
        self.status, self.duration_ns = None, None
        self.is_timed_out, self.is_ended_by_us, self.failure = False, False, None

    def start(self):
        import subprocess

        _prctl(_SUBREAPER, 1)
        home = os.path.expanduser("~")

        def in_child():
            signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)
            _prctl(_PARENT_DEATH, signal.SIGKILL)

        with open(os.path.join(self.folder, "out"), "wb") as out:
            with open(os.path.join(self.folder, "err"), "wb") as err:
                self.start_unix_ns, self.start_s = time.time_ns(), time.monotonic()
                self.process = subprocess.Popen(
                    ["/bin/sh", "-c", self.command],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    cwd=home if os.path.isdir(home) else "/",
                    start_new_session=True,
                    preexec_fn=in_child,
                )

    def wait(self):
        """Until the command has ended, was too slow, or is no longer wanted."""
        end = self.start_s + self.timeout_s if self.timeout_s else float("inf")
        while not self._reap():
            if self._is_unwanted(end - time.monotonic()):
                return self.end()
            if time.monotonic() >= end and not self._reap():
                self.is_timed_out = True
                return self.end()

    def wait_for_rest(self):
        """Processes that the command left running are ended with the trial."""
        while self._has_processes() and not self._is_unwanted(float("inf")):
            pass
        self.end()

    def _is_unwanted(self, seconds):
        """After a signal, or the time: whether SIGTERM or the end of the lease is the reason."""
        left = max(0.0, min(self.lease.seconds / _LOOKS, seconds))
        if terminated(self.signals, left):
            self.is_ended_by_us = True
        elif self.lease.has_expired():
            self.failure = f"the conductor was not heard for {self.lease.seconds:g} s"
        return self.is_ended_by_us or self.failure is not None

    def _reap(self):
        """Whether the command has ended."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return self.status is not None
            if process == 0:
                return self.status is not None
            if process == self.process.pid:
                self.status = status
                self.duration_ns = int((time.monotonic() - self.start_s) * 1e9)

    def _has_processes(self):
        self._reap()
        if sys.platform.startswith("linux"):
            return bool(descendants(os.getpid()))
        try:
            os.killpg(self.process.pid, 0)
        except OSError as error:
            return error.errno == errno.EPERM
        return True

    def end(self):
        if self._has_processes():
            _send(self.process.pid, signal.SIGTERM)
            _send(self.process.pid, signal.SIGCONT)
        end = time.monotonic() + GRACE_S
        while self._has_processes():
            if time.monotonic() >= end:
                _send(self.process.pid, signal.SIGKILL)
            signal.sigtimedwait({signal.SIGCHLD}, 0.05)

    def result(self):
        status = self.status
        return {
            "exit_code": None
            if status is None
            else -os.WTERMSIG(status)
            if os.WIFSIGNALED(status)
            else os.WEXITSTATUS(status),
            "timed_out": self.is_timed_out,
            "ended_by_us": self.is_ended_by_us,
            "failure": self.failure,
            "start_unix_ns": self.start_unix_ns,
            "duration_ns": self.duration_ns,
        }


def write_json(path, what):
    with open(path + ".new", "w") as file:
        json.dump(what, file)
    os.rename(path + ".new", path)


def detached():
    """True in a process of its own session, without the connection's files; its parent returns."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return True


def locked(path):
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def time_is_over(*_):
    raise TimeoutError


def wait_for_end(path, seconds):
    """Whether the process that holds the file's lock has ended."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return True
    signal.signal(signal.SIGALRM, time_is_over)
    try:
        try:
            if seconds > 0:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                fcntl.flock(descriptor, fcntl.LOCK_SH)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TimeoutError:
        pass
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


def keep(lease):
    """The keeper: removes the folder when the lease has expired; supervisors end by themselves."""
    while not lease.has_expired():
        if terminated({signal.SIGTERM}, lease.seconds / _LOOKS):
            return
    for step in steps():
        wait_for_end(os.path.join(FOLDER, step, "supervisor"), lease.seconds + 10 * GRACE_S)
    remove(FOLDER)


def steps():
    try:
        return [name for name in os.listdir(FOLDER) if name.startswith(STEP)]
    except OSError:
        return []


def touch():
    with open(LEASE, "a"):
        os.utime(LEASE)


def open_session(request):
    """The folder's keeper is started unless it runs: its player's processes may have been killed"""
    touch()
    path = os.path.join(FOLDER, "keeper")
    if wait_for_end(path, 0):
        holding = locked(path)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        if detached():
            write_pid(holding)
            keep(Lease(request["lease_s"]))
            os._exit(0)
    return {"folder": FOLDER, "python": sys.executable}


def write_pid(descriptor):
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())


def start(request):
    """Once, also if the conductor repeats the request because its connection was lost."""
    discard(request.get("discard", ()))
    folder = os.path.join(FOLDER, request["step"])
    holding = claimed(folder)
    if not holding:
        return wait(request)
    reading, writing = os.pipe()
    if not detached():
        for descriptor in [*holding, writing]:
            os.close(descriptor)
        os.read(reading, 1)  # until the command runs
        return wait(request)
    try:
        supervise(request, folder, holding, writing)
    finally:
        os._exit(0)


def claimed(folder):
    """Creates a step's folder, with both locks held; nothing if it exists."""
    new = os.path.join(FOLDER, f"new.{os.getpid()}")
    os.mkdir(new, 0o700)
    holding = [locked(os.path.join(new, name)) for name in ("running", "supervisor")]
    try:
        os.rename(new, folder)
        return holding
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
        remove(new)
        return []


def supervise(request, folder, holding, started):
    running, supervisor = holding
    path = os.path.join(folder, "result.json")
    try:
        step = Step(folder, request["command"], request["timeout_s"], Lease(request["lease_s"]))
        write_pid(supervisor)
        step.start()
        os.close(started)
        step.wait()
    except Exception as error:  # whatever it is, the conductor reports it
        write_json(path, dict(UNKNOWN, failure=f"cannot start: {error}"))
        return
    write_json(path, step.result())
    os.close(running)
    step.wait_for_rest()


def wait(request):
    """The result when the command has ended within the time, with its first output."""
    folder = os.path.join(FOLDER, request["step"])
    if not wait_for_end(os.path.join(folder, "running"), request["wait_s"]):
        return {"is_running": True}
    try:
        with open(os.path.join(folder, "result.json")) as file:
            result = json.load(file)
    except (OSError, ValueError):
        result = dict(UNKNOWN, failure="player died, or its disk is full: no result")
    output = {name: read(dict(request, stream=name, offset=0)) for name in ("out", "err")}
    return {"is_running": False, "result": result, "output": output}


def read(request):
    path = os.path.join(FOLDER, request["step"], request["stream"])
    try:
        with open(path, "rb") as file:
            file.seek(request["offset"])
            data = file.read(_CHUNK_BYTES)
            size = os.fstat(file.fileno()).st_size
    except OSError:
        data, size = b"", 0
    return {"data": binascii.b2a_base64(data, newline=False).decode(), "bytes": size}


def end(request):
    """Ends all steps; those that are asked for have their results afterwards."""
    for step in steps():
        kill(os.path.join(FOLDER, step, "supervisor"))
    last = time.monotonic() + request["wait_s"]
    for step in steps():
        wait_for_end(os.path.join(FOLDER, step, "supervisor"), last - time.monotonic())
    wanted = request.get("steps", ())
    return {"ended": [wait(dict(request, step=step, wait_s=0)) for step in wanted]}


def kill(path):
    """SIGTERM to the process that holds a lock; none that got its number later."""
    if wait_for_end(path, 0):
        return
    with open(path) as file:
        text = file.read()
    if text:
        os.kill(int(text), signal.SIGTERM)


def discard(names):
    for name in names:
        if wait_for_end(os.path.join(FOLDER, name, "supervisor"), 0):
            remove(os.path.join(FOLDER, name))


def remove(folder):
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def check(request):
    import shutil

    return {"missing": [name for name in request["programs"] if not shutil.which(name)]}


def alive(request):
    return {}


def close_session(request):
    end(request)
    kill(os.path.join(FOLDER, "keeper"))
    remove(FOLDER)
    return {}


VERBS = {
    "open": open_session,
    "start": start,
    "wait": wait,
    "read": read,
    "end": end,
    "check": check,
    "alive": alive,
    "close": close_session,
}


def main(arguments):
    request = json.loads(arguments[0] if arguments else sys.stdin.read())
    if request["verb"] != "open":
        os.utime(LEASE)
    try:
        reply = VERBS[request["verb"]](request)
    except OSError as error:
        reply = {"error": str(error)}
    sys.stdout.write("\n" + MARK + json.dumps(reply) + "\n")
