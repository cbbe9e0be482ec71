#!/bin/sh
# SPDX-License-Identifier: MIT
# The published sample programs, unmodified, count packets of a replayed capture and print the
# count.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
demo=$NETSLICE_SOURCE/mapi-core/apps/demo/demo.pcap
[ -f "$demo" ] || exit 77

cat > "$folder/mapi.conf" <<EOF
[driver]
device=/dev/scampi/0
driver=pcap_file
path=$demo
repeat=forever
EOF
export MAPI_CONF="$folder/mapi.conf"
# stdbuf preloads its library before that of a sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"

# The programs never end by themselves.
code=0
timeout 4 stdbuf -oL "$NETSLICE_BIN/appendix_b" > "$folder/b" || code=$?
[ $code -eq 124 ] || { echo "appendix_b ended with $code"; cat "$folder/b"; exit 1; }
grep -Eq '^size: [1-9][0-9]*$' "$folder/b"
grep -Eq '^pkts all:[1-9][0-9]* bpf:[1-9][0-9]* \([0-9.]+%\) str:[1-9][0-9]* \([0-9.]+%\)$' "$folder/b"
awk -F'[: ()%]+' '/^pkts/ { if ($3 < $5 || $5 < $8) exit 1 }' "$folder/b" || { echo "a filter passes more than it gets"; cat "$folder/b"; exit 1; }

timeout 1 stdbuf -oL "$NETSLICE_BIN/appendix_a" > "$folder/a" || [ $? -eq 124 ]
grep -Eq '^pkts all: -?[0-9]+$' "$folder/a"
