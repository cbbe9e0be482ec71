# SPDX-License-Identifier: MIT
# What every transport gives: players, whose steps run somewhere.
#
# A Player is used by one thread at a time, except for interrupt(), which any thread may call.
# Outputs are files of this host, whatever host the step runs on.
import abc
import dataclasses
import threading


@dataclasses.dataclass
class StepResult:
    exit_code: int | None  # minus the signal's number if a signal ended it; None: unknown
    timed_out: bool
    failure: str | None  # of the transport, not of the command: "player died", "cannot start"
    start_unix_ns: int
    duration_ns: int


@dataclasses.dataclass
class SpawnedEnd:
    """How a spawned process ended."""

    stdout_path: str  # as given to spawn(): identifies it
    exit_code: int | None
    ended_by_us: bool  # it still ran at end_spawned()
    duration_ns: int
    failure: str | None = None


class Player(abc.ABC):
    """Made by its Transport; ready for steps from __enter__ until __exit__."""

    def __init__(self, name):
        self.name = name
        self.interrupted = threading.Event()

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, *_):
        self.close()

    @abc.abstractmethod
    def open(self):
        """Connects to the player or makes it; raises TransportError."""

    @abc.abstractmethod
    def check(self, programs):
        """Those of these programs that the player does not have; raises TransportError."""

    @abc.abstractmethod
    def run(self, command, timeout_s, stdout_path, stderr_path) -> StepResult:
        """Runs a shell command in a process group of its own, until it ends, its time is over, or
        interrupt() is called.  Its whole group is ended then: SIGTERM, then SIGKILL.

        Does not raise: failures of the transport are in the result."""

    @abc.abstractmethod
    def spawn(self, command, stdout_path, stderr_path) -> StepResult:
        """Starts a shell command that runs until end_spawned().  Does not raise."""

    @abc.abstractmethod
    def end_spawned(self):
        """Ends all that were spawned -> list of SpawnedEnd.  Does not raise."""

    @abc.abstractmethod
    def alive(self):
        """True, or a text that says why not."""

    def interrupt(self):
        """Ends the running step early, and each later one, until resume()."""
        self.interrupted.set()

    def resume(self):
        """Steps run again: those of Reset after an interruption."""
        self.interrupted.clear()

    @abc.abstractmethod
    def close(self):
        """Removes what the transport made on the player, and ends processes that it still has; also
        if open() was not called or has failed.  Never raises."""


class Transport(abc.ABC):
    """Players of one kind.  settings: transports/settings.py."""

    def __init__(self, settings):
        self.settings = settings

    @abc.abstractmethod
    def player(self, name, argument) -> Player:
        """argument: of "namespace NAME" or "ssh HOST", or "".  Players are opened afterwards."""

    def connect(self):
        """Called when all players of all transports are open.  Raises TransportError."""
        return

    def close(self):
        """Called when all players are closed.  Never raises."""
        return
