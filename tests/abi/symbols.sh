#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols: built library ($1) -> its exported symbols, compared with the list ($2).
set -eu
work=$NETSLICE_BUILD/$(basename "$2" .txt)
nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" {print $2, $3}' | sort >"$work.found"
grep -v '^#' "$2" | sort >"$work.expected"
diff "$work.expected" "$work.found" || {
    echo "left: $2, right: $1. A removed symbol raises SOVERSION; an added one goes into a new version node."
    exit 1
}
