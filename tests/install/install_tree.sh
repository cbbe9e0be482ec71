#!/bin/sh
# SPDX-License-Identifier: MIT
# install_tree: the build tree -> a fresh prefix that the other install tests use; $1 is the prefix,
# $1.said gets the output.
set -eu
prefix=$1
rm -rf "$prefix"
cmake --install "$NETSLICE_BUILD" --prefix "$prefix" >"$prefix.said"
for name in nsprobe.pc nsprobe-config.cmake probe.h record.h 70-nsmod.rules netslice.7 nsmod.4 mapi.3 mapi_connect.3 PKT_COUNTER.3mapi example.rules; do
    [ -n "$(find "$prefix" -name "$name" -print -quit)" ] || { echo "not installed: $name"; exit 1; }
done
# DKMS's source folder of the module, complete enough to build and with the version in its name;
# rules for who may use the device.
for name in src/nsmod-*/dkms.conf src/nsmod-*/Makefile src/nsmod-*/Kbuild src/nsmod-*/src/module.c src/nsmod-*/src/groups/irq.c \
    src/nsmod-*/include/nslice/kernel.h src/nsmod-*/uapi/nslice/record.h lib/udev/rules.d/70-nsmod.rules lib/sysusers.d/nsmod.conf; do
    # shellcheck disable=SC2086,SC2116 # echo expands the pattern
    [ -f "$(echo "$prefix"/$name)" ] || { echo "not installed: $name"; exit 1; }
done
version=$(cat "$prefix"/src/nsmod-*/release)
grep -qx "PACKAGE_VERSION=\"$version\"" "$prefix/src/nsmod-$version/dkms.conf" || { echo "dkms.conf is not of version $version"; exit 1; }
# Installed files must not refer to the folder in which they were built.
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
