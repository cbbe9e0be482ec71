# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# An apt with its own state, to be sourced by scripts: the system's packages and architectures are unchanged, and root is
# not required.

# private_apt_begin FOLDER ARCHITECTURE: creates the state and downloads the current lists
private_apt_begin()
{
    apt=$1 apt_architecture=$2
    apt_host=$(dpkg --print-architecture 2>/dev/null) || apt_host=
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/log"
    : >"$apt/status"
    private apt-get update
}

# private TOOL ARGUMENT...
private()
{
    tool=$1
    shift
    "$tool" -o APT::Architecture="$apt_architecture" -o APT::Architectures="$apt_architecture,$apt_host" -o Dir::State="$apt" \
        -o Dir::State::Lists="$apt/lists" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o Dir::Log="$apt/log" \
        -o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false "$@"
}
