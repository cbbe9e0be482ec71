# SPDX-License-Identifier: MIT
# Where a player's steps run: on this host, in a network namespace, on another host.
