#!/bin/bash
# SPDX-License-Identifier: MIT
# Daemons: recorded to their end by `nsdump record -- daemon`, ended by Ctrl-C and SIGTERM, attached to after their fork().
set -u
nsdump=$NETSLICE_BIN/nsdump
daemon=$NETSLICE_BUILD/tests/nsprobe_daemon
old_kernel=$(echo "$NETSLICE_BUILD"/tests/libnsprobe_old_kernel.*)
[[ -x $daemon ]] || { echo "skipped: nsprobe_daemon is not built"; exit 77; }
folder=$(mktemp -d)
cd "$folder" || exit 1
failed=0
quick=(--no-calibration)
clean() {
    local file
    for file in "$folder"/*.pid; do
        [[ -s $file ]] && kill -KILL "$(<"$file")" 2>/dev/null
    done
    rm -rf "$folder"
}
trap clean EXIT
fail() { echo "FAIL $*"; failed=1; }
contains() { grep -qF -- "$1" "$2" || fail "$3: no '$1' in: $(head -c 1000 "$2")"; }
is_whole() { "$nsdump" check -q "$1" || fail "$2: the trace is not whole: $("$nsdump" check "$1" 2>&1)"; }
wait_for() { # seconds, command...
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < until)) || return 1
        sleep 0.05
    done
}
has_ended() { [[ ! -d /proc/$1 ]] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }
units() { "$nsdump" stats --format json "$1" 2>/dev/null | python3 -c '
import json, sys
print(sum(s["count"] + s["migrated"] for s in json.load(sys.stdin)["slices"] if s["name"] == "work"))'; }

# Attaching to a daemon that was started with attach=yes, in whatever way it went into the background; the last
# time where its listener has to share the daemon's table of descriptors.
for way in once "" close reuse "close once"; do
    for how in environment code old-kernel; do
        # a sanitizer's library wants to be loaded first
        [[ $how == old-kernel ]] && ldd "$old_kernel" | grep -q 'lib[a-z]*san' && continue
        rm -f a.pid t.nsl
        # shellcheck disable=SC2086 # words
        if [[ $how == code ]]; then
            "$daemon" a.pid conf=attach=yes $way >out 2>&1
        elif [[ $how == old-kernel ]]; then
            NETSLICE=attach=yes LD_PRELOAD=$old_kernel "$daemon" a.pid $way >out 2>&1
        else
            NETSLICE=attach=yes "$daemon" a.pid $way >out 2>&1
        fi || fail "attach=yes by $how, $way: the program ended with $?: $(<out)"
        wait_for 20 test -s a.pid || { fail "attach=yes by $how, $way: no daemon"; continue; }
        for turn in first second; do
            timeout 60 "$nsdump" record "${quick[@]}" -d 0.3 -o t.nsl --pid "$(<a.pid)" >out 2>err ||
                fail "attach=yes by $how, $way: the $turn recorder ended with $?: $(<err)"
            is_whole t.nsl "attach=yes by $how, $way, $turn"
            [[ $(units t.nsl) -gt 5 ]] || fail "attach=yes by $how, $way: the $turn recorder has $(units t.nsl) units"
        done
        kill -TERM "$(<a.pid)"
        wait_for 20 has_ended "$(<a.pid)" || fail "attach=yes by $how, $way: the daemon does not end"
    done
done
# What reads a daemon's output to its end is not held up by the listener.
rm -f a.pid
said=$(NETSLICE=attach=yes timeout 20 "$daemon" a.pid close 2>&1) || fail "a daemon's output does not come to its end: $said"
kill -TERM "$(<a.pid)"
exit $failed
