// SPDX-License-Identifier: MIT
// Listener: a place in the file system -> the socket at which one mapid, and no other, waits for clients.
#pragma once

#include <string>

#include "ipc/descriptor.hpp"

namespace mapi::daemon
{
// Who may connect; what a client may do is decided by its user and groups.
struct SocketAccess {
    unsigned mode = 0666;
    std::string group; // that the socket is given to; empty: it stays the process's
};

class Listener
{
public:
    // Of those who begin at the same time one gets it.  Throws std::runtime_error.
    explicit Listener(const std::string &path, const SocketAccess &access = {});
    // Removes the socket and the lock; what it gave out by take() need not be closed.
    ~Listener();
    Listener(const Listener &) = delete;
    Listener &operator=(const Listener &) = delete;

    ipc::Descriptor take() { return std::move(socket_); }

private:
    const std::string path_;
    ipc::Descriptor lock_; // of a file beside it
    ipc::Descriptor socket_;
};
} // namespace mapi::daemon
