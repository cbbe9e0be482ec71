#!/bin/sh
# SPDX-License-Identifier: MIT
# inside_probe: static library ($1) -> what the code inside a probe calls: nothing outside the library, not even what a compiler
# puts in by itself (__tls_get_addr may allocate, memcpy changes vector registers).
set -eu
found=$(nm -A -u "$1" | sed -n 's/^[^:]*:\([^:]*\): *[Uw] \(.*\)/\1 \2/p' |
    grep -E '^(emit|push|counters_read|thread_begin)\.c\.o ' |
    grep -vE ' (nsp_[a-z0-9_]*|_GLOBAL_OFFSET_TABLE_|__rseq_offset|__rseq_size)$' |
    grep -v '^thread_begin.c.o __errno_location$' || :) # where all registers are saved
[ -z "$found" ] || { echo "called inside a probe:"; echo "$found"; exit 1; }
[ "$(nm -A -u "$1" | grep -c ':emit\.c\.o:')" -gt 3 ] || { echo "$1 has no emit.c.o: nothing was looked at"; exit 1; }
