#!/bin/sh
# SPDX-License-Identifier: MIT
# header_alone: every public header -> compiled as the only include, as strict C11, C17, C++17 and
# C++20, by gcc and clang; $1 include folders.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags='' checked=0
for folder in $(echo "$1" | tr : ' '); do flags="$flags -I$folder"; done
for compiler in gcc clang-14; do
    command -v "$compiler" >/dev/null || { echo "$compiler: not installed, skipped"; continue; }
    for folder in $(echo "$1" | tr : ' '); do
        for header in $(cd "$folder" && find . -name '*.h' | sed 's,^\./,,'); do
            if [ "$header" = nsprobe/bpf.h ] && ! echo '#include <bpf/libbpf.h>' | $compiler -E - >/dev/null 2>&1; then
                echo "$header: no libbpf, skipped"
                continue
            fi
            echo "#include <$header>" >"$work/one.c"
            for standard in c11 c17 c++17 c++20; do
                case $standard in c++*) language=c++ ;; *) language=c ;; esac
                # shellcheck disable=SC2086 # flags are words
                $compiler -x $language -std=$standard -Wall -Wextra -Werror -Wno-unused-function $flags \
                    -fsyntax-only "$work/one.c" || { echo "$header does not compile by itself: $compiler -std=$standard"; exit 1; }
                checked=$((checked + 1))
            done
        done
    done
done
echo "$checked compilations"
[ "$checked" -gt 0 ]
