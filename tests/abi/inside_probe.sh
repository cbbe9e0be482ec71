#!/bin/sh
# SPDX-License-Identifier: MIT
# inside_probe: static library ($1) and the sources that run inside a probe ($2...) -> what these
# call: only each other and the architecture's assembly, not even functions that a compiler inserts
# (__tls_get_addr may allocate, memcpy changes vector registers).
set -eu
library=$1; shift
symbols=$(nm -A "$library" | sed 's/^[^:]*:\([^:]*\): *\([0-9a-f]* \)\{0,1\}\(.\) \(.*\)/\1 \3 \4/') # member, kind, name
members=
for source in "$@"; do
    member=$(basename "$source").o
    echo "$symbols" | grep -q "^$member T " || { echo "$library has no $member that defines a function"; exit 1; }
    members="$members $member"
done
echo "$symbols" | awk -v inside="$members" '
    BEGIN { split(inside, list, " "); for (i in list) is_inside[list[i]] = 1 }
    $2 ~ /[TtWV]/ && (is_inside[$1] || $1 ~ /^arch_.*\.S\.o$/) { may_use[$3] = 1 }
    $2 ~ /[BbDdRrC]/ { may_use[$3] = 1 } # any data
    $2 == "U" && is_inside[$1] { used[$1 " " $3] = $3 }
    END {
        for (u in used) {
            name = used[u]
            if (may_use[name] || name == "_GLOBAL_OFFSET_TABLE_" || name ~ /^__rseq_(offset|size)$/)
                continue
            if (u == "thread_begin.c.o __errno_location" || u == "counters_papi_read.c.o nsp_papi_read_now")
                continue # where all registers are saved
            print "called inside a probe: " u
            failed = 1
        }
        exit failed
    }'
