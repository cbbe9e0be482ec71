#!/bin/sh
# SPDX-License-Identifier: MIT
# kernel_refused: the installed module source with unsupported kernels -> one sentence each, no
# compiler run; $1 prefix, $2 work folder.
set -eu
source=$(echo "$1"/src/nsmod-*) work=$2
rm -rf "$work"

# headers NAME RELEASE CONFIG...: the parts of a kernel's headers that are checked; nothing can be
# compiled with them.
headers()
{
    mkdir -p "$work/$1/include/config"
    printf 'modules:\n\t@echo compiled\n' >"$work/$1/Makefile"
    echo "$2" >"$work/$1/include/config/kernel.release"
    place=$work/$1
    shift 2
    for option; do echo "CONFIG_$option=y"; done >"$place/.config"
}

# refuses NAME WORDS: make fails with an error that begins with these words and is short.
refuses()
{
    if said=$(make -s -C "$source" KERNEL=6.1.0-none KDIR="$work/$1" 2>&1); then
        echo "$1: make did not stop: $said"
        exit 1
    fi
    case $said in "nsmod: $2"*) ;; *) echo "$1: not 'nsmod: $2' but: $said"; exit 1 ;; esac
    [ "$(echo "$said" | wc -l)" -le 3 ] || { echo "$1: too many errors: $said"; exit 1; }
}

needed="MODULES TRACEPOINTS SHMEM PERF_EVENTS"

# with_all NAME RELEASE ARCHITECTURE: headers with all that is needed
with_all()
{
    # shellcheck disable=SC2086 # words
    headers "$1" "$2" $needed "$3"
}

with_all good 6.1.0-test X86_64
[ "$(make -s -C "$source" KDIR="$work/good")" = compiled ] || { echo "a supported kernel is refused"; exit 1; }
refuses nowhere "$work/nowhere: kernel headers not found (install them, on Debian with apt install linux-headers-6.1.0-none,"
with_all old 6.0.19-test X86_64
refuses old "kernel 6.0.19-test is too old: 6.1 or newer is required"
with_all ancient 5.10.0-30-amd64 X86_64
refuses ancient "kernel 5.10.0-30-amd64 is too old"
for lacking in $needed; do
    # shellcheck disable=SC2046 # words
    headers "$lacking" 6.12.0-test $(echo "$needed" | sed "s/$lacking//") X86_64
    refuses "$lacking" "$work/$lacking: kernel built without CONFIG_$lacking"
done
with_all riscv 6.12.0-test RISCV
refuses riscv "unsupported architecture"
