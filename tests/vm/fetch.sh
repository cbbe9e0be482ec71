#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch.sh ARCHITECTURE FOLDER: Debian packages of packages_ARCHITECTURE.txt -> FOLDER/sysroot and
# FOLDER/kernels/VERSION. Uses an apt with its own state, so the system's packages and architectures
# are unchanged and root is not required. Does nothing if everything is there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
{ [ $# = 2 ] && [ -e "$here/packages_$1.txt" ]; } || { echo "usage: fetch.sh amd64|arm64 FOLDER" >&2; exit 2; }
architecture=$1
. "$here/private_apt.sh"
host=$(dpkg --print-architecture 2>/dev/null) || host=
for tool in apt-get apt-cache dpkg dpkg-deb; do
    command -v $tool >/dev/null || { echo "fetch: $tool is missing (guests consist of Debian packages)" >&2; exit 3; }
done
mkdir -p "$2"
folder=$(cd "$2" && pwd)
wanted=$(grep -v '^#' "$here/packages_$architecture.txt")
if [ "$(cat "$folder/made_of" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

private_apt_begin "$folder/apt" "$architecture"
private apt-get autoclean # older versions left by an interrupted run

# The dependencies of a package.
depends() { private apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$1" | sed -n 's/^ *Depends: //p'; }

# kernel VERSION IMAGE: the image without the tools that install it, and what is needed to build
# modules for it on this machine.
fetch_kernel()
{
    place=$folder/kernels/$1
    release=$(depends "$2" | sed -n 's/^linux-image-//p')
    [ -n "$release" ] || { echo "fetch: $2 depends on no kernel image" >&2; exit 1; }
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
    # The packages' makefile contains its path on an installed system.
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
# Redirect absolute links between libraries into this system root.
find "$folder/sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$folder/sysroot$(readlink "$link")" "$link"
done
rm -rf "$apt"
printf '%s\n' "$wanted" >"$folder/made_of"
