#!/bin/bash
# SPDX-License-Identifier: MIT
# A process with its own session that ends without its library (_exit, a signal, exec) -> the
# contents of its trace, and consistent reports of what is missing: stats as text, JSON and CSV,
# check and nsreport.
set -u
. "$NETSLICE_SOURCE/tests/flow/waiting.sh"
nsdump=$NETSLICE_BIN/nsdump nsreport=$NETSLICE_BIN/nsreport
program=$NETSLICE_BUILD/tests/nsprobe_ends
[[ -x $program ]] || { echo "skipped: nsprobe_ends is not built"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
ulimit -c 0
failed=0
fail() { echo "FAIL $*"; failed=1; }
contains() { grep -qF -- "$1" "$2" || fail "$3: no '$1' in: $(head -c 1000 "$2")"; }

# ends WAY UNITS MILLISECONDS OPTIONS: one run with its own session.
ends() {
    rm -f t.nsl
    { NETSLICE="output=t.nsl $4" "$program" "$1" "$2" "$3" >out 2>err; } 2>/dev/null # the shell reports signals
}

# ends_drained WAY UNITS: the same, once all records are in the trace.
mkfifo gate
# shellcheck disable=SC2317 # called by wait_for
has_drained() { "$nsdump" stats --format json t.nsl 2>/dev/null | grep -q "\"drained\": $1\b"; }
ends_drained() {
    rm -f t.nsl
    NETSLICE=output=t.nsl "$program" "$1" "$2" - <gate >out 2>err &
    exec 9>gate
    wait_for 60 has_drained $((2 * $2)) || fail "$1: its records are not drained: $("$nsdump" stats t.nsl 2>&1)"
    exec 9>&-
    { wait $!; } 2>/dev/null
}

# json EXPRESSION: of the statistics, as d.
json() { python3 -c 'import json, sys; d = json.load(open("stats.json")); sys.exit(0 if eval(sys.argv[1]) else 1)' "$1"; }

is_unfinished() { # what
    "$nsdump" stats --all t.nsl >text 2>text.err
    [[ $? == 1 ]] || fail "$1: stats does not end with 1"
    "$nsdump" stats --format json t.nsl >stats.json 2>/dev/null
    # shellcheck disable=SC2094 # "csv" is a format, not the file
    "$nsdump" stats --format csv t.nsl >csv 2>csv.err
    # shellcheck disable=SC2094 # "check" is a command, not the file
    "$nsdump" check t.nsl >check && fail "$1: check has no finding"
    contains "issued unknown, drained " text "$1, stats"
    grep -q "issued .* = drained" text check && fail "$1: a loss equation although the losses are unknown: $(grep -h "issued .* = drained" text check)"
    for place in text csv.err check; do
        contains "an unknown number of records that were still in the rings is missing" $place "$1, $place"
    done
    contains "issued unknown, drained " check "$1, check"
    json 'd["losses"]["issued"] is None and d["losses"]["equation_holds"] is None and d["trace"]["end"] == "missing"' ||
        fail "$1: JSON has the number issued"
}

for way in _exit quick_exit abort segv kill exec; do
    # Immediately, before the first drain: what is needed to read and correct the trace is still
    # there.
    for ((try = 0; try < 3; ++try)); do
        ends $way 10 0 ""
        is_unfinished "$way at once"
        json 'd["calibration"]["start"] and d["info"]["clock.mode"] == "fast" and d["clock"]["hz"] > 1e6' || fail "$way immediately: no START calibration"
    done
    # After the drain: including its records.
    ends_drained $way 1000
    is_unfinished "$way after the drain"
    json 'sum(s["count"] + s["migrated"] for s in d["slices"]) == 1000 and d["losses"]["drained"] == 2000 and d["calibration"]["start"]' ||
        fail "$way after the drain: drained records are missing: $(<text)"
done
# A flight recorder is drained only on request: its trace has only the header.
ends _exit 10 0 "full=overwrite"
is_unfinished "a flight recorder"
json 'd["calibration"]["start"] and d["trace"]["records"] == 0' || fail "a flight recorder: no START calibration"
ends exit 1000 0 ""
"$nsdump" check -q t.nsl || fail "exit: not whole"
"$nsdump" stats --all t.nsl >text 2>&1
contains "issued 2000 = drained 2000 + lost 0" text "exit"

# After chroot() the trace's path no longer leads to it. LeakSanitizer does not run without /proc.
if [[ $(id -u) == 0 ]]; then
    ASAN_OPTIONS=detect_leaks=0 ends chroot 1000 100 "" || fail "chroot: ends with $?"
    [[ ! -s err ]] || fail "chroot: reports $(<err)"
    "$nsdump" check -q t.nsl || fail "chroot: not whole"
fi
# A main thread that ends alone: the process continues, and ends with its last thread.
for options in output=t.nsl "output=t.nsl full=overwrite" attach=yes; do
    rm -f t.nsl
    NETSLICE=$options timeout -k 1 20 "$program" pthread_exit 1000 0 >out 2>err || fail "pthread_exit, $options: ends with $?: $(<err)"
    contains "still running" out "pthread_exit, $options"
done
for option in --control --thin=auto; do
    timeout -k 1 30 "$nsdump" record -q $option -w t.nsl -- "$program" pthread_exit 1000 0 >out 2>err || fail "pthread_exit, $option: ends with $?: $(<err)"
    contains "still running" out "pthread_exit, $option"
    "$nsdump" check -q t.nsl || fail "pthread_exit, $option: not whole"
done
ends pthread_exit 1000 0 ""
"$nsdump" check -q t.nsl || fail "pthread_exit: not whole"
"$nsdump" stats --all t.nsl >text 2>&1
contains "issued 2002 = drained 2002 + lost 0" text "pthread_exit"

if command -v gnuplot >/dev/null; then
    ends_drained _exit 1000
    "$nsreport" t.nsl -o report -q >said 2>&1
    [[ $? == 1 ]] || fail "nsreport does not end with 1: $(<said)"
    contains "issued unknown, drained 2,000, known lost 0." report/index.html nsreport
fi
exit $failed
