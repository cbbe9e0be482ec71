// SPDX-License-Identifier: MIT
// Library: state of libmapi in this process: its backend and its flows.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "client/backend.hpp"
#include "client/flow_table.hpp"

namespace mapi::client
{
class RemoteBackend;

class Library
{
public:
    // The mapid that MAPI_SOCKET names, or the standard one if it runs, or an engine in this
    // process.  If it has ended, it is looked for again.  Throws Error.
    std::shared_ptr<Backend> backend();

    FlowTable flows;

private:
    // Flows of a mapid that has ended: from now on each read checks the connection.
    void forsake_flows();

    std::mutex mutex_; // protects all members below
    std::shared_ptr<RemoteBackend> remote_;
    std::shared_ptr<Backend> local_;
};

// Created by the first call and never destroyed: packet threads may run until the process ends.
Library &library();
// Null before that.
extern constinit std::atomic<Library *> made_library [[gnu::visibility("hidden")]];

// As FlowTable::try_shortcut(); null before the first flow.
template <class Take>
auto try_shortcut(int fd, int fid, Take take)
    -> decltype(made_library.load()->flows.try_shortcut(fd, fid, take))
{
    Library *const library = made_library.load(std::memory_order_acquire);
    return library ? library->flows.try_shortcut(fd, fid, take) : nullptr;
}
} // namespace mapi::client
