#!/bin/bash
# SPDX-License-Identifier: MIT
# empty_system: installed prefix -> /usr/local of a tree that otherwise contains only the C library;
# programs built by README's commands run there after README's `ldconfig`, or with the library's
# path. $1 prefix, $2 compiler, $3 output of `cmake --install`.
set -u
prefix=$1 cc=$2 message=$3
tests=$NETSLICE_SOURCE/tests/install
failed=0
fail() { echo "FAIL $*"; failed=1; }

# As root, or as root of a user namespace.
if [[ $(id -u) != 0 && -z ${NETSLICE_IN_NAMESPACE-} ]]; then
    unshare -Ur true 2>/dev/null || { echo "skipped: neither root nor user namespaces"; exit 77; }
    NETSLICE_IN_NAMESPACE=1 exec unshare -Ur "$0" "$@"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chroot / true 2>/dev/null || { echo "skipped: chroot is not allowed"; exit 77; }

# add TREE FILE...: copies files into the tree, in the same place; links are followed.
add() {
    local tree=$1 file target
    shift
    for file; do
        target=$tree$(dirname "$file")
        mkdir -p "$target"
        [[ -e $target/$(basename "$file") ]] || cp -L "$file" "$target/"
    done
}
libraries_of() { LD_LIBRARY_PATH=$prefix/lib ldd "$@" 2>/dev/null | sed -n 's/.*\(=> \|^\t\)\(\/[^ ]*\) (.*/\2/p' | grep -v "^$prefix/" | sort -u; }

# new_tree PLACE: the C library, ldconfig, Debian's loader settings, and the prefix under PLACE.
new_tree() {
    tree=$(mktemp -d "$work/tree.XXXX")
    mkdir -p "$tree$1" "$tree/etc/ld.so.conf.d" "$tree/tmp" "$tree/sbin" "$tree/dev"
    cp -a "$prefix/." "$tree$1/"
    # shellcheck disable=SC2046 # words
    add "$tree" $(libraries_of "$prefix"/lib/libnsprobe.so)
    cp -L /sbin/ldconfig "$tree/sbin/"
    printf 'include /etc/ld.so.conf.d/*.conf\n' >"$tree/etc/ld.so.conf"
    printf '/usr/local/lib\n' >"$tree/etc/ld.so.conf.d/libc.conf"
    printf '/lib/%s-linux-gnu\n/usr/lib/%s-linux-gnu\n' "$(uname -m)" "$(uname -m)" >"$tree/etc/ld.so.conf.d/multiarch.conf"
}
flags() { PKG_CONFIG_PATH=$tree$1/lib/pkgconfig pkg-config "${@:2}"; }
# build NAME SOURCE FLAGS...: a program for the tree.
build() { "$cc" -O2 -o "$tree/$1" "$tests/$2" "${@:3}" || fail "$1: cannot be built"; }
inside() { env -i PATH=/usr/local/bin:/usr/bin:/bin:/sbin "${variables[@]}" chroot "$tree" "$@"; }
# misses LIBRARY PROGRAM...: the loader does not find the library.
misses() {
    inside "${@:2}" >"$work/said" 2>&1 && fail "$2: runs although the loader cannot know $1: the tree is not empty"
    grep -q "$1: cannot open shared object file" "$work/said" || fail "$2: misses something other than $1: $(<"$work/said")"
}
runs() { inside "$@" >"$work/said" 2>&1 || fail "$1 does not run: $(<"$work/said")"; }
variables=()

# What README says to do; the rest of this test follows it.
grep -qE '^cmake --install build/release --prefix /usr/local' "$NETSLICE_SOURCE/README.md" || fail "README does not install into /usr/local"
grep -qE '^ldconfig( |$)' "$NETSLICE_SOURCE/README.md" || fail "README does not name ldconfig"
# shellcheck disable=SC2016 # as README has it
grep -qF 'cc app.c $(pkg-config --cflags --libs nsprobe)' "$NETSLICE_SOURCE/README.md" || fail "README does not build by pkg-config"
grep -q "run .ldconfig. as root" "$message" || fail "cmake --install does not name ldconfig: $(tail -3 "$message")"
grep -qF -- "-Wl,-rpath,$prefix/lib" "$message" || fail "cmake --install does not name the libraries' path: $(tail -3 "$message")"

new_tree /usr/local
# shellcheck disable=SC2046 # flags are words
build app find_package/batch.c $(flags /usr/local --cflags --libs nsprobe)
misses libnsprobe.so.0 /app output=/tmp/app.nsl
runs ldconfig
runs /app output=/tmp/app.nsl
[[ $(head -c 8 "$tree/tmp/app.nsl") == NSLTRACE ]] || fail "app has written no trace"
# shellcheck disable=SC2046
build wholly_static find_package/batch.c -static $(flags /usr/local --static --cflags --libs nsprobe) 2>/dev/null

# libmapi requires packages other than the C library: only theirs are added.
# shellcheck disable=SC2046
add "$tree" $(libraries_of "$prefix/lib/libmapi.so" "$prefix/bin/nsdump")
rm -f "$tree/etc/ld.so.cache"
cp "$NETSLICE_SOURCE/mapi-core/apps/demo/demo.pcap" "$tree/tmp/"
# shellcheck disable=SC2046
build count pkg_config/count.c $(flags /usr/local --cflags --libs mapi)
misses libmapi.so.0 /count /tmp/demo.pcap
runs ldconfig
runs /count /tmp/demo.pcap
[[ $(<"$work/said") == 4827 ]] || fail "libmapi counts $(<"$work/said") packets in the demo capture"
# shellcheck disable=SC2046
build plain find_package/plain.c $(flags /usr/local --cflags --libs nsprobe)
runs nsdump record -w /tmp/record.nsl -- /plain # the installed programs, unchanged
runs nsdump check /tmp/record.nsl

# A folder that the loader does not search.
new_tree /opt/netslice
# shellcheck disable=SC2046
build app find_package/batch.c $(flags /opt/netslice --cflags --libs nsprobe)
runs ldconfig
misses libnsprobe.so.0 /app output=/tmp/app.nsl
variables=(LD_LIBRARY_PATH=/opt/netslice/lib)
runs /app output=/tmp/app.nsl
variables=()
# shellcheck disable=SC2046
build app_with_path find_package/batch.c $(flags /opt/netslice --cflags --libs nsprobe) -Wl,-rpath,/opt/netslice/lib
runs /app_with_path output=/tmp/path.nsl

# Without the C library.
static=$(echo "$work"/tree.*/wholly_static)
tree=$(mktemp -d "$work/bare.XXXX")
mkdir "$tree/tmp"
cp "$static" "$tree/"
runs /wholly_static output=/tmp/static.nsl
[[ $(head -c 8 "$tree/tmp/static.nsl") == NSLTRACE ]] || fail "a fully static program has written no trace"
exit $failed
