#!/bin/sh
# SPDX-License-Identifier: MIT
# debug_kernel.sh FOLDER: Debian's source of Linux 6.1 with debug_kernel.config ->
# FOLDER/kernels/6.1-debug, a kernel with KASAN, lockdep and kmemleak for the module's tests.
# FOLDER is the one that fetch.sh amd64 fills. Does nothing if it exists already with the same
# source and configuration.  NETSLICE_JOBS: parallel jobs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: debug_kernel.sh FOLDER" >&2; exit 2; }
missing=
for tool in apt-get dpkg-deb make gcc flex bison bc xz; do
    command -v $tool >/dev/null || missing="$missing $tool"
done
[ -e /usr/include/gelf.h ] || missing="$missing libelf-dev"
[ -z "$missing" ] || { echo "debug_kernel: missing:$missing (install packages make gcc flex bison bc xz-utils libelf-dev)" >&2; exit 3; }
. "$here/private_apt.sh"
mkdir -p "$1/kernels"
folder=$(cd "$1" && pwd)
place=$folder/kernels/6.1-debug
private_apt_begin "$folder/apt-debug" amd64
version=$(private apt-cache show --no-all-versions linux-source-6.1 | sed -n 's/^Version: //p')
made_of="$version $(cksum <"$here/debug_kernel.config") $(gcc -dumpfullversion)"
if [ "$(cat "$place/made_of" 2>/dev/null)" = "$made_of" ]; then
    rm -rf "$folder/apt-debug"
    exit 0
fi

rm -rf "$place"
mkdir -p "$place/source"
(cd "$folder/apt-debug" && private apt-get download linux-source-6.1)
dpkg-deb --fsys-tarfile "$folder"/apt-debug/linux-source-6.1_*.deb | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
    tar -xJ -C "$place/source" --strip-components=1
rm -rf "$folder/apt-debug"

cd "$place/source"
compiler=gcc
! command -v ccache >/dev/null || compiler="ccache gcc"
scripts/kconfig/merge_config.sh -n "$here/debug_kernel.config" >"$place/merge.log"
# Fail if this kernel does not support a requested option, which would otherwise be dropped
# silently.
if grep -q 'not in final .config' "$place/merge.log"; then
    grep -A 2 'not in final .config' "$place/merge.log" >&2
    exit 1
fi
make -j "${NETSLICE_JOBS:-$(nproc)}" CC="$compiler" bzImage modules >"$place/build.log" 2>&1 || { tail -n 40 "$place/build.log" >&2; exit 1; }

# The same layout as fetch.sh uses for packaged kernels.  Of the tree, only the files to build
# modules are kept.
mkdir "$place/modules"
find . -name '*.ko' -exec cp {} "$place/modules/" \;
cp arch/x86/boot/bzImage "$place/vmlinuz"
find . -name '*.o' ! -path './tools/*' ! -path './scripts/*' -delete
find . -name '*.a' ! -path './tools/*' ! -path './scripts/*' -delete
rm -f vmlinux vmlinux.* arch/x86/boot/compressed/vmlinux*
ln -s source "$place/headers"
echo "$made_of" >"$place/made_of"
