#!/bin/bash
# SPDX-License-Identifier: MIT
# Every program with an output place that cannot be written: the message names file, cause and
# remedy, and the place is unchanged.
set -u
if [[ ${1:-} != inside ]]; then # private mounts, which end with this process
    unshare -m true 2>/dev/null || { echo "skipped: no private mount namespace"; exit 77; }
    exec unshare -m --propagation private "$0" inside
fi
program=$NETSLICE_BUILD/tests/nsprobe_attachable
demo=$NETSLICE_SOURCE/mapi-core/apps/demo/demo.pcap
# LeakSanitizer misjudges where thread-local variables of a library that was loaded later (PAPI) are,
# and crashes when it reads them.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}intercept_tls_get_addr=0"
folder=$(mktemp -d)
trap 'cd /; umount "$folder"/places/*; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

mkdir -p places/full places/read-only
mount -t tmpfs -o size=64k tmpfs places/full || exit 77
dd if=/dev/zero of=places/full/filler bs=4k status=none 2>/dev/null
mount -t tmpfs -o size=64k,ro tmpfs places/read-only || exit 77
echo 'a file' >file

# place, regular expressions for cause and remedy
places='
places/read-only Read-only.file.system..*
places/full      No.space.left.on.device..free
places/absent    No.such.file.or.directory..(make|create)
file             Not.a.directory..*'

# program, its exit code, and its command line with OUT
programs="
nsdump      4 $NETSLICE_BIN/nsdump record --no-calibration -w OUT -- $program - 2000
nsdump      4 $NETSLICE_BIN/nsdump stats trace.nsl -o OUT
nsdump      4 $NETSLICE_BIN/nsdump export trace.nsl --what events -o OUT
nscalibrate 4 $NETSLICE_BIN/nscalibrate -q --batches 50 -w OUT
mapi-cost   3 $NETSLICE_BIN/mapi-cost -c 200 --no-instructions --no-thinning --scenario counter --write-csv OUT -r $demo
mapi-cost   3 $NETSLICE_BIN/mapi-cost -c 200 --no-instructions --no-thinning --scenario counter -w OUT -r $demo
mapi-cost   3 $NETSLICE_BIN/mapi-cost -c 200 --no-instructions --no-thinning --scenario counter -o OUT -r $demo
mapi-count  3 $NETSLICE_BIN/mapi-count -r $demo -o OUT
mapi-flow   3 $NETSLICE_BIN/mapi-flow -r $demo -o OUT PKT_COUNTER
"
# nsreport looks for gnuplot first
! command -v gnuplot >/dev/null || programs+="nsreport 6 $NETSLICE_BIN/nsreport -q trace.nsl -o OUT"

"$NETSLICE_BIN/nsdump" record -w trace.nsl -- "$program" - 2000 >said 2>err || { cat err; exit 1; }

check() { # code, place, words, command...
    local code=$1 place=$2 out=$2/out words=$3
    shift 3
    local before after got
    before=$(ls -A "$place" 2>&1)
    timeout 60 "${@/OUT/$out}" </dev/null >said 2>err
    got=$?
    after=$(ls -A "$place" 2>&1)
    [[ $got == "$code" ]] || { echo "FAIL $* in $out: ended with $got, not $code: $(<err)"; failed=1; }
    grep -qE "$out: .*$words" err || { echo "FAIL $* in $out: no '$words' in: $(<err)"; failed=1; }
    [[ $before == "$after" ]] || { echo "FAIL $* in $out: $place now contains $after"; failed=1; }
}

while read -r place words; do
    [[ -n $place ]] || continue
    while read -r name code command; do
        [[ -n $name ]] || continue
        # shellcheck disable=SC2086 # words of the table
        check "$code" "$place" "$words" $command
    done <<<"$programs"
done <<<"$places"
exit $failed
