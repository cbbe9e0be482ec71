#!/bin/sh
# SPDX-License-Identifier: MIT
# pkg_config: installed prefix -> programs built by hand with pkg-config's flags, and run; $1
# prefix, $2 work folder, $3 compiler.
set -eu
prefix=$1 work=$2 cc=$3
tests=$NETSLICE_SOURCE/tests/install
rm -rf "$work"
mkdir -p "$work"
folder=$(dirname "$(find "$prefix" -name nsprobe.pc -print -quit)")
LD_LIBRARY_PATH=$(dirname "$folder")
export PKG_CONFIG_PATH="$folder" LD_LIBRARY_PATH

# The prefix was chosen at installation, so the files must work without --define-prefix.
# shellcheck disable=SC2046 # flags are words
$cc -std=c11 -O2 -Wall -Wextra -Werror -o "$work/batch" "$tests/find_package/batch.c" $(pkg-config --cflags --libs nsprobe)
"$work/batch" "output=$work/batch.nsl"
[ "$(head -c 8 "$work/batch.nsl")" = NSLTRACE ] || { echo "no trace was written"; exit 1; }

# shellcheck disable=SC2046
$cc -std=c11 -O2 -Wall -Wextra -Werror -o "$work/count" "$tests/pkg_config/count.c" $(pkg-config --cflags --libs mapi)
capture=$NETSLICE_SOURCE/mapi-core/apps/demo/demo.pcap
counted=$("$work/count" "$capture")
expected=$(python3 -c '
import struct, sys
data, at, packets = open(sys.argv[1], "rb").read(), 24, 0
while at < len(data):
    at += 16 + struct.unpack_from("<I", data, at + 8)[0]
    packets += 1
print(packets)' "$capture")
[ "$counted" = "$expected" ] || { echo "libmapi counted $counted packets, the file has $expected"; exit 1; }

# A MAPI 2 program includes a header for each function, with and without its folder.
# shellcheck disable=SC2046
$cc -std=gnu11 -O2 -Wall -Wextra -Werror -o "$work/of_mapi2" "$tests/pkg_config/of_mapi2.c" $(pkg-config --cflags --libs mapi)
"$work/of_mapi2" "$capture" >"$work/of_mapi2.txt" || { cat "$work/of_mapi2.txt"; exit 1; }
grep -qx "packets $counted" "$work/of_mapi2.txt" || { echo "a MAPI 2 program does not count $counted packets:"; cat "$work/of_mapi2.txt"; exit 1; }
