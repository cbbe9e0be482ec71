# SPDX-License-Identifier: MIT
# An apt with a state of its own, for scripts to read in: the system's packages and architectures stay as they are, and no
# right of root is needed.

# private_apt_begin FOLDER ARCHITECTURE: its state, and lists as they are now
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
