# SPDX-License-Identifier: MIT
# What transports need to know of the experiment.
import dataclasses

from ..config.experiment import Network


@dataclasses.dataclass(frozen=True)
class Settings:
    folder: str  # of the master file; local steps run in it
    network: Network
    inventory: str | None = None  # file of --inventory, for ssh
