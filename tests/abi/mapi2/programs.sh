#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that use every name that MAPI 2 published compile, as old and new C and as C++, and read
# correct results, also with their own headers; $1 include folder, $2 library, $3 capture.
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -f "$3" ] || { echo "no capture $3"; exit 77; }
tshark -v >/dev/null 2>&1 || { echo "no tshark"; exit 77; }
export MAPI_SOCKET=none TZ=UTC
compiled=0

# build_and_run NAME: $compiler, $standard and $more -> builds and runs a program, whose output must
# be the same each time
build_and_run()
{
    case $standard in gnu++*) language=c++ ;; *) language=c ;; esac
    # shellcheck disable=SC2086 # flags are words
    $compiler -x $language -std=$standard -Wall -Wextra -Werror -Wno-cast-align -Wno-address-of-packed-member $more -I"$include" -I"$include/mapi" "$here/$1.c" \
        -x none -L"$library" -Wl,-rpath,"$library" -lmapi -o "$work/program" || { echo "$1: $compiler -std=$standard $more does not compile"; exit 1; }
    "$work/program" "$capture" >"$work/out" || { echo "$1: $compiler -std=$standard $more: exit $?"; exit 1; }
    [ -f "$work/$1" ] || cp "$work/out" "$work/$1"
    cmp -s "$work/out" "$work/$1" || { echo "$1: $compiler -std=$standard $more: other results"; diff "$work/out" "$work/$1" | head; exit 1; }
    compiled=$((compiled + 1))
}

mkdir "$work/include" # as installed
cp -r "$1/mapi" "$1/mapi2/mapi" "$work/include"
include=$work/include library=$2 capture=$3
for compiler in gcc clang-14; do
    command -v "$compiler" >/dev/null || { echo "$compiler: not installed, skipped"; continue; }
    for standard in gnu89 gnu99 gnu11 gnu17 gnu++11 gnu++17; do
        more=
        build_and_run names
        build_and_run flows_and_samples
        more=-DOWN
        build_and_run flows_and_samples
    done
    # Common names can be disabled, or used as scoped names.
    printf '#define MAPI_NO_ARGUMENT_TYPES\n#include <mapi.h>\ntypedef int INT;\ntypedef char CHAR;\nint main(void) { return (INT)(CHAR)0; }\n' |
        $compiler -x c -std=gnu11 -Wall -Werror -I"$include" -I"$include/mapi" -fsyntax-only -
    printf '#include <mapi/mapi.h>\nenum class Kind { INT, STRING, CHAR };\nint main() { return int(Kind::INT); }\n' |
        $compiler -x c++ -std=gnu++17 -Wall -Werror -I"$include" -fsyntax-only -
done
[ $compiled -gt 0 ]
echo "$compiled programs"

# Reference: tshark on the same packets.
fields()
{
    tshark -r "$capture" -T fields -E separator=/s "$@" 2>/dev/null
}
{
    fields -e frame.len | awk '{ ++n; bytes += $1 } END { print n, bytes }'
    { fields -Y tcp -e ip.src -e tcp.srcport -e ip.dst -e tcp.dstport -e ip.ttl -e ip.flags.df -e tcp.flags | head -1; } |
        while read -r source from destination to ttl df flags; do echo "$source:$from > $destination:$to ttl $ttl df $df flags $((flags & 63))"; done
    fields -Y tcp -e frame.len | awk 'NR == 1 { least = $1 } { ++n; sum += $1; squares += $1 * $1; if ($1 < least) least = $1; if ($1 > most) most = $1 }
        END { printf "%d %d %d %d %d\n", n, least, most, sum, squares }'
    fields -Y tcp -e ip.src | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2, $1 }'
} >"$work/wanted"
diff "$work/wanted" "$work/names"

# HASHSAMP keeps every packet of TCP and UDP: in the capture's order, NTP seconds since 1900.
fields -Y 'ip && (tcp || udp) && !icmp' -e frame.time_epoch -e ip.src -e ip.dst -e ip.proto -e tcp.srcport -e udp.srcport -e tcp.dstport -e udp.dstport -e tcp.seq_raw \
    -e tcp.flags.fin -e tcp.flags.syn -e tcp.flags.reset -e tcp.flags.push -e tcp.flags.ack |
    awk '{ printf "sample %.0f %s %d %s %d %d %.0f %d%d%d%d%d\n", int($1) + 2208988800, $2, $5, $3, $6, $4, $7, $8, $9, $10, $11, $12 }' >"$work/wanted"
grep ^sample "$work/flows_and_samples" | diff "$work/wanted" - | head -5 >"$work/differences"
[ ! -s "$work/differences" ] || { cat "$work/differences"; exit 1; }
[ -s "$work/wanted" ]

# A direction of a conversation may have consisted of several flows.
fields -Y 'ip && (tcp || udp) && !icmp' -e frame.len -e ip.src -e ip.dst -e ip.proto -e tcp.srcport -e udp.srcport -e tcp.dstport -e udp.dstport |
    awk '{ flow = $2 " " $5 " " $3 " " $6 " " $4; ++packets[flow]; bytes[flow] += $1 } END { for (flow in packets) print flow, packets[flow], bytes[flow] }' | sort >"$work/wanted"
awk '$1 == "flow" && ($6 == 6 || $6 == 17) { flow = $2 " " $3 " " $4 " " $5 " " $6; packets[flow] += $7; bytes[flow] += $8 } END { for (flow in packets) print flow, packets[flow], bytes[flow] }' \
    "$work/flows_and_samples" | sort | diff "$work/wanted" - | head -5 >"$work/differences"
[ ! -s "$work/differences" ] || { cat "$work/differences"; exit 1; }
wc -l <"$work/wanted"
