# SPDX-License-Identifier: MIT
# What every collector gives: figures of a player beside the output of its steps.
#
# The engine calls start() on all players between Startup and Run, stop() between Run and Collect,
# whatever failed, and finish() when the processes of the trial have ended.  A collector runs its
# programs through the player, so that it works with every transport.
import abc


class Collector(abc.ABC):
    NAME = ""
    PROGRAMS = ()  # required on the player; checked before the first trial

    def __init__(self, player, folder):
        """player: transports.transport.Player; folder: of this host, for the collector's files."""
        self.player = player
        self.folder = folder

    @abc.abstractmethod
    def start(self):
        """Begins to measure.  Raises CollectorError with the reason if it cannot."""

    @abc.abstractmethod
    def stop(self) -> dict:
        """Ends -> figures, with the collector's own cost under "cost".  Raises CollectorError."""

    def prelude(self):
        """Shell text in front of each command of the Run phase, after start(): its environment."""
        return ""

    def finish(self):
        """What is known only now -> figures in addition to those of stop().  Also called if stop()
        failed.  Raises CollectorError."""
        return {}


class CollectorError(Exception):
    """The trial's "collected" gets {"unavailable": reason}; the trial continues."""
