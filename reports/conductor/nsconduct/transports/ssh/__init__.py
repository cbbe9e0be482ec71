# SPDX-License-Identifier: MIT
# Players on other hosts: Ansible connects to them, with the user's keys and inventory.
from .player import SshTransport

__all__ = ["SshTransport"]
