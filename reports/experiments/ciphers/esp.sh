#!/bin/sh
# SPDX-License-Identifier: MIT
# An ESP tunnel between the networks 10.9.1.0/24 (left) and 10.9.2.0/24 (right), whose ends are
# 10.1.0.1 and 10.1.0.2.
#
#   esp.sh up left|right CIPHER yes|masked   sets up this end; left also negotiates
#   esp.sh describe                          what encrypts; fails if no packet went through the tunnel
#   esp.sh down                              removes everything
#
# CIPHER: none (no IPsec), null (neither encryption nor authentication), null-sha1, aes128gcm16,
# aes256gcm16.  yes: AES instructions, where the cipher is AES; masked: without them.
# The kernel encrypts where it has ESP (esp_kernel.sh), otherwise strongSwan (esp_strongswan.sh);
# ESP_BY=kernel or ESP_BY=strongswan decides otherwise.
set -eu
cd "$(dirname "$0")"

fail() { echo "esp: $*" >&2; exit 1; }

# One folder for each network namespace.  Others can make folders there too: theirs is not read.
state="${TMPDIR:-/tmp}/nsconduct-esp-$(stat -Lc %i /proc/self/ns/net)"

. ./esp_kernel.sh
. ./esp_strongswan.sh

has_aes_instructions() { grep -qwm1 aes /proc/cpuinfo; }

# The route into the tunnel's other network, from this end's own address there.
route()
{
    own=$(ip -4 -o address show to "$near" | sed -n '1s/.* inet \([0-9.]*\).*/\1/p')
    ip route replace "$far" via "$there" ${own:+src "$own"}
}

# by: prints who encrypts
by()
{
    if [ -n "${ESP_BY:-}" ]; then
        echo "$ESP_BY"
    elif kernel_has_esp; then
        echo kernel
    else
        echo strongswan
    fi
}

up()
{
    side=$1 cipher=$2 aes=$3
    case $side in
    left) here=10.1.0.1 there=10.1.0.2 near=10.9.1.0/24 far=10.9.2.0/24 ;;
    right) here=10.1.0.2 there=10.1.0.1 near=10.9.2.0/24 far=10.9.1.0/24 ;;
    *) fail "\"$side\" is neither left nor right" ;;
    esac
    case $cipher in
    aes*) [ "$aes" = masked ] || has_aes_instructions || fail "missing: AES instructions of the CPU" ;;
    none | null | null-sha1) ;;
    *) fail "cipher \"$cipher\" is unknown (none, null, null-sha1, aes128gcm16, aes256gcm16)" ;;
    esac
    rm -rf "$state" # left by a run that was killed
    mkdir -m 700 "$state"
    trap '[ $? = 0 ] || down' EXIT
    implementation=none
    [ "$cipher" = none ] || implementation=$(by)
    echo "$implementation $cipher $aes" >"$state/what"
    case $implementation in
    kernel) kernel_up ;;
    strongswan) strongswan_up ;;
    none) route ;;
    *) fail "ESP_BY=$implementation is neither kernel nor strongswan" ;;
    esac
}

# Of both directions, as describe printed them.
check_counts()
{
    if ! grep -q tunnel "$state/counts" || grep -q ' 0 packets' "$state/counts"; then
        fail "no packet went through the tunnel"
    fi
}

is_ours() { [ -O "$state" ] && [ ! -h "$state" ]; }

known()
{
    is_ours || fail "nothing is set up here"
    read -r implementation cipher aes <"$state/what" || fail "nothing is set up here"
}

describe()
{
    known
    case $implementation in
    none) printf 'implementation: no IPsec\ndaemon: 0 ns/byte\n' ;;
    *) "${implementation}_describe" ;;
    esac
}

down()
{
    is_ours || return 0
    known
    [ "$implementation" = none ] || "${implementation}_down"
    ip route del 10.9.2.0/24 via 10.1.0.2 2>/dev/null || ip route del 10.9.1.0/24 via 10.1.0.1 2>/dev/null || :
    rm -rf "$state"
}

case ${1:-} in
up) [ $# = 4 ] || fail "usage: esp.sh up left|right CIPHER yes|masked"; up "$2" "$3" "$4" ;;
describe | down) "$1" ;;
*) fail "usage: esp.sh up left|right CIPHER yes|masked, or describe, or down" ;;
esac
