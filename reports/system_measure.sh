#!/bin/sh
# SPDX-License-Identifier: MIT
# system_measure ROUNDS SECONDS "SIZES" "VARIANTS": TCP over loopback in each variant of the system, in turns -> output of the
# tools between lines that begin with "== ".  For any POSIX shell, including busybox; run and read by nsreport --system.
#
# Environment: NSMOD_LOAD         command that loads the module, default "modprobe nsmod"
#              NETSLICE_RECORDER  called with GROUPS FILE, records the kernel until SIGTERM; default nsdump
# nsmod is unloaded only if this script loaded it.
set -u
rounds=$1 seconds=$2 sizes=$3 variants=$4
groups=net_rx,net_tx,irq,softirq
address=127.0.0.1 round_trip_port=${NSREPORT_PORT:-21811}
throughput_port=$((round_trip_port + 1))
round_trip_most_bytes=65507 # sockperf's own limit
work=$(mktemp -d) loaded_here='' recorder='' servers=''

say() { printf '== %s\n' "$*"; }
one_line() { tr -s '\n\t ' ' ' | cut -c 1-300; }
is_loaded() { grep -q '^nsmod ' /proc/modules 2>/dev/null; }

load()
{
    ${NSMOD_LOAD:-modprobe nsmod} && loaded_here=yes
}

unload()
{
    [ -n "$loaded_here" ] || return 0
    for _ in 1 2 3 4 5 6 7 8 9 10; do # its last reader may still be closing
        rmmod nsmod 2>"$work/rmmod" && { loaded_here=; return 0; }
        sleep 0.3
    done
    say "fault rmmod nsmod: $(one_line <"$work/rmmod")"
    loaded_here=
}

# The only place that knows how to record the kernel.
record_kernel()
{
    if [ -n "${NETSLICE_RECORDER:-}" ]; then exec "$NETSLICE_RECORDER" "$1" "$2"; fi
    exec nsdump kernel "$1" -w "$2"
}

start_recording()
{
    (record_kernel "$groups" "$work/trace.nsl") </dev/null >"$work/recorder" 2>&1 &
    recorder=$!
    sleep 0.5
    kill -0 "$recorder" 2>/dev/null && return
    recorder=
    return 1
}

stop_recording()
{
    [ -n "$recorder" ] || return 0
    kill "$recorder" 2>/dev/null # not SIGINT, which background jobs of a shell ignore
    wait "$recorder" 2>/dev/null
    recorder=
    say "recorded $(wc -c <"$work/trace.nsl" 2>/dev/null || echo 0) bytes"
    rm -f "$work/trace.nsl"
}

start_servers()
{
    servers=
    if command -v sockperf >/dev/null; then
        sockperf server --tcp -i $address -p "$round_trip_port" >/dev/null 2>&1 &
        servers="$servers $!"
    fi
    if command -v iperf3 >/dev/null; then
        iperf3 -s -B $address -p "$throughput_port" >/dev/null 2>&1 &
        servers="$servers $!"
    fi
    sleep 0.5
}

stop_servers()
{
    for server in $servers; do
        kill "$server" 2>/dev/null
        wait "$server" 2>/dev/null
    done
    servers=
}

leave()
{
    stop_servers
    stop_recording
    unload
    rm -rf "$work"
}
trap leave EXIT
trap 'exit 130' INT TERM HUP
trap '' PIPE # without a reader the module must still be unloaded

# drop VARIANT REASON: do not measure the variant.
drop()
{
    say "missing $*"
    variants=$(for one in $variants; do [ "$one" = "$1" ] || printf '%s ' "$one"; done)
}

wants() { case " $variants " in *" $1 "*) true ;; *) false ;; esac; }

# Drops the variants that are unavailable on this machine, with the reason.
drop_what_cannot_be()
{
    why=
    if is_loaded; then
        ! wants without || drop without "nsmod was already loaded and is not unloaded; run rmmod nsmod first to measure this variant"
    elif ! wants idle && ! wants recording; then
        return
    elif [ ! -e /proc/modules ]; then
        why="this kernel has no loadable modules"
    elif [ "$(id -u)" != 0 ]; then
        why="nsmod is not loaded, and loading it requires root"
    elif ! load 2>"$work/load"; then
        why="nsmod cannot be loaded: $(one_line <"$work/load")"
    fi
    if [ -n "$why" ]; then
        ! wants idle || drop idle "$why"
        ! wants recording || drop recording "$why"
    elif wants recording; then
        # Groups differ by kernel and module: add the TCP send path where available.
        ! nsdump kernel --list 2>/dev/null | grep -qw tcp_send || groups=$groups,tcp_send
        start_recording || drop recording "the kernel cannot be recorded: $(one_line <"$work/recorder")"
        stop_recording
        unload
    fi
}

# enter VARIANT: prints a fault and returns false if the machine could not be put into it; nothing is measured then.
enter()
{
    case $1 in
    without) ! is_loaded || { say "fault nsmod could not be unloaded"; return 1; } ;;
    *) is_loaded || load || { say "fault nsmod was not loaded"; return 1; } ;;
    esac
    [ "$1" != recording ] || start_recording || { say "fault no recorder: $(one_line <"$work/recorder")"; return 1; }
}

measure()
{
    start_servers
    for size in $sizes; do
        if command -v sockperf >/dev/null; then
            bytes=$((size < round_trip_most_bytes ? size : round_trip_most_bytes))
            say "round_trip $1 $bytes $2"
            timeout $((seconds + 30)) sockperf ping-pong --tcp --full-rtt -i $address -p "$round_trip_port" -m "$bytes" -t "$seconds" 2>&1
        fi
        if command -v iperf3 >/dev/null; then
            say "throughput $1 $size $2"
            timeout $((seconds + 30)) iperf3 -c $address -p "$throughput_port" -l "$size" -t "$seconds" -J 2>&1
        fi
    done
    stop_servers
}

say "results netslice-system-1"
say "kernel $(uname -srm)"
say "cpu $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(grep -c '^processor' /proc/cpuinfo) CPUs"
say "seconds $seconds"
for tool in sockperf iperf3; do
    command -v $tool >/dev/null || say "lacking $tool"
done
drop_what_cannot_be
say "groups $groups"
round=1
while [ "$round" -le "$rounds" ]; do
    for variant in $variants; do
        ! enter "$variant" || measure "$variant" "$round"
        stop_recording
        unload
    done
    round=$((round + 1))
done
say "end"
