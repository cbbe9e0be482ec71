# SPDX-License-Identifier: MIT
# All collectors of a trial -> its "collected".  Why one has failed is in it, and
# nothing else changes.
import os

from .collector import CollectorError
from .registry import COLLECTORS


class CollectorGroup:
    """wanted: {player: names}; folder: of the trial's output, with a folder for each player."""

    def __init__(self, wanted, players, folder):
        self.collected = {player: {} for player, names in wanted.items() if names}
        self._made = [
            (player, name, COLLECTORS[name](players[player], os.path.join(folder, player)))
            for player, names in wanted.items()
            for name in names
        ]
        self._running = []

    def start(self):
        for player, name, collector in self._made:
            if self._tried(player, name, collector.start):
                self._running.append((player, name, collector))

    def prelude(self, player):
        """Shell text in front of each command that the player runs in the Run phase."""
        texts = [one.prelude() for whose, _, one in self._running if whose == player]
        return "".join(texts)

    def stop(self):
        """In the order in which stacked things are taken down."""
        for player, name, collector in reversed(self._running):
            self._tried(player, name, collector.stop)

    def finish(self):
        """Also of those that did not start: they may have left something on the player."""
        for player, name, collector in self._made:
            self._tried(player, name, collector.finish)

    def _tried(self, player, name, action):
        found = self.collected[player].setdefault(name, {})
        try:
            found.update(action() or {})
        except (CollectorError, OSError, ValueError) as error:
            found["unavailable"] = str(error)
        return "unavailable" not in found
