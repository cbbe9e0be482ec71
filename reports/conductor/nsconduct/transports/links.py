# SPDX-License-Identifier: MIT
# [Network] of the master file -> veth pairs, addresses and routes of players' namespaces.
import ipaddress
import time

from ..errors import TransportError

_UP_S = 5


def connect(network, players):
    """players: name -> NamespacePlayer."""
    for link in network.links:
        _link(link, players)
    _wait_until_up(network, players)
    for name in network.forwarding:
        _set(players[name], "net/ipv4/ip_forward", 1)
        _set(players[name], "net/ipv6/conf/all/forwarding", 1)
    for name, words in network.routes:
        try:
            players[name].command("ip", "route", "add", *words)
        except TransportError as error:
            raise TransportError(f"route of {name}: {error}") from error


def _link(link, players):
    (one, interface, _), (other, peer, _) = link.ends
    try:
        players[one].command(
            *("ip", "link", "add", interface, "type", "veth"),
            *("peer", "name", peer, "netns", str(players[other].keeper.pid)),
        )
        for name, end, address in link.ends:
            _bring_up(players[name], end, address, link.mtu)
    except TransportError as error:
        raise TransportError(f"link {one} {interface} -- {other} {peer}: {error}") from error


def _bring_up(player, interface, address, mtu):
    if address and ipaddress.ip_interface(address).version == 6:
        # Without detection of duplicates, which would delay the address.
        player.command("ip", "address", "add", address, "dev", interface, "nodad")
    else:
        # No router solicitations and multicast reports among the packets that are measured.
        _set(player, f"net/ipv6/conf/{interface}/disable_ipv6", 1)
        if address:
            player.command("ip", "address", "add", address, "dev", interface)
    if mtu:
        player.command("ip", "link", "set", interface, "mtu", str(mtu))
    player.command("ip", "link", "set", interface, "up")


def _wait_until_up(network, players):
    """An interface is up a while after its peer is."""
    end_s = time.monotonic() + _UP_S
    waiting = [(player, interface) for link in network.links for player, interface, _ in link.ends]
    while waiting:
        player, interface = waiting[0]
        if "state UP" in players[player].command("ip", "-oneline", "link", "show", interface):
            waiting.pop(0)
        elif time.monotonic() > end_s:
            raise TransportError(f"interface {interface} of {player} does not come up")
        else:
            time.sleep(0.02)


def _set(player, name, value):
    """A kernel without IPv6 lacks its settings."""
    script = 'test ! -e "$1" || echo "$2" > "$1"'
    player.command("/bin/sh", "-c", script, "sh", f"/proc/sys/{name}", str(value))
