#!/bin/sh
# SPDX-License-Identifier: MIT
# build_packages.sh WORK OUTPUT: this tree, as it is, copied into WORK -> Debian packages in OUTPUT.  The same tree gives
# the same bytes in any folder, at any time, with any umask: times are that of the last commit.
set -eu
[ $# = 2 ] || { echo "usage: debian/build_packages.sh WORK OUTPUT" >&2; exit 2; }
tree=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1" "$2"
work=$(cd "$1" && pwd) output=$(cd "$2" && pwd)

# The version of CMake's project is that of all parts.
version=$(sed -n 's/^project(netslice VERSION \([0-9.]*\) .*/\1/p' "$tree/CMakeLists.txt")
packaged=$(dpkg-parsechangelog -l "$tree/debian/changelog" -S Version)
[ "$packaged" = "$version" ] || {
    echo "build_packages: debian/changelog has version $packaged, CMakeLists.txt $version: add an entry to debian/changelog" >&2
    exit 1
}

# files: what belongs to the tree, with what is not committed yet; without git, all but build folders
files()
{
    git ls-files -z --cached --others --exclude-standard 2>/dev/null ||
        find . -name build -prune -o -name '.git' -prune -o -type f -print0
}

rm -rf "$work/netslice-$version"
mkdir "$work/netslice-$version"
cd "$tree"
files | tar --create --null --verbatim-files-from --files-from=- | tar --extract --directory="$work/netslice-$version"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || dpkg-parsechangelog -S Timestamp)}
export SOURCE_DATE_EPOCH

cd "$work/netslice-$version"
rm -f ../*.deb ../*.changes ../*.buildinfo
dpkg-buildpackage --build=binary --no-sign --jobs="${NETSLICE_JOBS:-$(nproc)}"
rm -f "$output"/*.deb "$output"/*.changes "$output"/*.buildinfo
mv ../*.deb ../*.changes ../*.buildinfo "$output/"
