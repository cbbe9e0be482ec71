#!/bin/sh
# SPDX-License-Identifier: MIT
# nsreport_trace_test: make_trace -> trace -> the real nsdump -> nsreport -> complete report; damage
# gives exit code 1, garbage 3.
set -eu
make_trace=${NETSLICE_BUILD:?}/tests/make_trace
nsreport=${NETSLICE_BIN:?}/nsreport
{ [ -x "$make_trace" ] && [ -x "$NETSLICE_BIN/nsdump" ]; } || { echo "skipped: make_trace or nsdump is not built"; exit 77; }
command -v gnuplot >/dev/null || { echo "skipped: gnuplot is not installed"; exit 77; }
unset NSDUMP || true
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

"$make_trace" "$work/t.nsl" --records 20000 --cpus 2 --counters 1 --migrate-every 50 --chunk-bytes 4096 >/dev/null
"$nsreport" "$work/t.nsl" -o "$work/report" -q || fail "a complete trace ended with $?"
for name in function_cost latency_hist latency_cdf timeline overhead loss; do
  for kind in png svg; do
    [ -s "$work/report/$name.$kind" ] || fail "$name.$kind is missing"
  done
done
count=$("$NETSLICE_BIN/nsdump" export "$work/t.nsl" --what stats --format json 2>/dev/null | python3 -c '
import json, sys
print(format(json.load(sys.stdin)["slices"][0]["count"], ","))')
grep -q ">$count<" "$work/report/index.html" || fail "the page does not have the first slice's count $count"

bytes=$(wc -c <"$work/t.nsl")
head -c $((bytes * 3 / 4)) "$work/t.nsl" >"$work/cut.nsl"
status=0
"$nsreport" "$work/cut.nsl" -o "$work/cut" 2>"$work/said" || status=$?
[ $status -eq 1 ] || fail "a truncated trace ended with $status, not 1: $(cat "$work/said")"
grep -q "cut.nsl: incomplete: .*no footer" "$work/said" || fail "a truncated trace is not named with its cause: $(cat "$work/said")"
grep -q 'class="incomplete"' "$work/cut/index.html" || fail "the page of a truncated trace does not say so"
! grep -qF '\n' "$work/said" "$work/cut/index.html" || fail "a line break appears as two characters"

# A trace without calibration: no net cost, so no report unless one is given.
"$make_trace" "$work/raw.nsl" --records 2000 --no-calibration >/dev/null
status=0
"$nsreport" "$work/raw.nsl" -o "$work/raw" 2>"$work/said" || status=$?
[ $status -eq 3 ] || fail "a trace without calibration ended with $status, not 3: $(cat "$work/said")"
grep -q "raw.nsl: has raw figures only.*nscalibrate -w FILE" "$work/said" || fail "no remedy: $(cat "$work/said")"
"$NETSLICE_BIN/nscalibrate" -q --batches 50 -w "$work/c.json" >"$work/said" 2>&1 || [ $? -eq 1 ] || fail "nscalibrate: $(cat "$work/said")"
"$nsreport" "$work/raw.nsl" -o "$work/raw" -q --calibration "$work/c.json" || fail "a trace with another calibration ended with $?"

head -c 5000 /dev/urandom >"$work/garbage.nsl"
status=0
"$nsreport" "$work/garbage.nsl" -o "$work/garbage" 2>"$work/said" || status=$?
[ $status -eq 3 ] || fail "garbage ended with $status, not 3: $(cat "$work/said")"
[ ! -e "$work/garbage" ] || fail "garbage left a report"
[ -z "$(find "$work" -name '.*.part-*')" ] || fail "a work folder was left behind"

# Each command in an error message works as written.
printf '{"schema":"other-1"}' >"$work/other.json"
"$nsreport" "$work/other.json" -o "$work/other" 2>"$work/said" && fail "another schema was accepted"
text=$(cat "$work/said")
# shellcheck disable=SC2016 # backquotes of the message
grep -qF '`nsdump stats TRACE --json -o FILE`' "$work/said" || fail "no command for stats JSON in: $text"
# shellcheck disable=SC2016 # backquotes of the message
grep -qF '`mapi-cost -r CAPTURE -w FILE`' "$work/said" || fail "no command for a cost run in: $text"
"$NETSLICE_BIN/nsdump" stats "$work/t.nsl" --json -o "$work/stats.json" || fail "the command for stats JSON ended with $?"
"$nsreport" "$work/stats.json" -o "$work/stats" -q || fail "stats JSON ended with $?"
if [ -x "$NETSLICE_BIN/mapi-cost" ]; then
  capture=$(dirname "$0")/../../mapi-core/apps/demo/demo.pcap
  "$NETSLICE_BIN/mapi-cost" -w "$work/cost.json" -r "$capture" --scenario counter -c 1000 --no-instructions --no-thinning >/dev/null || fail "mapi-cost ended with $?"
  "$nsreport" "$work/cost.json" -o "$work/cost" -q || fail "a cost run ended with $?"
fi
echo ok
