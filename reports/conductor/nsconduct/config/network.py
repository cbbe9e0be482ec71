# SPDX-License-Identifier: MIT
# [Network] of a master file -> links, routes and forwarding between players' namespaces.
#
#   link: source eth0 10.1.0.1/24 router left 10.1.0.2/24 [mtu 9000]
#         an interface without an address has -
#   route: source default via 10.1.0.2
#   forward: router
import ipaddress
import re

from . import ini
from .experiment import Link, Network

KEYS = ("link", "route", "forward")
_INTERFACE = re.compile(r"[\w.-]{1,15}")
_LINK_FORM = "PLAYER INTERFACE ADDRESS/BITS PLAYER INTERFACE ADDRESS/BITS [mtu N]"


def may_repeat(key):
    return kind(key) is not None


def kind(key):
    """link, link1, link2 ... -> link"""
    return next((name for name in KEYS if re.fullmatch(rf"{name}[0-9]*", key)), None)


def read(file, transports):
    """transports: player -> (kind, argument)."""
    links, routes, forwarding = [], [], []
    section = file.section("Network")
    for entry in section.entries if section else ():
        words = entry.value.split()
        of_kind = kind(entry.key)
        if of_kind == "link":
            links.extend(_link(file, entry, words, transports))
        elif of_kind == "route":
            routes.extend(_route(file, entry, words, transports))
        elif of_kind == "forward":
            forwarding.extend(w for w in words if _is_player(file, entry, w, transports))
        else:
            file.problems.error(
                file.path, entry.line, f'"{entry.name}" is unknown in [Network] ({", ".join(KEYS)})'
            )
    _check_interfaces(file, section, links)
    return Network(links, routes, forwarding)


def _is_player(file, entry, name, transports):
    if name.lower() not in transports:
        file.problems.error(file.path, entry.line, f'{entry.name}: no player "{name}"')
        return False
    if transports[name.lower()][0] != "namespace":
        file.problems.error(
            file.path,
            entry.line,
            f'{entry.name}: player "{name}" has no namespace of its own ([Transport] {name}: '
            "namespace)",
        )
        return False
    return True


def _link(file, entry, words, transports):
    mtu = ini.whole(words[7], 1, 2**31 - 1) if len(words) == 8 and words[6] == "mtu" else None
    if len(words) != 6 and mtu is None:
        file.problems.error(file.path, entry.line, f"{entry.name}: required: {_LINK_FORM}")
        return
    ends = []
    for player, interface, address in (words[:3], words[3:6]):
        if not _is_player(file, entry, player, transports):
            return
        if not _INTERFACE.fullmatch(interface):
            file.problems.error(
                file.path, entry.line, f'{entry.name}: "{interface}" is no name of an interface'
            )
            return
        if not _is_address(address):
            file.problems.error(
                file.path,
                entry.line,
                f'{entry.name}: "{address}" is no address with prefix length (10.1.0.1/24)',
            )
            return
        ends.append((player.lower(), interface, None if address == "-" else address))
    yield Link(tuple(ends), mtu)


def _is_address(text):
    if text == "-":
        return True
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return "/" in text


def _route(file, entry, words, transports):
    if len(words) < 3:
        file.problems.error(
            file.path, entry.line, f"{entry.name}: required: PLAYER DESTINATION via ADDRESS"
        )
    elif _is_player(file, entry, words[0], transports):
        yield words[0].lower(), words[1:]


def _check_interfaces(file, section, links):
    used = set()
    for player, interface, _ in (end for link in links for end in link.ends):
        if (player, interface) in used or interface == "lo":
            file.problems.error(
                file.path,
                section.line,
                f'[Network]: {player} already has an interface "{interface}"',
            )
        used.add((player, interface))
