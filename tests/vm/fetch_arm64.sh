#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch_arm64.sh FOLDER: Debian's arm64 packages -> FOLDER/sysroot and FOLDER/kernel.  By an apt with a state of its own: the
# system's packages and architectures stay as they are, and no right of root is needed.  Does nothing when all is there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: fetch_arm64.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
for tool in apt-get dpkg-deb; do
    command -v $tool >/dev/null || { echo "fetch_arm64: $tool is missing; arm64 guests are made of Debian packages" >&2; exit 3; }
done
wanted=$(grep -v '^#' "$here/packages_arm64.txt")
if [ "$(cat "$folder/made_of" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

apt=$folder/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/log"
: >"$apt/status"
private_apt()
{
    apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt" -o Dir::State::Lists="$apt/lists" \
        -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o Dir::Log="$apt/log" -o Debug::NoLocking=1 \
        -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false "$@"
}
private_apt update
private_apt autoclean # what an interrupted run has left of older versions
# shellcheck disable=SC2086 # the list is words
private_apt install -y --download-only $wanted

rm -rf "$folder/sysroot" "$folder/kernel" "$folder/made_of"
mkdir "$folder/sysroot" "$folder/kernel"
for package in "$apt"/cache/archives/*.deb; do
    case $package in
    */linux-image-[0-9]*) dpkg-deb -x "$package" "$folder/kernel" ;;
    *) dpkg-deb -x "$package" "$folder/sysroot" ;;
    esac
done
(cd "$folder/kernel/boot" && ln -sf vmlinuz-* vmlinuz)
rm -rf "$apt"
printf '%s\n' "$wanted" >"$folder/made_of"
