#!/bin/bash
# SPDX-License-Identifier: MIT
# nsdump record from a user's point of view: what it refuses before a program runs, what it keeps of
# older files, how it ends.
set -u
. "$NETSLICE_SOURCE/tests/flow/waiting.sh"
nsdump=$NETSLICE_BIN/nsdump
program=$NETSLICE_BUILD/tests/nsprobe_attachable # units until SIGTERM, or as many as requested
[[ -x $program ]] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
quick=(--no-calibration)

fail() { echo "FAIL $*"; failed=1; }
expect() { # exit code, what is tested, command...
    local code=$1 what=$2
    shift 2
    timeout 60 "$@" >out 2>err
    local got=$?
    [[ $got == "$code" ]] || fail "$what: ended with $got, not $code: $(<err)"
}
contains() { grep -qF -- "$1" "$2" || fail "no '$1' in: $(head -c 1000 "$2")"; }
is_whole() { "$nsdump" check -q "$1" || fail "$2: the trace is not whole: $("$nsdump" check "$1" 2>&1)"; }
has_not_run() { [[ ! -s out ]] || fail "$1: the program ran"; }
child_of() { local pids; read -r pids <"/proc/$1/task/$1/children"; echo "${pids%% *}"; }
# The output of the run before must not be taken for that of the next one, which starts in the background.
no_output() { rm -f out err; }

# What cannot be recorded is refused before the program runs, and an older trace is kept.
expect 0 "a program" "$nsdump" record "${quick[@]}" -w t.nsl -- "$program" - 100
is_whole t.nsl "a program"
contains "400 records of 400 issued" err
cp t.nsl old.nsl
expect 0 "slices that are not selected" "$nsdump" record "${quick[@]}" --slices 'no*,!work' -w s.nsl -- "$program" - 100
contains "200 records of 200 issued" err
contains 'warning: slices: no slice or mark matches "no*"; available: work' err
[[ $(grep -c warning err) == 1 ]] || fail "a pattern that matches is reported: $(<err)"
no_output
"$nsdump" record "${quick[@]}" --control -w c.nsl -- "$program" - >out 2>err &
recorder=$!
wait_for 60 grep -qs ready out || fail "a program under --control does not start"
expect 0 "control with patterns that match nothing" "$nsdump" control --pid "$(child_of $recorder)" --slices 'no*,kernel:irq,work'
[[ $(<err) == 'nsdump: warning: slices: no slice or mark matches "no*"; available: work' ]] || fail "control with a pattern without a match: $(<err)"
expect 0 "control of a program under --control" "$nsdump" control --pid "$(child_of $recorder)" --slices '!work'
[[ ! -s err ]] || fail "control with a pattern that matches warns: $(<err)"
# shellcheck disable=SC2317 # called by wait_for
shown() { "$nsdump" show --slice "$1" c.nsl 2>/dev/null | wc -l; }
# shellcheck disable=SC2317 # the same
has_units_without_work() { (($(shown work) + 10 < $(shown unit))); }
wait_for 60 has_units_without_work || fail "control changed nothing"
kill "$(child_of $recorder)"
wait $recorder
expect 3 "control of a program that accepts none" "$nsdump" control --pid $$ --slices work
contains "process $$: does not accept control requests: " err
NETSLICE='output=text.nsl calibration=no slices=no*,!work' expect 0 "slices of a session of NETSLICE" "$program" - 100
is_whole text.nsl "slices of a session of NETSLICE"
[[ $(<err) == 'netslice: slices: no slice or mark matches "no*"; available: work' ]] || fail "a pattern of NETSLICE without a match: $(<err)"
NETSLICE='output=text.nsl calibration=no slices=w*' expect 0 "slices that all match" "$program" - 100
[[ ! -s err ]] || fail "a pattern of NETSLICE with a match is reported: $(<err)"
true &
wait $!
expect 3 "control of a process that has ended" "$nsdump" control --pid $! --slices work
contains "nsdump: process $!: No such process" err
expect 2 "an empty pattern" "$nsdump" record --slices work, -w s.nsl -- "$program" - 10
contains 'slices=work,: a pattern is missing after the last comma' err
expect 0 "statistics of selected slices" "$nsdump" stats --all s.nsl
contains 'slices: no slice or mark matches "no*"; available: work' out
expect 2 "an unknown counter" "$nsdump" record --counters bogus -w t.nsl -- "$program" - 10
contains 'unknown counter "bogus"' err
has_not_run "an unknown counter"
expect 2 "a counter named twice" "$nsdump" record --counters instructions,instructions -w t.nsl -- "$program" - 10
has_not_run "a counter named twice"
expect 2 "an invalid ring size" "$nsdump" record --ring 5000 -w t.nsl -- "$program" - 10
contains '--ring: "5000" is not a power of two from 4K to 8G' err
expect 2 "a ring that is too large" "$nsdump" record --ring 16G -w t.nsl -- "$program" - 10
contains '--ring: "16G" is not a power of two from 4K to 8G' err
expect 2 "no ring" "$nsdump" record --ring 0 -w t.nsl -- "$program" - 10
expect 2 "an invalid duration" "$nsdump" record -d nan -w t.nsl -- "$program" - 10
expect 2 "no program" "$nsdump" record -w t.nsl
expect 2 "standard output" "$nsdump" record -w - -- "$program" - 10
refused() { # message, options...
    expect 2 "nsdump record ${*:2}" "$nsdump" record "${@:2}" -w t.nsl -- "$program" - 10
    contains "nsdump: $1 (see nsdump record --help)" err
    has_not_run "${*:2}"
}
refused "--pid cannot be combined with a program" --pid 1
refused "--source requires --counters" --source step
refused "--step-every requires --counters" --step-every 2
refused "--counters cannot be combined with --source none" --counters instructions --source none
refused "--step-every requires --source step" --counters instructions --source rdpmc --step-every 2
refused "--quiet cannot be combined with --verbose" -q -v
refused "--kernel-own requires --kernel" --kernel-own
for option in "--kernel-counters cycles" "--kernel-ring 1M" "--port 80"; do
    # shellcheck disable=SC2086 # an option and its value
    refused "${option%% *} requires --kernel or --function" $option
done
expect 2 "an option of the program without --" "$nsdump" record -w t.nsl "$program" -r demo.pcap
contains 'nsdump: unknown option "-r" (put -- before the program: nsdump record -- PROGRAM ...)' err
expect 3 "a missing program" "$nsdump" record -w t.nsl -- ./no-such-program
contains "./no-such-program: cannot start: No such file or directory (check the name)" err
expect 3 "a program without a name" "$nsdump" record -w t.nsl -- ""
contains '"": cannot start: No such file or directory (check the name)' err
expect 3 "a folder as program" "$nsdump" record -w t.nsl -- ./
contains './: is a directory (specify a program in it)' err
expect 3 "a missing process" "$nsdump" record -w t.nsl --pid 4194303
expect 1 "a program without probes" "$nsdump" record -w t.nsl -- /bin/true
contains "t.nsl is unchanged" err
GLIBC_TUNABLES=glibc.pthread.rseq=0 expect 3 "rseq rings without rseq" "$nsdump" record --kind rseq -w t.nsl -- "$program" - 10
has_not_run "rseq rings without rseq"
if [[ ! -d /sys/bus/event_source/devices/cpu ]]; then
    expect 3 "a counter that this machine has not" "$nsdump" record --counters cycles -w t.nsl -- "$program" - 10
    has_not_run "a counter that this machine has not"
fi
cmp -s t.nsl old.nsl || fail "a refused recording has changed the older trace"
expect 1 "a program without probes and a new file" "$nsdump" record -w new.nsl -- /bin/true
contains "no file was created" err
[[ ! -e new.nsl ]] || fail "a recording without a program has left a file"

# What was recorded, and how.
expect 0 "a verbose recording" "$nsdump" record "${quick[@]}" -v --ring 64K -w v.nsl -- "$program" - 100
contains "v.nsl: recording process " err
contains "with rings of 64 KiB per CPU" err
contains "1 process has taken part" err
contains "65536 bytes per CPU, when full: discard" err
contains "v.nsl: counters: none" err
contains "v.nsl: calibrations: 0 at the start, 0 at the end" err
grep -qE "v.nsl: cpu [0-9]+: [0-9]+ records? in " err || fail "no records of a CPU in: $(<err)"

# A program whose thread ids are those of its container is reported: after exec(), and in a child of
# fork().
if unshare -Urpf true 2>/dev/null; then
    expect 0 "a program in a pid namespace" "$nsdump" record "${quick[@]}" -w inside.nsl -- unshare -Urpf "$program" - 10
    expect 0 "a child in a pid namespace" "$nsdump" record "${quick[@]}" -w child.nsl -- "$program" - 10 child-namespace
    for trace in inside.nsl child.nsl; do
        "$nsdump" stats --format json $trace >info 2>/dev/null
        grep -qE '"program.pid_namespace": "[0-9]+"' info || fail "$trace: a program in a pid namespace is not reported"
    done
fi
"$nsdump" stats --format json t.nsl >info 2>/dev/null
if [[ $(stat -Lc %i /proc/self/ns/pid) == 4026531836 ]] && grep -q pid_namespace info; then
    fail "a program in the initial pid namespace is reported to be in another one"
fi

# Only a trace is overwritten by a trace.
cp "$program" app
expect 4 "the program as its own trace" "$nsdump" record -w app -- ./app - 10
contains "app: exists and is not a trace" err
cmp -s app "$program" || fail "the program was overwritten"
expect 4 "a folder" "$nsdump" record -w "$folder" -- "$program" - 10
expect 4 "a folder that is not there" "$nsdump" record -w no/t.nsl -- "$program" - 10

expect 2 "standard output under another name" "$nsdump" record -w out -- "$program" - 10

# The environment applies to the programs that are recorded, not to those of the toolkit.
for words in "check -q t.nsl" "stats t.nsl" --version; do
    # shellcheck disable=SC2086 # words
    NETSLICE=output=t.nsl expect 0 "nsdump $words with NETSLICE set" "$nsdump" $words
done
cmp -s t.nsl old.nsl || fail "nsdump has opened a session on the trace that it reads"

# What a program may do to the session's memory, and how few descriptors it may have.
expect 1 "a program that cuts the session's memory" "$nsdump" record -w cut.nsl -- \
    python3 -c 'import os; os.ftruncate(int(os.environ["NETSLICE_SESSION_FD"]), 0)'
contains "Operation not permitted" err
(ulimit -n 32 && exec "$nsdump" record "${quick[@]}" -w few.nsl -- "$program" - 100) >out 2>err || fail "32 descriptors: $(<err)"
is_whole few.nsl "32 descriptors"

# A trace file that is also the program's output would be corrupted, and one that is removed
# meanwhile is not reported as written.
NETSLICE="output=/dev/stdout calibration=no" "$program" - 50 >so 2>err || fail "a session on standard output ended its program"
contains "is the program's standard output or error" err
"$nsdump" record "${quick[@]}" -w removed.nsl -- "$program" - >out 2>err &
pid=$!
wait_for 60 test -s removed.nsl || fail "nothing was recorded: $(<err)"
rm removed.nsl
kill -INT $pid
wait $pid
got=$?
[[ $got == 4 ]] || fail "a trace that was removed ended the recorder with $got: $(<err)"
contains "removed.nsl: was removed, renamed" err

# The user's choice takes precedence over the program's.
NETSLICE="output=wish.nsl calibration=no" "$program" output=own.nsl 10 >out 2>err || fail "NETSLICE together with NET_SLICE_CONF: $(<err)"
[[ ! -s err && ! -e own.nsl ]] || fail "the program's session in addition to that of NETSLICE: $(<err)"
is_whole wish.nsl "NETSLICE"

# A reader that closes its end costs records, not the program.
mkfifo gone
exec 9<>gone # never waits for the other end
NETSLICE="output=gone calibration=no" "$program" - 20000 9<&- >out 2>err &
pid=$!
timeout 20 head -c 100 <&9 >/dev/null || fail "nothing was read from the pipe: $(<err)"
exec 9<&-
sleep 0.3
kill -TERM $pid
wait $pid || fail "a session whose pipe lost its reader ended its program with $?"
contains "Broken pipe" err

# Full media.
if [[ -e /dev/full ]]; then
    issued=0
    for ((try = 0; try < 20 && issued == 0; ++try)); do # a program may be asked to end before its first record
        expect 4 "a full disk" "$nsdump" record "${quick[@]}" -w /dev/full -- "$program" - 100
        contains "No space left on device (free some space there" err
        issued=$(sed -n 's/.*: 0 records of \([0-9]*\) issued.*/\1/p' err)
    done
    lost=$(sed -n 's/.* \([0-9]*\) records lost: file could not be written/\1/p' err)
    [[ $issued -gt 0 && $issued == "$lost" ]] || fail "a full disk: $(<err)"
fi
(ulimit -f 64 && exec "$nsdump" record "${quick[@]}" -w limited.nsl -- "$program" - 20000) >out 2>err
[[ $? == 3 ]] || fail "rings beyond the limit of file sizes: $(<err)"
contains "ulimit -f" err
(ulimit -f 80000 && exec "$nsdump" record "${quick[@]}" -w /dev/null -- "$program" - 100) >out 2>err ||
    fail "a limit that is not reached: $(<err)"
(ulimit -f 64 && NETSLICE="output=own.nsl ring=4K calibration=no" exec "$program" - 10) >out 2>err ||
    fail "a limit of file sizes has ended a program: $(<err)"

# Every signal that asks it to end leaves a complete trace.
for signal in INT TERM HUP; do
    "$nsdump" record "${quick[@]}" -w "$signal.nsl" -- "$program" - >out 2>err &
    pid=$!
    wait_for 60 test -s "$signal.nsl" || fail "SIG$signal: nothing was recorded"
    program_pid=$(child_of $pid)
    kill -$signal $pid
    kill -$signal $pid # the terminal and a shell may send it twice
    wait $pid
    got=$?
    [[ $got == 130 ]] || fail "SIG$signal ended the recorder with $got: $(<err)"
    is_whole "$signal.nsl" "SIG$signal"
    wait_for 60 has_ended "$program_pid" || fail "SIG$signal has left process $program_pid behind"
done
for seconds in 0.3 3 30; do # it may have ended before the program's first probe
    timeout 60 "$nsdump" record "${quick[@]}" -d $seconds -w d.nsl -- "$program" - >out 2>err
    got=$?
    grep -q "no process had taken part" err || break
done
[[ $got == 0 ]] || fail "a duration: ended with $got: $(<err)"
is_whole d.nsl "a duration"
"$nsdump" record "${quick[@]}" -w killed.nsl -- "$program" - >out 2>err &
pid=$!
wait_for 60 test -s killed.nsl
kill -KILL "$(child_of $pid)"
wait $pid
[[ $? == 137 ]] || fail "a killed program: $(<err)"
is_whole killed.nsl "a killed program"

# A pipe: waits for its reader, responds to Ctrl-C meanwhile, and delivers the trace.
mkfifo pipe
no_output
"$nsdump" record "${quick[@]}" -w pipe -- "$program" - 100 >out 2>err &
pid=$!
wait_for 60 grep -qs "waiting for a reader" err || fail "the missing reader is not reported"
kill -INT $pid
wait $pid
[[ $? == 130 ]] || fail "a pipe without reader and Ctrl-C: $(<err)"
"$nsdump" record "${quick[@]}" -w pipe -- "$program" - 100 >out 2>err &
pid=$!
cat pipe >piped.nsl
wait $pid || fail "a pipe: $(<err)"
is_whole piped.nsl "a pipe"

# Two recorders, one process.
NETSLICE=attach=yes "$program" - >program.out 2>&1 &
program_pid=$!
wait_for 60 grep -qs ready program.out
"$nsdump" record "${quick[@]}" -w first.nsl --pid $program_pid >out 2>err.first &
pid=$!
wait_for 60 test -s first.nsl || fail "attaching: $(<err.first)"
expect 3 "a second recorder" "$nsdump" record "${quick[@]}" -w second.nsl --pid $program_pid
contains "already being recorded" err
kill -TERM $program_pid
wait $program_pid
wait $pid || fail "the end of the recorded process: $(<err.first)"
is_whole first.nsl "an attached process that ends"
exit $failed
