#!/bin/bash
# SPDX-License-Identifier: MIT
# thread_sanitizer: a program built with -fsanitize=thread and the plain library -> no race is
# reported in any kind of session; $1 include folders, $2 folder of the library.
set -u
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- # numbers that the library's threads use in tables of their own
here=$(dirname "$0")/thread_sanitizer nsdump=$NETSLICE_BIN/nsdump library=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
include=() built=0 failed=0
IFS=: read -ra folders <<<"$1"
for folder in "${folders[@]}"; do include+=(-I"$folder"); done
fail() { echo "FAIL $*"; failed=1; }

# quiet NAME command...: the command ends with 0 and reports nothing. (A report makes it end with
# 66.)
quiet() {
    local name=$1
    shift
    if [[ $1 == attached ]]; then "$@"; else timeout 120 "$@"; fi >"$work/said" 2>&1
    local code=$?
    if [[ $code != 0 ]] || grep -q "ThreadSanitizer" "$work/said"; then
        fail "$name ended with $code: $(grep -m 3 -E 'WARNING|SUMMARY|FATAL' "$work/said")"
    fi
}

# A kernel that randomises addresses over a wider range than this compiler's library supports.
can_run() {
    "$1" 1 >"$work/said" 2>&1 && return 0
    grep -q "unexpected memory mapping" "$work/said" && { echo "$1: ThreadSanitizer does not support this address space, skipped"; return 1; }
    return 0
}

# shellcheck disable=SC2317 # called by quiet()
attached() { # program
    local pid until=$((SECONDS + 30))
    NETSLICE=attach=yes "$1" 1 wait >"$work/program" 2>&1 &
    pid=$!
    until timeout 60 "$nsdump" record -d 0.5 -w "$work/t.nsl" --pid "$pid" >"$work/nsdump" 2>&1; do
        ((SECONDS < until)) || { cat "$work/nsdump"; kill -KILL "$pid"; return 9; }
        sleep 0.1
    done
    sleep 0.2 # the listening thread waits for the next recorder
    kill -TERM "$pid"
    wait "$pid"
    local code=$?
    cat "$work/program"
    "$nsdump" check -q "$work/t.nsl" || { echo "the trace of an attached program is not whole"; return 8; }
    return "$code"
}

try() { # name of the program
    local program=$1
    can_run "$program" || return 0
    built=$((built + 1))
    basename "$program"
    quiet "$program, no session" "$program" 3
    quiet "$program, environment" env NETSLICE=output="$work/t.nsl" "$program" 10
    "$nsdump" check -q "$work/t.nsl" || fail "$program, environment: the trace is not whole"
    quiet "$program, from code" "$program" 5 conf=output="$work/t.nsl"
    quiet "$program, fork" "$program" 5 "conf=output=$work/t.nsl" fork
    quiet "$program, flight recorder" "$program" 5 "conf=output=$work/t.nsl full=overwrite ring=64K" snapshot
    quiet "$program, full rings without rseq" "$program" 5 "conf=output=$work/t.nsl kind=atomic ring=4K"
    quiet "$program, a counter by system call" "$program" 3 "conf=output=$work/t.nsl source=perf-read counters=page-faults"
    if [[ $(uname -m) == x86_64 ]]; then
        quiet "$program, stepped" "$program" 1 "conf=output=$work/t.nsl source=step counters=instructions step-every=20"
    fi
    quiet "$program, nsdump record" "$nsdump" record -w "$work/t.nsl" -- "$program" 10
    quiet "$program, attached" attached "$program"
}

for compiler in gcc clang-14; do
    command -v $compiler >/dev/null || { echo "$compiler: not installed, skipped"; continue; }
    for link in shared static; do
        libraries=("-L$library" -lnsprobe "-Wl,-rpath,$library")
        [[ $link == shared ]] || libraries=("$library/libnsprobe.a" -lm)
        if ! $compiler -std=gnu11 -O1 -g -fsanitize=thread -Wall -Wextra "${include[@]}" "$here/program.c" "${libraries[@]}" -pthread -o "$work/$compiler-$link" 2>"$work/said"; then
            grep -qE "libtsan|rt.tsan" "$work/said" || { cat "$work/said"; exit 1; }
            echo "$compiler: no ThreadSanitizer, skipped"
            continue
        fi
        try "$work/$compiler-$link"
    done
done
echo "$built programs"
((built > 0)) || exit 77
exit $failed
