# SPDX-License-Identifier: MIT
"""A private mapid for a test, and its clients, each a process; run as a program, this file is such
a client."""

import contextlib
import ctypes
import json
import os
import pathlib
import pwd
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

from mapi_sanitizer import BUILD, SANITIZER

DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]).parent / "shared/data"
)
PATIENCE_S = 60
FLOW_GONE = 5123


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ClientError(Exception):
    """The error message of a client."""


class Client:
    """A process with libmapi: do() runs statements in it, get() returns the value of an
    expression."""

    def __init__(self, socket_path, user=None, groups=(), **environment):
        command = [sys.executable, "-B", __file__]
        if user:
            entry = pwd.getpwnam(user)
            command = [
                "setpriv",
                f"--reuid={entry.pw_uid}",
                f"--regid={entry.pw_gid}",
                f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups",
                *command,
            ]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ
            | {
                "MAPI_SOCKET": str(socket_path),
                "LD_PRELOAD": SANITIZER,
                "ASAN_OPTIONS": "detect_leaks=0",
            }
            | environment,
        )

    def begin(self, text, kind="do"):
        """Returns immediately: for tests that kill the client while it is busy."""
        self.process.stdin.write(json.dumps([kind, text]) + "\n")
        self.process.stdin.flush()

    def _ask(self, kind, text):
        self.begin(text, kind)
        if not select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
            raise AssertionError(f"the client hangs in: {text}")
        line = self.process.stdout.readline()
        assert line, f"the client has died in: {text}"
        is_good, value = json.loads(line)
        if not is_good:
            raise ClientError(value)
        return value

    def do(self, text):
        self._ask("do", text)

    def get(self, text):
        return self._ask("get", text)

    def kill(self):
        self.process.kill()
        self.close()

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()


class Daemon:
    """mapid in its own folder."""

    def __init__(self, config="", *options, **environment):
        self.temporary = tempfile.TemporaryDirectory(prefix="mapid")
        self.folder = pathlib.Path(self.temporary.name)
        self.folder.chmod(0o755)
        self.socket = self.folder / "mapid.sock"
        self.config = self.folder / "mapi.conf"
        self.config.write_text(config)
        self.log_path = self.folder / "log"
        self.options = options
        self.environment = environment
        self.clients = []
        self.process = None
        self.start()

    @staticmethod
    def program():
        return str(BUILD / "bin/mapid")

    def command(self, *options):
        return [
            self.program(),
            "--socket",
            str(self.socket),
            "--config",
            str(self.config),
            *([] if "--log-level" in options else ["--log-level", "debug"]),
            *options,
        ]

    def start(self):
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready,
            open(self.log_path, "a") as log,
        ):
            path = self.folder / "ready"
            path.unlink(missing_ok=True)
            ready.bind(str(path))
            ready.settimeout(0.1)
            self.process = subprocess.Popen(
                self.command(*self.options),
                stderr=log,
                stdout=log,
                env=os.environ | {"NOTIFY_SOCKET": str(path)} | self.environment,
            )
            assert (
                wait_until(lambda: self.is_ready(ready) or self.process.poll() is not None)
                and self.process.poll() is None
            ), self.log()

    def is_ready(self, notified):
        """Whether all threads and descriptors exist that mapid has without clients, and no others:
        its socket exists earlier, and it closes the one to its service manager later."""
        with contextlib.suppress(TimeoutError):
            return b"READY=1" in notified.recv(4096) and wait_until(self.is_idle)
        return False

    def is_idle(self):
        """Whether its main thread sleeps: it waits for clients."""
        pid = self.process.pid
        stat = pathlib.Path(f"/proc/{pid}/task/{pid}/stat").read_text()
        return stat.rsplit(")", 1)[1].split()[0] == "S"

    def answers(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def log(self):
        return self.log_path.read_text()

    def client(self, **how):
        client = Client(self.socket, **how)
        self.clients.append(client)
        return client

    def alone(self, **how):
        """A client with an engine in its process."""
        client = Client("none", MAPI_CONF=str(self.config), **how)
        self.clients.append(client)
        return client

    def memories(self):
        """How many clients have memory."""
        return (
            pathlib.Path(f"/proc/{self.process.pid}/maps").read_text().count("/memfd:mapi-results")
        )

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def priorities(self):
        """The nice value of each thread; proc(5): the 19th word, the second may contain blanks."""
        found = []
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(OSError):  # the thread has ended
                found.append(
                    int(
                        pathlib.Path(f"/proc/{self.process.pid}/task/{thread}/stat")
                        .read_text()
                        .rsplit(")", 1)[1]
                        .split()[16]
                    )
                )
        return found

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)

    def close(self):
        """Its exit code, which is not 0 if a sanitizer found something."""
        for client in self.clients:
            if not client.process.stdout.closed:
                client.kill()
        code = self.terminate() if self.process.poll() is None else self.process.returncode
        log = self.log()
        self.temporary.cleanup()
        assert code == 0, f"mapid ended with {code}\n{log}"


def serve():
    from mapi_library import Flow, function_names, stats_of  # pylint: disable=import-outside-toplevel

    names = {
        "Flow": Flow,
        "function_names": function_names,
        "stats_of": stats_of,
        "ctypes": ctypes,
        "os": os,
        "struct": struct,
        "time": time,
        "signal": signal,
    }
    for line in sys.stdin:
        kind, text = json.loads(line)
        try:
            answer = [True, eval(text, names) if kind == "get" else exec(text, names)]  # pylint: disable=eval-used,exec-used
        except AssertionError as error:
            answer = [False, str(error)]
        except Exception:  # pylint: disable=broad-except
            answer = [False, traceback.format_exc()]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
