#!/bin/sh
# SPDX-License-Identifier: MIT
# compiled_out: a C and a C++ file with every macro under NETSLICE_DISABLE -> object code, compared
# byte for byte with the same files without the macro lines; $1 include folders. Prints one line per
# comparison: compiler, flags, bytes of code and data, verdict.
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags='' compared=0
for folder in $(echo "$1" | tr : ' '); do flags="$flags -I$folder"; done

# Line numbers and file names stay the same, so that only the macros can make a difference.
mkdir "$work/with" "$work/without"
for name in every_macro.c every_macro.cpp; do
    cp "$here/$name" "$work/with/$name"
    sed -e 's/^.*NET_SLICE_.*$//' -e 's/^#include <nsprobe.*$//' "$here/$name" >"$work/without/$name"
    if grep -q NET_SLICE "$work/without/$name"; then echo "macros are left in $name"; exit 1; fi
done

# Everything that is loaded: code, data, read-only data, their relocations and symbols.
content() { objdump -h -s -d -r -t "$1" | sed 1,3d; }

for compiler in gcc g++ clang-14 clang++-14; do
    command -v "$compiler" >/dev/null || { echo "$compiler: not installed, skipped"; continue; }
    case $compiler in *++*) name=every_macro.cpp ;; *) name=every_macro.c ;; esac
    for options in -O0 -O2 -O3 "-O2 -fPIC" "-O2 -fno-pie" -Os; do
        for side in with without; do
            # shellcheck disable=SC2086 # flags and options are words
            (cd "$work/$side" && $compiler -DNETSLICE_DISABLE $flags $options -Wall -Wextra -Werror -c $name -o "$work/$side.o")
            content "$work/$side.o" >"$work/$side.txt"
        done
        if readelf -SW "$work/with.o" | grep -q nsprobe || nm "$work/with.o" | grep -q 'nsp_'; then
            echo "$compiler $options: part of a probe is left"; exit 1
        fi
        cmp -s "$work/with.txt" "$work/without.txt" || {
            echo "$compiler $options: object code differs"; diff "$work/with.txt" "$work/without.txt" | head; exit 1; }
        echo "$compiler $options: $(size "$work/with.o" | awk 'NR == 2 {print $4}') bytes, equal"
        compared=$((compared + 1))
    done
done
echo "$compared comparisons, all equal"
[ "$compared" -gt 0 ]
