// SPDX-License-Identifier: MIT
// Listener: a path in the file system -> the socket at which one mapid, and no other, waits for
// clients.
#pragma once

#include <string>

#include "ipc/descriptor.hpp"

namespace mapi::daemon
{
// Access to the socket; what a client may do is decided by its user and groups.
struct SocketAccess {
    unsigned mode = 0666;
    std::string group; // group of the socket; empty: that of the process
};

class Listener
{
public:
    // If several start at the same time, one of them gets the socket.  Throws std::runtime_error.
    explicit Listener(const std::string &path, const SocketAccess &access = {});
    // Removes the socket and the lock; the descriptor returned by take() need not be closed.
    ~Listener();
    Listener(const Listener &) = delete;
    Listener &operator=(const Listener &) = delete;

    ipc::Descriptor take() { return std::move(socket_); }

private:
    const std::string path_;
    ipc::Descriptor lock_; // of a file next to it
    ipc::Descriptor socket_;
};
} // namespace mapi::daemon
