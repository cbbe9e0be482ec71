// SPDX-License-Identifier: MIT
// Library: what libmapi keeps for the process: who captures for it, and its flows.
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
    // The mapid that MAPI_SOCKET names, or the standard one where it runs, or an engine in this process.  One that is gone is looked for
    // again.  Throws Error.
    std::shared_ptr<Backend> backend();

    FlowTable flows;

private:
    // Those of a mapid that is gone: they ask for it whenever they are read.
    void forsake_flows();

    std::mutex mutex_; // all below
    std::shared_ptr<RemoteBackend> remote_;
    std::shared_ptr<Backend> local_;
};

// Made by the first call and never destroyed: packet threads may run until the process is gone.
Library &library();
// Null before that.
extern constinit std::atomic<Library *> made_library [[gnu::visibility("hidden")]];
} // namespace mapi::client
