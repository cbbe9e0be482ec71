#!/bin/sh
# SPDX-License-Identifier: MIT
# examples: the installed examples -> built by CMake and by make, recorded, and their traces
# compared with what the programs do; $1 prefix, $2 work folder, $3 and $4 compilers.
set -eu
prefix=$1 work=$2 cc=$3 cxx=$4
nsdump=$prefix/bin/nsdump
check=$NETSLICE_SOURCE/tests/install/examples/trace.py
rm -rf "$work"
mkdir -p "$work"
installed=$(dirname "$(find "$prefix" -path '*/examples/packet_loop.c' -print -quit)")
[ -f "$installed/README.md" ] || { echo "the examples are not installed"; exit 1; }
# A user copies them; nothing may refer to the place that they come from.
cp -r "$installed" "$work/source"
pkgconfig=$(dirname "$(find "$prefix" -name nsprobe.pc -print -quit)")

# shown COMMAND...: its output only if it fails.
shown() { "$@" >"$work/said" 2>&1 || { cat "$work/said"; echo "failed: $*"; exit 1; }; }

shown cmake -S "$work/source" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror"
shown cmake --build "$work/cmake"
# The path is given as the Makefile says, on its command line.
shown make -C "$work/source" O="$work/make" PKG_CONFIG_PATH="$pkgconfig" CC="$cc" CXX="$cxx" \
    WARNINGS="-Wall -Wextra -Werror"
shown make -C "$work/source" O="$work/bare" PKG_CONFIG_PATH="$pkgconfig" CC="$cc" CXX="$cxx" \
    WARNINGS="-Wall -Wextra -Werror -DNETSLICE_DISABLE" LDFLAGS=-Wl,--as-needed

# recorded FOLDER NAME PROGRAM...: what it prints without and with a session, and its trace.
recorded()
{
    folder=$1 name=$2
    shift 2
    cd "$work/$folder"
    "$@" >"$name.off" || { echo "$folder: $* failed"; exit 1; }
    shown "$nsdump" record -w "$name.nsl" -- "$@"
    grep -qxF "$(cat "$name.off")" "$work/said" ||
        { echo "$*: works differently while recorded"; exit 1; }
    shown "$nsdump" check "$name.nsl"
    "$nsdump" stats "$name.nsl" --format json >"$name.json"
    "$nsdump" export "$name.nsl" --what slices >"$name.csv"
    python3 -B "$check" "$name" "$name.json" "$name.csv" || { echo "$folder: $*"; exit 1; }
}

for folder in cmake make; do
    recorded "$folder" packet_loop ./packet_loop
    recorded "$folder" scoped ./scoped
    recorded "$folder" handlers ./scoped dns http
    recorded "$folder" plugin ./host ./decode.so
    # README's other way.
    shown env NETSLICE=output=own.nsl ./packet_loop
    shown "$nsdump" check own.nsl
done

# README states the numbers of a run; those that are the same on every machine must be right.
for line in "$(cat packet_loop.off)" "70000 records of 70000 issued" \
    "unit      batch: 10000 units, 320000 packets, 81920000 bytes" \
    "mark      kept: 10000 times, mean 8.00, min 8, max 8"; do
    grep -qF "$line" "$work/source/README.md" || { echo "README does not have: $line"; exit 1; }
done

cd "$work/bare"
for program in packet_loop scoped host decode.so; do
    if readelf -SW "$program" | grep nsprobe || readelf -d "$program" | grep nsprobe; then
        echo "$program still contains parts of a probe"
        exit 1
    fi
done
