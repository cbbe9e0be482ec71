#!/bin/sh
# SPDX-License-Identifier: MIT
# install_tree: the build tree -> a fresh prefix that the other install tests use; $1 is the prefix.
set -eu
prefix=$1
rm -rf "$prefix"
cmake --install "$NETSLICE_BUILD" --prefix "$prefix" >/dev/null
for name in nsprobe.pc nsprobe-config.cmake probe.h record.h; do
    [ -n "$(find "$prefix" -name "$name" -print -quit)" ] || { echo "not installed: $name"; exit 1; }
done
# What was installed must not point back to where it was built.
if found=$(grep -rlIF -e "$NETSLICE_BUILD" -e "$NETSLICE_SOURCE" "$prefix"); then
    echo "these name the build or source folder:"
    echo "$found"
    exit 1
fi
for object in "$prefix"/bin/* "$prefix"/lib/*.so "$prefix"/lib/*/*.so; do
    [ -f "$object" ] || continue
    if readelf -d "$object" 2>/dev/null | grep -E 'R(UN)?PATH' | grep -F "$NETSLICE_BUILD"; then
        echo "$object looks for libraries in the build folder"
        exit 1
    fi
done
