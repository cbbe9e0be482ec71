#!/bin/sh
# SPDX-License-Identifier: MIT
# bpf_example: the installed example of a BPF program with probes -> built as its Makefile says, with
# and without probes; $1 prefix, $2 work folder, $3 C compiler.
set -eu
prefix=$1 work=$2 cc=$3
for tool in clang-14 readelf make; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
echo '#include <bpf/libbpf.h>' | "$cc" -E - >/dev/null 2>&1 || { echo "skipped: no libbpf"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
installed=$(dirname "$(find "$prefix" -path '*/examples/bpf/xdp_ports.bpf.c' -print -quit)")
[ -f "$installed/Makefile" ] || { echo "the example is not installed"; exit 1; }
cp -r "$installed" "$work/source"
pkgconfig=$(dirname "$(find "$prefix" -name nsprobe.pc -print -quit)")
build() { # FOLDER VARIABLE...
    folder=$1
    shift
    make -s -C "$work/source" O="$work/$folder" PKG_CONFIG_PATH="$pkgconfig" CC="$cc" \
        WARNINGS="-Wall -Wextra -Werror" "$@"
}
build with
build without BPF_DISABLE=-DNETSLICE_DISABLE
readelf -SW "$work/with/xdp_ports.bpf.o" | grep -qF .data.nslice || { echo "no probes"; exit 1; }
if readelf -SW "$work/without/xdp_ports.bpf.o" | grep -F nslice; then
    echo "parts of probes are left"
    exit 1
fi
"$work/with/xdp_ports" 2>&1 | grep -qF 'usage: xdp_ports'
