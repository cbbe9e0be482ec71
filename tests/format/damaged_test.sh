#!/bin/bash
# SPDX-License-Identifier: MIT
# Damaged traces -> the exit code, the message and the number of readable records given in
# damaged/cases.txt.
set -u
nsdump=$NETSLICE_BIN/nsdump
folder=$NETSLICE_SOURCE/tests/format/damaged
failed=0

fail() {
    echo "FAIL $*"
    failed=1
}

trim() {
    local text=$1
    text=${text#"${text%%[![:space:]]*}"}
    echo "${text%"${text##*[![:space:]]}"}"
}

cases=0
while IFS='|' read -r file code records message; do
    file=$(trim "$file") code=$(trim "$code") records=$(trim "$records") message=$(trim "$message")
    [[ -z $file || $file == \#* ]] && continue
    cases=$((cases + 1))
    said=$("$nsdump" check "$folder/$file" 2>&1)
    got=$?
    [[ $got == "$code" ]] || fail "$file: check ended with $got, not $code"
    [[ $said == *"$message"* ]] || fail "$file: check does not say '$message' but: $said"
    [[ $said == *"$file"* ]] || fail "$file: check does not name the file"
    [[ $records == - || $said == *" $records records can be read"* ]] || fail "$file: not $records records: $said"
    # Only check compares records with headers; the other commands use what the chunk contains, but
    # the number in its header is one side of the loss equation, which then does not hold for them
    # either.
    for command in "stats" "show" "export --what events" "export --what slices" "export --what stats --format json"; do
        # shellcheck disable=SC2086 # words
        "$nsdump" $command "$folder/$file" >/dev/null 2>&1
        got=$?
        [[ $got == "$code" ]] || fail "$file: $command ended with $got, not $code"
    done
done <"$folder/cases.txt"
[[ $cases == 14 ]] || fail "$cases cases instead of 14"
exit $failed
