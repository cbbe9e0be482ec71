# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # sourced by esp.sh, whose variables these are
# ESP in user space: strongSwan's IKE daemon with the plugins kernel-libipsec, which encrypts packets
# of a TUN interface, and openssl, which has the ciphers.  The machine's own strongSwan, if it has
# one, is neither used nor started, and nothing is written to /etc.

# Bits of OpenSSL's switch: AES-NI and PCLMULQDQ (OPENSSL_ia32cap(3)); on arm64, NEON remains.
strongswan_mask()
{
    case $(uname -m) in
    x86_64) echo 'OPENSSL_ia32cap=~0x200000200000000' ;;
    aarch64) echo OPENSSL_armcap=1 ;;
    *) fail "missing: a switch of OpenSSL for the instructions of $(uname -m)" ;;
    esac
}

# The daemon: fetch_charon.sh unpacks it where no package that starts a service is installed.
strongswan_daemon()
{
    for found in ${CHARON:+"$CHARON"} "${XDG_CACHE_HOME:-$HOME/.cache}/netslice/charon/usr/lib/ipsec/charon" /usr/lib/ipsec/charon; do
        [ ! -x "$found" ] || { echo "$found"; return; }
    done
}

strongswan_check()
{
    # RFC 4303 requires at least one of both.
    [ "$cipher" != null ] || fail "missing: ESP of the kernel (CONFIG_INET_ESP); strongSwan refuses ESP without encryption and authentication"
    [ -c /dev/net/tun ] || fail "missing: /dev/net/tun (CONFIG_TUN)"
    [ -n "$(strongswan_daemon)" ] || fail "missing: strongSwan's daemon charon (fetch_charon.sh fetches it)"
    command -v swanctl >/dev/null || fail "missing: swanctl (package strongswan-swanctl)"
    for plugin in openssl:libstrongswan-standard-plugins kernel-libipsec:libcharon-extra-plugins; do
        [ -e "/usr/lib/ipsec/plugins/libstrongswan-${plugin%%:*}.so" ] ||
            fail "missing: strongSwan's plugin ${plugin%%:*} (package ${plugin#*:})"
    done
}

# The other end may not listen yet: requests are soon repeated.
strongswan_configure()
{
    cat >"$state/strongswan.conf" <<END
charon {
  load = openssl nonce random kdf kernel-libipsec kernel-netlink socket-default vici
  install_virtual_ip = no
  retransmit_timeout = 0.2
  retransmit_base = 1
  retransmit_tries = 100
  plugins { vici { socket = unix://$state/vici } }
  filelog { log { path = $state/log
    flush_line = yes } }
}
swanctl { load = openssl }
END
    cat >"$state/swanctl.conf" <<END
connections { tunnel {
  version = 2
  local_addrs = $here
  remote_addrs = $there
  encap = yes
  mobike = no
  rekey_time = 0
  proposals = aes128-sha256-modp2048
  local { auth = psk
    id = $here }
  remote { auth = psk
    id = $there }
  children { tunnel {
    local_ts = $near
    remote_ts = $far
    esp_proposals = $cipher
    rekey_time = 0 } }
} }
secrets { ike { secret = experiment } }
END
}

# Its own tables of plugins and messages are not of interest.
strongswan_control() { STRONGSWAN_CONF="$state/strongswan.conf" swanctl "$@" --uri "unix://$state/vici" 2>"$state/said"; }

strongswan_said() { fail "$1: $(tail -n 1 "$state/said"); charon: $(tail -n 1 "$state/log")"; }

strongswan_up()
{
    strongswan_check
    strongswan_configure
    switch=
    [ "$aes" = yes ] || switch=$(strongswan_mask)
    # The daemon keeps its process id in /run.
    # shellcheck disable=SC2016 # the inner shell expands
    env STRONGSWAN_CONF="$state/strongswan.conf" ${switch:+"$switch"} unshare --mount sh -c \
        'mount -t tmpfs tmpfs /run && echo $$ >"$1/pid" && exec "$2"' sh "$state" "$(strongswan_daemon)" \
        </dev/null >"$state/out" 2>&1 &
    tries=0
    until strongswan_control --stats >/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || fail "charon did not start: $(tail -n 1 "$state/out")"
        sleep 0.05
    done
    strongswan_control --load-all --file "$state/swanctl.conf" >/dev/null || strongswan_said "configuration"
    [ "$side" = right ] || strongswan_negotiate
    strongswan_ticks >"$state/ticks"
}

# CPU time of the daemon, in clock ticks.
strongswan_ticks() { sed 's/.*) //' "/proc/$(cat "$state/pid")/stat" | awk '{ print $12 + $13 }'; }

# The other end may run, but refuse until it has its configuration.
strongswan_negotiate()
{
    tries=0
    until strongswan_control --initiate --child tunnel --timeout 20 >/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || strongswan_said "negotiation"
        sleep 0.1
    done
}

strongswan_describe()
{
    echo "implementation: strongSwan $(strongswan_control --version | sed -n 's/.*strongSwan[^0-9]*\([0-9.]*\).*/\1/p'), kernel-libipsec, in user space, ESP in UDP"
    strongswan_control --list-sas >"$state/sas"
    negotiated=$(sed -n 's/.*INSTALLED.*ESP:\(.*\)/\1/p' "$state/sas")
    [ -n "$negotiated" ] || fail "there is no tunnel"
    strongswan_control --list-algs >"$state/algorithms"
    # AES_GCM_16-128 -> AES_GCM_16; NULL/HMAC_SHA1_96 -> HMAC_SHA1_96
    algorithm=${negotiated#NULL/}
    plugin=$(sed -n "s/^ *${algorithm%%-*}\[\(.*\)\]$/\1/p" "$state/algorithms")
    [ "$plugin" = openssl ] || fail "${algorithm%%-*} is of the plugin ${plugin:-(unknown)}, not openssl"
    echo "cipher: $negotiated by the plugin $plugin"
    strongswan_describe_instructions
    sed -n 's/^ *\(in\|out\)  *[0-9a-f]*, *\([0-9]*\) bytes, *\([0-9]*\) packets.*/tunnel: \1 \2 bytes, \3 packets/p' "$state/sas" >"$state/counts"
    cat "$state/counts"
    check_counts
    strongswan_describe_cost
}

# In the direction that carries most.
strongswan_describe_cost()
{
    bytes=$(sed 's/.* \([0-9]*\) bytes.*/\1/' "$state/counts" | sort -n | tail -n 1)
    awk -v begin="$(cat "$state/ticks")" -v end="$(strongswan_ticks)" -v hertz="$(getconf CLK_TCK)" -v bytes="$bytes" \
        'BEGIN { printf "daemon: %.2f ns/byte\n", (end - begin) / hertz * 1e9 / bytes }'
}

# As the daemon's own environment has it.
strongswan_describe_instructions()
{
    case $cipher in aes*) ;; *) return 0 ;; esac
    switch=$(tr '\0' '\n' <"/proc/$(cat "$state/pid")/environ" | grep -E '^OPENSSL_(ia32|arm)cap=' || :)
    if [ -n "$switch" ]; then
        echo "AES instructions: masked ($switch)"
    else
        echo "AES instructions: in use"
    fi
}

strongswan_down()
{
    pid=$(cat "$state/pid" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null || return 0
    tries=0
    while kill -0 "$pid" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries != 100 ] || kill -KILL "$pid" 2>/dev/null || :
        [ $tries -lt 200 ] || fail "charon (process $pid) does not end"
        sleep 0.05
    done
}
