#!/bin/bash
# SPDX-License-Identifier: MIT
# nsdump from a user's point of view: help, exit codes, pipes, output files, interrupts.
set -u
nsdump=$NETSLICE_BIN/nsdump
make_trace=$NETSLICE_BUILD/tests/make_trace
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
trace=$folder/t.nsl

expect() { # exit code, what is tested, command...
    local code=$1 what=$2
    shift 2
    "$@" >"$folder/out" 2>"$folder/err"
    local got=$?
    [[ $got == "$code" ]] || { echo "FAIL $what: ended with $got, not $code: $(<"$folder/err")"; failed=1; }
}
expect_full() {
    "${@:3}" >/dev/full 2>"$folder/err"
    local got=$?
    [[ $got == "$1" ]] || { echo "FAIL $2: ended with $got, not $1"; failed=1; }
}
contains() {
    grep -qF -- "$1" "$folder/$2" || { echo "FAIL no '$1' in: $(head -c 1000 "$folder/$2")"; failed=1; }
}

"$make_trace" "$trace" --records 20000 --counters 2 --migrate-every 50

expect 0 "help" "$nsdump" --help
contains "Exit codes:" out
contains "nsdump stats trace.nsl" out
expect 0 "version" "$nsdump" --version
contains "nsdump " out
expect 2 "no command" "$nsdump"
expect 2 "unknown option" "$nsdump" stats "$trace" --nonsense
expect 2 "unknown export" "$nsdump" export "$trace" --what nonsense
expect 2 "a trace without a name" "$nsdump" show ''
contains "nsdump: trace: is empty (give a name)" err
expect 3 "an empty standard input" "$nsdump" stats - </dev/null
contains "nsdump: standard input: the file is empty" err
expect 2 "-r without a trace" "$nsdump" show -r
contains "nsdump: --read requires a value (see nsdump show --help)" err
expect 2 "a flag with a value" "$nsdump" stats --json=foo "$trace"
contains "nsdump: --json takes no value (see nsdump stats --help)" err
expect 2 "a counter pattern that matches nothing" "$nsdump" counters no-such-counter
contains 'nsdump: pattern "no-such-counter": matches no counter' err
[[ ! -s $folder/out ]] || { echo "FAIL counters: prints although nothing matches"; failed=1; }
for command in show stats explain export check; do
    expect 0 "help of $command" "$nsdump" "$command" --help
    contains "nsdump $command " out
    contains "  2    invalid usage" out
done
# Options that would have no effect.
refused() { # message, arguments...
    expect 2 "nsdump ${*:2}" "$nsdump" "${@:2}"
    contains "nsdump: $1 (see nsdump $2 --help)" err
}
refused "--count cannot be combined with --what stats" export "$trace" --what stats -c 3
refused "--unit cannot be combined with --what stats" export "$trace" --unit 3
refused "--calibration cannot be combined with --what events, which are raw" export "$trace" --what events --calibration c.json
refused "--output cannot be combined with --quiet" check "$trace" -q -o "$folder/unused"
refused "--session cannot be combined with --list" snapshot --list --session 1
refused "--pid cannot be combined with --list" snapshot --list -p 1
refused "--write cannot be combined with --list" snapshot --list -w s.nsl
refused "--output requires --list" snapshot -o s.txt
refused "--pid cannot be combined with --session" snapshot --session 1 -p 1
refused "groups, --preset or --list is required" kernel
refused "groups cannot be combined with --list" kernel --list irq
refused "groups cannot be combined with --preset" kernel irq --preset tcp-send
for option in "--preset tcp-send" "--write k.nsl" "--pid 1" "--clock fast" "--duration 1" \
    "--kernel-counters cycles" "--kernel-ring 1M" "--port 80"; do
    # shellcheck disable=SC2086 # an option and its value
    refused "${option%% *} cannot be combined with --list" kernel --list $option
done
refused "--output requires --list or --preset" kernel irq -o k.txt
refused "--format requires --list or --preset" kernel irq --format text
refused "--json requires --list or --preset" kernel irq --json
expect 3 "no file" "$nsdump" stats "$folder/none.nsl"
contains "none.nsl: cannot open: No such file or directory (check the name" err
expect 3 "a folder" "$nsdump" show "$folder"
contains ": is a directory (specify a file in it)" err
expect 2 "a limit that is not a number" "$nsdump" show "$trace" -c few
contains '--count: "few" is not a number (see nsdump show --help)' err
expect 3 "a file that is not a calibration" "$nsdump" stats "$trace" --calibration "$trace"
contains "t.nsl: not a calibration: invalid JSON at byte 1 (create one with nscalibrate)" err
echo '{"schema": "netslice-calibration-1", "clock": []}' >"$folder/odd.json"
expect 3 "a calibration with wrong types" "$nsdump" stats "$trace" --calibration "$folder/odd.json"
contains "odd.json: not a calibration: a value is missing or has the wrong type" err
calibration() { # name, changes as JSON
    printf '{"schema":"netslice-calibration-1","context":{"cpu":"Other"},"clock":{"hz":%s},"trusted":%s,"probes":[{"macro":"START+STOP","inner_ticks":%s,"outer_ticks":%s}]}' \
        "$2" "$3" "$4" "$5" >"$folder/$1.json"
}
calibration no_hz 0 true 1 2
calibration negative 1e9 true -500 -500
calibration doubtful 1e9 false 1 2
expect 3 "a calibration without a clock" "$nsdump" stats "$trace" --calibration "$folder/no_hz.json"
contains "no_hz.json: not a calibration: clock.hz is 0" err
expect 3 "a calibration of probes with negative costs" "$nsdump" stats "$trace" --calibration "$folder/negative.json"
contains "negative.json: not a calibration: START+STOP costs -500 ticks" err
expect 2 "an unknown command" "$nsdump" bogus "$trace"
contains 'unknown command "bogus"; available: record, control, kernel, snapshot, top, show, stats, explain, export, diff, gate, check' err
expect 2 "an unknown option before a command" "$nsdump" --bogus
contains 'unknown option "--bogus"' err
expect 2 "a command with control characters" "$nsdump" $'a\e[31mb'
! grep -q $'\e' "$folder/err" || { echo "FAIL control characters reach the terminal"; failed=1; }
for option in --calibration --slice -o; do
    expect 2 "an empty $option" "$nsdump" export "$trace" $option ''
    contains "is empty (give a value" err
done

expect 0 "check" "$nsdump" check "$trace"
contains "every one accounted for" out
expect 0 "stats" "$nsdump" stats --all "$trace"
contains "INSTRUCTIONS: instructions" out
contains "migrated 8" out
expect 0 "explain" "$nsdump" explain "$trace" receive
contains "own reads   23.00" out
contains "thinned     none: the trace has no epochs" out
expect 0 "explain as JSON" "$nsdump" explain "$trace" receive --json
contains '"schema": "netslice-explain-1"' out
expect 2 "explain an unknown slice" "$nsdump" explain "$trace" nobody
contains 't.nsl: no program slice "nobody" with times; available: receive, ' err
expect 2 "explain a mark" "$nsdump" explain "$trace" queue_length
expect 2 "explain without a slice" "$nsdump" explain "$trace"
expect 3 "explain without a file" "$nsdump" explain "$folder/none.nsl" receive

expect 0 "show with a limit" "$nsdump" show "$trace" -c 5
[[ $(wc -l <"$folder/out") == 6 ]] || { echo "FAIL show -c 5 shows $(wc -l <"$folder/out") lines"; failed=1; }
expect 0 "show one thread's slice" "$nsdump" show "$trace" --thread 1001 --cpu 1 --slice lookup
[[ $(grep -vc ' 1001 .*lookup' "$folder/out") == 1 ]] || { echo "FAIL show filters"; failed=1; }

expect 0 "export one unit" "$nsdump" export "$trace" --what slices --unit 3
[[ $(cut -d, -f5 "$folder/out" | sort -u | tr '\n' ' ') == "3 unit_number " ]] || { echo "FAIL --unit"; failed=1; }
expect 0 "export one slice" "$nsdump" export "$trace" --what events --slice queue_length --format json
[[ $(grep -c . "$folder/out") == $(grep -c '"kind":"MARK"' "$folder/out") ]] || { echo "FAIL --slice"; failed=1; }
for what in events slices stats; do
    expect 2 "$what of an unknown slice" "$nsdump" export "$trace" --what $what --slice nobody
    contains 't.nsl: unknown name "nobody"; available: ' err
    contains 'lookup' err
done
expect 2 "an unknown slice to show" "$nsdump" show "$trace" --slice nobody
expect 2 "a CPU to show that is not there" "$nsdump" show "$trace" --cpu 99
contains "t.nsl: no records of CPU 99; available: 0, 1" err
expect 0 "export to a file" "$nsdump" export "$trace" --what slices -o "$folder/slices.csv"
"$nsdump" export "$trace" --what slices | cmp - "$folder/slices.csv" || failed=1
! compgen -G "$folder/*part*" >/dev/null || { echo "FAIL a part is left behind"; failed=1; }
expect 4 "an output folder that is not there" "$nsdump" export "$trace" -o "$folder/no/out"
contains "no/out: cannot write: No such file or directory (create its folder first" err
if [[ -e /dev/full ]]; then
    expect 4 "a full disk" "$nsdump" export "$trace" --what events -o /dev/full
    contains "/dev/full: cannot write: No space left on device (free some space" err
fi

[[ ! -e /dev/full ]] || expect_full 4 "help to a full disk" "$nsdump" --help

# Standard error closed or full: the same exit codes.
expect_mute() {
    local code=$1 got
    shift
    "$@" >/dev/null 2>&-
    got=$?
    [[ $got == "$code" ]] || { echo "FAIL without standard error: $* ended with $got, not $code"; failed=1; }
    [[ -e /dev/full ]] || return
    "$@" >/dev/null 2>/dev/full
    got=$?
    [[ $got == "$code" ]] || { echo "FAIL with standard error full: $* ended with $got, not $code"; failed=1; }
}
expect_mute 3 "$nsdump" stats "$folder/none.nsl"
expect_mute 0 "$nsdump" stats "$trace"
expect_mute 4 "$nsdump" stats "$trace" -o "$folder/no/out"

# Input files are not overwritten.
cp "$trace" "$folder/own.nsl"
expect 2 "the trace as output" "$nsdump" stats "$folder/own.nsl" -o "$folder/own.nsl"
cmp -s "$trace" "$folder/own.nsl" || { echo "FAIL the trace was overwritten"; failed=1; }
echo '{}' >"$folder/cal.json"
expect 2 "the calibration as output" "$nsdump" stats "$trace" --calibration "$folder/cal.json" -o "$folder/cal.json"
[[ $(<"$folder/cal.json") == '{}' ]] || { echo "FAIL the calibration was overwritten"; failed=1; }

# The reader of a pipe closes it: no message, and no error.
"$nsdump" export "$trace" --what events 2>"$folder/err" | head -1 >/dev/null
[[ ${PIPESTATUS[0]} == 0 && ! -s $folder/err ]] || { echo "FAIL a closed pipe: $(<"$folder/err")"; failed=1; }

# Ctrl-C: what was read so far is printed, in complete lines, and the exit code shows the interrupt.
mkfifo "$folder/fifo"
"$nsdump" export "$trace" --what events -o "$folder/fifo" 2>"$folder/err" &
pid=$!
exec 3<"$folder/fifo"
read -r _ <&3
kill -INT $pid
cat <&3 >"$folder/rest"
exec 3<&-
wait $pid
got=$?
[[ $got == 130 ]] || { echo "FAIL interrupted export ended with $got"; failed=1; }
[[ -z $(tail -c 1 "$folder/rest" | tr -d '\n') ]] || { echo "FAIL interrupted inside a line"; failed=1; }
exit $failed
