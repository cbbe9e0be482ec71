# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by tests: conditions to wait for.  A machine may be so busy that nothing happens for seconds.
wait_for() { # seconds, command...
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < until)) || return 1
        sleep 0.05
    done
}
has_ended() { # process
    [[ -n $1 ]] || return 1
    [[ ! -d /proc/$1 ]] || grep -qs '^State:.Z' "/proc/$1/status" || [[ ! -d /proc/$1 ]]
}
