#!/bin/bash
# SPDX-License-Identifier: MIT
# Daemons: recorded to their end by `nsdump record -- daemon`, ended by Ctrl-C and SIGTERM, attached
# to after their fork().
set -u
. "$NETSLICE_SOURCE/tests/flow/waiting.sh"
nsdump=$NETSLICE_BIN/nsdump
daemon=$NETSLICE_BUILD/tests/nsprobe_daemon
old_kernel=$(echo "$NETSLICE_BUILD"/tests/libnsprobe_old_kernel.*)
[[ -x $daemon ]] || { echo "skipped: nsprobe_daemon is not built"; exit 77; }
folder=$(mktemp -d)
cd "$folder" || exit 1
failed=0
quick=(--no-calibration)
# shellcheck disable=SC2317 # called by trap
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
units() { "$nsdump" stats --format json "$1" 2>/dev/null | python3 -c '
import json, sys
print(sum(s["count"] + s["migrated"] for s in json.load(sys.stdin)["slices"] if s["name"] == "work"))'; }
# It has been asked to end, but nsdump waits for a second only.
ends() { wait_for 60 has_ended "$1"; }
# A process that runs and participates may do nothing for a while: recorded longer if it has to be.
record_some() { # what, process
    local seconds
    for seconds in 0.3 3 30; do
        timeout 60 "$nsdump" record "${quick[@]}" -d $seconds -w t.nsl --pid "$2" >out 2>err ||
            fail "$1: the recorder ended with $?: $(<err)"
        is_whole t.nsl "$1"
        (($(units t.nsl) <= 5)) || return
    done
    fail "$1: the recorder has $(units t.nsl) units"
}

# Attaching to a daemon that was started with attach=yes, for every way of becoming a daemon; in the
# last case its listener shares the daemon's descriptor table.
for way in once "" close reuse "close once"; do
    for how in environment code old-kernel; do
        # a sanitizer's library has to be loaded first
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
        wait_for 60 test -s a.pid || { fail "attach=yes by $how, $way: no daemon"; continue; }
        for turn in first second; do
            record_some "attach=yes by $how, $way, $turn recorder" "$(<a.pid)"
        done
        kill -TERM "$(<a.pid)"
        ends "$(<a.pid)" || fail "attach=yes by $how, $way: the daemon does not end"
    done
done
# The listener does not block a program that reads a daemon's output to its end.
rm -f a.pid
said=$(NETSLICE=attach=yes timeout 20 "$daemon" a.pid close 2>&1) || fail "a daemon's output does not end: $said"
wait_for 60 test -s a.pid
kill -TERM "$(<a.pid)"

# A daemon recorded from its start to its end, for every way of becoming a daemon.
for way in once "" close reuse "pause=300" "close end=kill"; do
    rm -f a.pid t.nsl
    # shellcheck disable=SC2086 # words
    timeout 60 "$nsdump" record "${quick[@]}" -w t.nsl -- "$daemon" a.pid units=500 $way >out 2>err || fail "daemon $way: ended with $?: $(<err)"
    ends "$(<a.pid)" || fail "daemon $way: it still runs after the recording"
    is_whole t.nsl "daemon $way"
    [[ $(units t.nsl) == 510 ]] || fail "daemon $way: $(units t.nsl) units, not 510: $(<err)"
    contains "process $(<a.pid) (nsprobe_daemon), which it started, still participates and is recorded" err "daemon $way"
done
# The exit code is that of the program; its children may reach their probes later, by exec(): here as
# soon as the program has ended, since nsdump waits for a second.
for ((try = 0; try < 5; ++try)); do
    rm -f b.pid t.nsl
    timeout 60 "$nsdump" record "${quick[@]}" -w t.nsl -- sh -c "(while kill -0 \$\$; do :; done 2>/dev/null; exec $daemon b.pid units=300) & exit 7" >out 2>err
    [[ $? == 7 ]] || fail "a shell that leaves a daemon behind: $(<err)"
    grep -q "does not take part" err || break # it has not begun within that second
    wait_for 60 test -s b.pid && kill -TERM "$(<b.pid)"
done
is_whole t.nsl "a shell that leaves a daemon behind"
[[ $(units t.nsl) == 310 ]] || fail "a shell that leaves a daemon behind: $(units t.nsl) units, not 310"
# Two daemons, one of which ends much later.
rm -f a.pid b.pid t.nsl
timeout 60 "$nsdump" record "${quick[@]}" -w t.nsl -- sh -c "$daemon a.pid units=100; $daemon b.pid units=800 close" >out 2>err || fail "two daemons: $(<err)"
[[ $(units t.nsl) == 920 ]] || fail "two daemons: $(units t.nsl) units, not 920"
# Processes that do not participate are not waited for.
timeout 60 "$nsdump" record "${quick[@]}" -w t.nsl -- sh -c "sleep 300 & echo \$! >sleep.pid; $daemon a.pid units=10; $daemon b.pid units=10" >out 2>err || fail "a sleeper: $(<err)"
contains "(sleep) still runs but does not take part" err "a sleeper"
kill "$(<sleep.pid)" || fail "the process that does not participate was ended"
[[ $(units t.nsl) == 40 ]] || fail "a sleeper: $(units t.nsl) units, not 40"

# Every signal that asks it to end ends the daemon and leaves a complete trace.
for signal in INT TERM HUP; do
    rm -f a.pid t.nsl out err
    "$nsdump" record "${quick[@]}" -w t.nsl -- "$daemon" a.pid close >out 2>err &
    pid=$!
    wait_for 60 grep -qs "still participates and is recorded" err || fail "SIG$signal: the daemon is not reported: $(<err)"
    wait_for 60 test -s a.pid
    kill -$signal $pid
    wait $pid
    got=$?
    [[ $got == 130 ]] || fail "SIG$signal ended the recorder of a daemon with $got: $(<err)"
    is_whole t.nsl "SIG$signal and a daemon"
    ends "$(<a.pid)" || fail "SIG$signal has left the daemon behind: $(<err)"
    [[ $(units t.nsl) -gt 10 ]] || fail "SIG$signal: only $(units t.nsl) units"
done
# A process that starts another when it is asked to end, as one does that is still daemonizing: the
# other is asked as well.
rm -f a.pid t.nsl out err
"$nsdump" record "${quick[@]}" -w t.nsl -- "$daemon" a.pid end=heir >out 2>err &
pid=$!
wait_for 60 grep -qs "still participates and is recorded" err || fail "an heir: the daemon is not reported: $(<err)"
wait_for 60 test -s a.pid
first=$(<a.pid)
kill -TERM $pid
wait $pid
# shellcheck disable=SC2317 # called by wait_for
has_heir() { [[ $(<a.pid) != "$first" ]]; }
wait_for 60 has_heir || fail "an heir: there was none"
ends "$(<a.pid)" || fail "SIGTERM has left an heir behind: $(<err)"
is_whole t.nsl "an heir"
for seconds in 1 10; do # it may have ended before the daemon's first probe
    rm -f a.pid t.nsl
    timeout 60 "$nsdump" record "${quick[@]}" -d $seconds -w t.nsl -- "$daemon" a.pid close >out 2>err
    got=$?
    grep -q "no process had taken part" err || break
done
[[ $got == 0 ]] || fail "a duration and a daemon: $got: $(<err)"
is_whole t.nsl "a duration and a daemon"
wait_for 60 test -s a.pid
ends "$(<a.pid)" || fail "a duration has left the daemon behind: $(<err)"
exit $failed
