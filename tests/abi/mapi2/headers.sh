#!/bin/sh
# SPDX-License-Identifier: MIT
# MAPI 2 programs with their own headers compile, before and after mapi.h, as old and new C and as
# C++, and read correct results; $1 include folder, $2 library, $3 capture.
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -f "$3" ] || { echo "no capture $3"; exit 77; }
tcpdump -n -r "$3" tcp 2>/dev/null | wc -l | grep -q '[1-9]' || exit 77
mkdir "$work/include" # as installed
cp -r "$1/mapi" "$1/mapi2/mapi" "$work/include"
include=$work/include
compiled=0
for compiler in gcc clang-14; do
    command -v "$compiler" >/dev/null || { echo "$compiler: not installed, skipped"; continue; }
    for standard in gnu89 gnu99 gnu11 gnu17 gnu++11 gnu++17; do
        case $standard in gnu++*) language=c++ ;; *) language=c ;; esac
        for order in -DOWN_FIRST -DOWN_LAST; do
            # The row of TOP is misaligned, as in MAPI 2.
            $compiler -x $language -std=$standard -Wall -Werror -Wno-cast-align -Wno-address-of-packed-member $order -I"$include" -I"$include/mapi" "$here/own_headers.c" \
                -x none -L"$2" -Wl,-rpath,"$2" -lmapi -o "$work/program" || { echo "$compiler -std=$standard $order does not compile"; exit 1; }
            MAPI_SOCKET=none "$work/program" "$3" >"$work/out" || { echo "$compiler -std=$standard $order: exit $?"; exit 1; }
            [ $compiled -eq 0 ] || cmp -s "$work/out" "$work/first" || { echo "$compiler -std=$standard $order: other results"; cat "$work/out"; exit 1; }
            cp "$work/out" "$work/first"
            compiled=$((compiled + 1))
        done
    done
    for header in "$include"/mapi/*.h; do # each of ours with all others, and with the program's own error numbers
        printf '#include <mapi/functions.h>\n#include <mapi/%s>\n#include <mapi.h>\nint main(void) { return PKT_TS; }\n' "${header##*/}" >"$work/one.c"
        $compiler -std=gnu11 -Wall -Werror -I"$include" -I"$include/mapi" -fsyntax-only "$work/one.c"
    done
done
[ $compiled -gt 0 ]
cat "$work/first"
# Reference: lengths and destination ports by tshark.
tshark -r "$3" -T fields -e frame.len 2>/dev/null | sort -n | awk 'NR == 1 { least = $1 } { most = $1 } END { print NR, least, most }' >"$work/lengths"
head -1 "$work/first" | cmp - "$work/lengths"
tshark -r "$3" -T fields -e tcp.dstport 2>/dev/null | grep . | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2, $1 }' >"$work/port"
sed -n 3p "$work/first" | cut -d' ' -f1,2 | cmp - "$work/port"
