#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch.sh ARCHITECTURE FOLDER: Debian's packages of packages_ARCHITECTURE.txt -> FOLDER/sysroot and FOLDER/kernels/VERSION.
# By an apt with a state of its own: the system's packages and architectures stay as they are, and no right of root is
# needed.  Does nothing when all is there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 2 ] && [ -e "$here/packages_$1.txt" ] || { echo "usage: fetch.sh amd64|arm64 FOLDER" >&2; exit 2; }
architecture=$1
. "$here/private_apt.sh"
host=$(dpkg --print-architecture 2>/dev/null) || host=
for tool in apt-get apt-cache dpkg dpkg-deb; do
    command -v $tool >/dev/null || { echo "fetch: $tool is missing; guests are made of Debian packages" >&2; exit 3; }
done
mkdir -p "$2"
folder=$(cd "$2" && pwd)
wanted=$(grep -v '^#' "$here/packages_$architecture.txt")
if [ "$(cat "$folder/made_of" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

private_apt_begin "$folder/apt" "$architecture"
private apt-get autoclean # what an interrupted run has left of older versions

# What a package that only stands for others depends on, and what stands for nothing else.
depends() { private apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$1" | sed -n 's/^ *Depends: //p'; }

# kernel VERSION IMAGE: the image without the tools that install it, and what builds modules for it on this machine.
fetch_kernel()
{
    place=$folder/kernels/$1
    release=$(depends "$2" | sed -n 's/^linux-image-//p')
    [ -n "$release" ] || { echo "fetch: $2 stands for no kernel" >&2; exit 1; }
    rm -rf "$place"
    mkdir -p "$place/packages"
    headers=linux-headers-$release
    common=$(depends "$headers:$architecture" | grep '^linux-headers-.*-common')
    kbuild=$(depends "$headers:$architecture" | grep -o '^linux-kbuild-[^:]*')
    (cd "$place/packages" &&
        private apt-get download "linux-image-$release:$architecture" "$headers:$architecture" "$common" "$kbuild:$host")
    for package in "$place"/packages/*.deb; do
        dpkg-deb -x "$package" "$place"
    done
    rm -rf "$place/packages"
    ln -s "boot/vmlinuz-$release" "$place/vmlinuz"
    ln -s "usr/src/$headers" "$place/headers"
    ln -s "$([ -d "$place/lib/modules" ] && echo lib || echo usr/lib)/modules/$release" "$place/modules"
    # The packages' makefile names its place on an installed system.
    echo "include $place/usr/src/$common/Makefile" >"$place/headers/Makefile"
}

rm -rf "$folder/sysroot" "$folder/kernels" "$folder/made_of"
mkdir "$folder/sysroot" "$folder/kernels"
printf '%s\n' "$wanted" | sed -n 's/^kernel //p' | while read -r version image; do
    fetch_kernel "$version" "$image"
done
# shellcheck disable=SC2046 # the list is words
private apt-get install -y --download-only $(printf '%s\n' "$wanted" | grep -v '^kernel ')
for package in "$apt"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$folder/sysroot"
done
# A library's link into the root of the system that it is for is to lead into this one's.
find "$folder/sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$folder/sysroot$(readlink "$link")" "$link"
done
rm -rf "$apt"
printf '%s\n' "$wanted" >"$folder/made_of"
