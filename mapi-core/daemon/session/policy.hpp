// SPDX-License-Identifier: MIT
// Policy: access to devices, and limits of clients.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

namespace mapi::daemon
{
// Number of clients that exhaust mapid's open files if each has as many files open as it may.
constexpr size_t kClientsThatFillFiles = 8;
constexpr size_t kUsersThatFillFiles = 4; // the same for users, with all their clients

struct Limits {
    size_t clients = 256;
    size_t flows = 32768;      // of a client
    size_t functions = 262144; // of a client
    // of a client, open in mapid: captures, output files, poll descriptors
    size_t files = 8192;
    size_t memory_bytes = size_t(256) << 20; // of a client, for results and packets
    // of a client, in addition: what its functions could need, its captures hold, and its flows and
    // options take
    size_t function_bytes = size_t(4096) << 20;
    size_t user_bytes = size_t(8192) << 20; // of all clients of a user, both together
    size_t user_files = 16384;              // the same for files, and connections
};

// Credentials as reported by the kernel, never as claimed by the client.
struct Peer {
    pid_t pid = 0;
    uid_t uid = 0;
    std::vector<gid_t> groups; // the first is its primary group
};

// Throws std::runtime_error.
Peer peer_of(int socket);

// Root, and the user that mapid runs as.
bool is_operator(const Peer &peer);

// own: the device's group, which may be empty.
bool may_use(const Peer &peer, const std::string &own, const std::string &standard);

// Whether the peer is root or a member of the group.  An empty name: every user is.
bool is_member(const Peer &peer, const std::string &group);
} // namespace mapi::daemon
