#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols: built library ($1) -> its exported symbols, compared with the list ($2).
set -eu
nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" {print $2, $3}' | sort >"$NETSLICE_BUILD/symbols.found"
grep -v '^#' "$2" | sort >"$NETSLICE_BUILD/symbols.expected"
diff "$NETSLICE_BUILD/symbols.expected" "$NETSLICE_BUILD/symbols.found" || {
    echo "left: tests/abi/symbols.txt, right: $1. A removed symbol raises SOVERSION; an added one goes into a new version node."
    exit 1
}
