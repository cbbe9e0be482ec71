#!/bin/sh
# SPDX-License-Identifier: MIT
# bpf_example: the installed example of a BPF program with probes -> built as its Makefile says, with
# and without probes, and run with a session of its own; $1 prefix, $2 work folder, $3 C compiler.
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
LD_LIBRARY_PATH=$(dirname "$pkgconfig")
export LD_LIBRARY_PATH work prefix
build() { # FOLDER VARIABLE...
    folder=$1
    shift
    make -s -C "$work/source" O="$work/$folder" PKG_CONFIG_PATH="$pkgconfig" CC="$cc" \
        WARNINGS="-Wall -Wextra -Werror" "$@"
}
build with
build without SESSION_LIBS= BPF_DISABLE=-DNETSLICE_DISABLE
readelf -SW "$work/with/xdp_ports.bpf.o" | grep -qF .data.nslice || { echo "no probes"; exit 1; }
if readelf -SW "$work/without/xdp_ports.bpf.o" | grep -F nslice; then
    echo "parts of probes are left"
    exit 1
fi
"$work/with/xdp_ports" 2>&1 | grep -qF 'usage: xdp_ports'

# The rest as root: a packet through the loopback interface of a network of its own.
pc=$pkgconfig/nsprobe-bpf.pc
[ -f "$pc" ] || { echo "built without the recorder by BPF: the loader's session is not tried"; exit 0; }
if [ "$(id -u)" != 0 ] || [ ! -e /sys/kernel/btf/vmlinux ] || ! unshare -n true 2>/dev/null; then
    echo "no root, BTF or network of its own: the loader's session is not tried"
    exit 0
fi
# shellcheck disable=SC2016 # the inner shell expands them
unshare -n sh -euc '
ip link set lo up
NETSLICE="output=$work/ports.nsl" "$work/with/xdp_ports" lo 4242 >"$work/said" &
loader=$!
for _ in $(seq 200); do
    grep -qx ready "$work/said" && break
    sleep 0.05
done
python3 -c "
import socket
for _ in range(50):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(bytes(100), (\"127.0.0.1\", 4242))"
kill -TERM "$loader"
wait "$loader"
'
"$prefix/bin/nsdump" check "$work/ports.nsl" | grep -qF 'every one accounted for' || { echo "the trace is not whole"; exit 1; }
"$prefix/bin/nsdump" export "$work/ports.nsl" --what stats --format json | python3 -c '
import json, sys
stats = json.load(sys.stdin)
count = {one["name"]: one["count"] for one in stats["slices"]}
expected = {"attach": 1, "kernel:parse": 50, "kernel:lookup": 50}
losses = stats["losses"]
sys.exit(0 if count == expected and losses["equation_holds"] else f"slices {count}, losses {losses}")'
