#!/bin/sh
# SPDX-License-Identifier: MIT
# static: programs linked with the archive -> recorded through NETSLICE, NET_SLICE_CONF and `nsdump
# record`, every slice in the trace; $1 include folders, $2 the archive.
set -eu
here=$(dirname "$0")/static archive=$2 nsdump=$NETSLICE_BIN/nsdump
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
include='' built=0
for folder in $(echo "$1" | tr : ' '); do include="$include -I$folder"; done

# holds TRACE NAME=COUNT...: exactly these slices (the scheduler may have migrated the thread inside
# one), and the loss equation.
holds() {
    "$nsdump" stats --format json "$1" 2>"$work/said" >"$work/stats" || { echo "$1: $(cat "$work/said")"; return 1; }
    # shellcheck disable=SC2086 # words
    python3 -c '
import json, sys
stats = json.load(open(sys.argv[1]))
found = {one["name"]: one["count"] + one["migrated"] for one in stats["slices"]}
expected = {name: int(count) for name, count in (word.split("=") for word in sys.argv[2:])}
sys.exit(0 if found == expected and stats["losses"]["equation_holds"] else f"slices {found}, not {expected}")' "$work/stats" $2
}

# try compiler source slices slices-after-main-began flags...
try() {
    compiler=$1 source=$2 slices=$3 later=$4
    shift 4
    command -v "$compiler" >/dev/null || { echo "$compiler: not installed, skipped"; return 0; }
    echo "$compiler $source $*"
    rm -f "$work"/*.nsl
    # For every static program with dlopen() in it, the linker warns that it requires glibc's shared
    # libraries.
    # shellcheck disable=SC2086 # include folders are words
    $compiler "$@" $include "$here/$source" "$archive" -pthread -lm -o "$work/program" 2>"$work/said" || { cat "$work/said"; return 1; }
    NETSLICE=output=$work/environment.nsl "$work/program"
    "$nsdump" record -w "$work/record.nsl" -- "$work/program" 2>"$work/said" || { echo "nsdump record: $? $(cat "$work/said")"; return 1; }
    "$work/program" "output=$work/code.nsl"
    holds "$work/environment.nsl" "$slices"
    holds "$work/record.nsl" "$slices"
    holds "$work/code.nsl" "$later"
    built=$((built + 1))
}

for compiler in gcc clang-14; do
    try "$compiler" work.c work=1000 work=1000 -O2
    try "$compiler" work.c work=1000 work=1000 -O2 -static
    try "$compiler" work.c work=1000 work=1000 -O0 -no-pie -fno-pie
    try "$compiler" work.c work=1000 work=1000 -O2 -fPIE -static-pie
    try "$compiler" work.c work=1000 work=1000 -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
done
for compiler in gcc clang-14; do
    try "$compiler" segments.c "far=1000 work=1000" "far=1000 work=1000" -O2 -no-pie -fno-pie -Wl,--section-start=.far=0x10000000 \
        -ffunction-sections -Wl,--gc-sections -Wl,-z,start-stop-gc
done
try gcc work.c work=1000 work=1000 -O2 -flto -ffunction-sections -fdata-sections -Wl,--gc-sections
try gcc work.c work=1000 work=1000 -O2 -flto -static -ffunction-sections -fdata-sections -Wl,--gc-sections
for compiler in g++ clang++-14; do
    try "$compiler" work.cpp "global=2 work=1000" "global=1 work=1000" -O2
    try "$compiler" work.cpp "global=2 work=1000" "global=1 work=1000" -O2 -static
done
try g++ work.cpp "global=2 work=1000" "global=1 work=1000" -O2 -flto -fPIE -static-pie

# A second C library in a program without a loader would crash it: what requires one is refused with
# a message.
# shellcheck disable=SC2086
gcc -O2 -static $include "$here/work.c" "$archive" -pthread -lm -o "$work/program" 2>/dev/null
rm -f "$work"/*.nsl
NETSLICE="output=$work/papi.nsl source=papi counters=PAPI_TOT_INS" "$work/program" 2>"$work/said" || { echo "a static program crashed with PAPI: $?"; exit 1; }
grep -q "source papi:" "$work/said" || { echo "PAPI in a static program: $(cat "$work/said")"; exit 1; }
NETSLICE="output=$work/pfm.nsl counters=BR_INST_RETIRED:CONDITIONAL" "$work/program" 2>"$work/said" || { echo "a static program crashed with libpfm4: $?"; exit 1; }
grep -q "unknown counter" "$work/said" || { echo "libpfm4 in a static program: $(cat "$work/said")"; exit 1; }
echo "$built programs"
[ "$built" -gt 0 ]
