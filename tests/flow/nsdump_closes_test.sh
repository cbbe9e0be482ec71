#!/bin/bash
# SPDX-License-Identifier: MIT
# A program with its own session that closes all descriptors which it did not open: its files stay
# intact, and its trace is complete.
set -u
nsdump=$NETSLICE_BIN/nsdump
program=$NETSLICE_BUILD/tests/nsprobe_closes
[[ -x $program ]] || { echo "skipped: nsprobe_closes is not built"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
fail() { echo "FAIL $*"; failed=1; }
mkdir files elsewhere
is_whole() { # trace, what
    "$nsdump" stats --all "$1" >text 2>&1 || fail "$2: $(<text)"
    grep -qF "issued 4000 = drained 4000 + lost 0" text || fail "$2: issued records are missing: $(grep records text)"
}

NETSLICE=output=t.nsl "$program" files 2000 >out 2>err || fail "the program: $(<out) $(<err)"
is_whole t.nsl "a trace in the program's folder"
NETSLICE=output=u.nsl "$program" "$folder/files" 2000 elsewhere >out 2>err || fail "another folder: $(<out) $(<err)"
is_whole u.nsl "a trace in a folder that the program has left"
NETSLICE="output=v.nsl full=overwrite" "$program" files 2000 >out 2>err || fail "a flight recorder: $(<out) $(<err)"
is_whole v.nsl "a flight recorder"
"$nsdump" record -w r.nsl -- "$program" files 2000 >out 2>err || fail "nsdump record: $(<out) $(<err)"
is_whole r.nsl "nsdump record"

# A file that cannot be reopened ends the trace with a message, and does no harm.
mkfifo pipe
exec 9<>pipe # a session does not wait for a pipe's reader
cat pipe >piped 9<&- &
NETSLICE=output=pipe "$program" files 2000 >out 2>err 9<&- || fail "a pipe: $(<out) $(<err)"
exec 9<&-
wait
grep -q "pipe: " err || fail "a pipe that the program has closed is not reported: $(<err)"
exit $failed
