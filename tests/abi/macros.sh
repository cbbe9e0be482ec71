#!/bin/sh
# SPDX-License-Identifier: MIT
# macros: probes in C, C++, templates, lambdas and inline functions -> built with the flags that
# users build with, run, and counted; $1 include folders, $2 folder of the library.
set -eu
here=$(dirname "$0")/macros
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
include='' built=0
for folder in $(echo "$1" | tr : ' '); do include="$include -I$folder"; done
export LD_LIBRARY_PATH="$2"

# try C-compiler C++-compiler C++-standard flags...
try() {
    cc=$1 cxx=$2 standard=$3
    shift 3
    command -v "$cc" >/dev/null || { echo "$cc: not installed, skipped"; return 0; }
    echo "$cc $standard $*"
    # shellcheck disable=SC2086 # include folders are words
    {
        $cc -std=c11 -Wall -Wextra -Werror -Wno-unused-command-line-argument "$@" $include -c "$here/work.c" -o "$work/work.o"
        for file in main one two; do
            $cxx -std=$standard -Wall -Wextra -Werror -Wno-unused-command-line-argument "$@" $include -c "$here/$file.cpp" -o "$work/$file.o"
        done
        $cxx -Wno-unused-command-line-argument "$@" "$work/main.o" "$work/one.o" "$work/two.o" "$work/work.o" -L"$LD_LIBRARY_PATH" -lnsprobe -o "$work/program"
    }
    "$work/program" "$work/t.nsl"
    built=$((built + 1))
}

# shellcheck disable=SC2086 # a pair is two words
for pair in "gcc g++" "clang-14 clang++-14"; do
    for standard in c++17 c++20; do
        try $pair $standard -O0
        try $pair $standard -O2
    done
    try $pair c++17 -O0 -fPIC
    try $pair c++17 -O3 -fPIC -fPIE -pie
    try $pair c++17 -O2 -fno-pie -no-pie
    try $pair c++17 -O0 -fno-pie -no-pie
    try $pair c++20 -Os -g -fno-omit-frame-pointer -fstack-protector-strong
    try $pair c++17 -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
done
try gcc g++ c++17 -O2 -flto
try gcc g++ c++17 -O2 -march=native -fcf-protection
echo "$built programs"
[ "$built" -gt 0 ]
