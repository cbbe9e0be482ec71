#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch_charon.sh [FOLDER]: strongSwan's IKE daemon, of the version of the installed libraries, into
# FOLDER.  Debian's package of it would also install and start a service, so it is only unpacked.
set -eu
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/netslice/charon}
fail() { echo "fetch_charon.sh: $*" >&2; exit 1; }

version=$(dpkg-query -W -f='${Version}' strongswan-libcharon 2>/dev/null) || version=
[ -n "$version" ] || fail "strongswan-libcharon is not installed (apt-get install strongswan-libcharon)"
[ "$(cat "$folder/version" 2>/dev/null)" != "$version" ] || exit 0
mkdir -p "$folder"
made=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$made"' EXIT
# The archive may have a newer revision than the libraries, which fits if its release is the same.
(cd "$made" && { apt-get download -qq "strongswan-charon=$version" || apt-get download -qq strongswan-charon; }) 2>"$made/said" ||
    fail "$(tail -n 1 "$made/said") (apt-get update may help)"
found=$(dpkg-deb -f "$made"/strongswan-charon_*.deb Version)
[ "${found%-*}" = "${version%-*}" ] || fail "version $found does not fit strongswan-libcharon $version (apt-get install strongswan-libcharon)"
dpkg-deb -x "$made"/strongswan-charon_*.deb "$made"
rm -rf "${folder:?}/usr"
mkdir -p "$folder/usr/lib/ipsec"
mv "$made/usr/lib/ipsec/charon" "$folder/usr/lib/ipsec/charon"
echo "$version" >"$folder/version"
