// SPDX-License-Identifier: MIT
// Policy: access to devices.
#include "daemon/session/policy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <sys/socket.h>
#include <unistd.h>

#include "engine/packet_path/group_number.hpp"

namespace mapi::daemon
{
Peer peer_of(int socket)
{
    ucred credentials = {};
    socklen_t bytes = sizeof(credentials);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) < 0)
        throw std::runtime_error(std::string("cannot read the peer's credentials: ") +
                                 strerror(errno));
    Peer peer{credentials.pid, credentials.uid, {credentials.gid}};
    std::vector<gid_t> more(64);
    bytes = socklen_t(more.size() * sizeof(gid_t));
    int status = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, more.data(), &bytes);
    if (status < 0 && errno == ERANGE) {
        more.resize(bytes / sizeof(gid_t));
        status = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, more.data(), &bytes);
    }
    if (status < 0) // only its primary group
        bytes = 0;
    peer.groups.insert(peer.groups.end(), more.begin(), more.begin() + bytes / sizeof(gid_t));
    return peer;
}

bool is_operator(const Peer &peer)
{
    return peer.uid == 0 || peer.uid == geteuid();
}

bool may_use(const Peer &peer, const std::string &own, const std::string &standard)
{
    return is_operator(peer) || is_member(peer, own.empty() ? standard : own);
}

bool is_member(const Peer &peer, const std::string &group)
{
    if (group.empty() || peer.uid == 0)
        return true;
    const std::optional<gid_t> number = engine::group_number(group);
    return number &&
           std::find(peer.groups.begin(), peer.groups.end(), *number) != peer.groups.end();
}
} // namespace mapi::daemon
