#!/bin/sh
# SPDX-License-Identifier: MIT
# find_package: installed prefix -> a separate CMake project, built and run; $1 prefix, $2 work
# folder, $3 and $4 compilers.
set -eu
prefix=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
cmake -S "$NETSLICE_SOURCE/tests/install/find_package" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$3" -DCMAKE_CXX_COMPILER="$4" >/dev/null
cmake --build "$work/build" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }

# holds TRACE: 1000 slices, and the loss equation holds.
holds() {
    [ "$(head -c 8 "$1")" = NSLTRACE ] || { echo "$1 is not a trace"; exit 1; }
    # The installed reader must find in the file what the program has done.
    stats=$("$prefix/bin/nsdump" export "$1" --what stats --format json)
    echo "$stats" | python3 -c '
import json, sys
stats = json.load(sys.stdin)
# The scheduler may have migrated the thread inside one.
count = {one["name"]: one["count"] + one["migrated"] for one in stats["slices"]}
losses = stats["losses"]
sys.exit(0 if count == {"work": 1000} and losses["equation_holds"] else f"slices {count}, losses {losses}")'
}

for program in c11 c11_static cpp17 cpp20; do
    "$work/build/$program" "output=$work/$program.nsl" || { echo "$program failed: $?"; exit 1; }
    holds "$work/$program.nsl"
done
for program in plain plain_archive plain_static; do
    NETSLICE=output=$work/$program.nsl "$work/build/$program" || { echo "$program failed: $?"; exit 1; }
    holds "$work/$program.nsl"
    "$prefix/bin/nsdump" record -w "$work/$program.recorded.nsl" -- "$work/build/$program" 2>"$work/said" || { cat "$work/said"; exit 1; }
    holds "$work/$program.recorded.nsl"
done

for program in c11_bare cpp17_bare; do
    "$work/build/$program" "output=$work/$program.nsl"
    [ ! -e "$work/$program.nsl" ] || { echo "$program wrote a trace"; exit 1; }
    if readelf -SW "$work/build/$program" | grep nsprobe || readelf -d "$work/build/$program" | grep nsprobe; then
        echo "$program still contains parts of a probe"
        exit 1
    fi
done
