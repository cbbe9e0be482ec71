// SPDX-License-Identifier: MIT
// Policy: who may use which device, and how much of everything one client may have.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

namespace mapi::daemon
{
// So many clients fill what mapid may have open, if each has as many files open as one may.
constexpr size_t kClientsThatFillFiles = 8;
constexpr size_t kUsersThatFillFiles = 4; // so many users, with all their clients

struct Limits {
    size_t clients = 256;
    size_t flows = 1024;          // of a client
    size_t functions = 16384;     // of a client
    size_t files = 8192;          // of a client, open in mapid: captures, what is written, what its program polls
    size_t memory_bytes = size_t(256) << 20; // of a client, for results and packets
    size_t function_bytes = size_t(2048) << 20; // of a client, beside that: what its functions could need, its captures hold, and its flows and options take
    size_t user_bytes = size_t(8192) << 20;     // of all clients of a user, both together
    size_t user_files = 16384;                  // the same of files, and connections
};

// As the kernel tells, never as the client says.
struct Peer {
    pid_t pid = 0;
    uid_t uid = 0;
    std::vector<gid_t> groups; // the first is its own
};

// Throws std::runtime_error.
Peer peer_of(int socket);

// Root, and the user that mapid runs as.
bool is_operator(const Peer &peer);

// own: the device's group, which may be empty.
bool may_use(const Peer &peer, const std::string &own, const std::string &standard);

// Members of the group and root may.  An empty name: everybody.
bool is_member(const Peer &peer, const std::string &group);
} // namespace mapi::daemon
