// SPDX-License-Identifier: MIT
// Library: selects the backend of this process.
#include "client/library.hpp"

#include <cstdlib>
#include <string>

#include <pthread.h>

#include "client/local_backend.hpp"
#include "client/remote/remote_backend.hpp"
#include "engine/config/config_file.hpp"
#include "engine/error.hpp"
#include "ipc/run_time.hpp"

namespace mapi::client
{
namespace
{
constexpr const char *kInProcess = "none"; // as MAPI_SOCKET

std::string absence(const std::string &path)
{
    const std::string remedy =
        std::string("set MAPI_SOCKET=") + kInProcess + " to capture in this process)";
    if (ipc::is_other_file(path))
        return path + ": is not a socket (specify mapid's socket with MAPI_SOCKET, or " + remedy;
    return "mapid does not answer at " + path + " (start it, or " + remedy;
}
} // namespace

std::shared_ptr<Backend> Library::backend()
{
    const std::lock_guard lock(mutex_);
    if (local_)
        return local_;
    if (remote_ && remote_->is_alive())
        return remote_;
    const char *named = std::getenv("MAPI_SOCKET");
    const bool is_named = named && *named;
    const std::string path = ipc::socket_path(engine::is_mapid_local());
    std::shared_ptr<Connection> connection =
        is_named && std::string(named) == kInProcess ? nullptr : Connection::open(path);
    if (connection && remote_)
        forsake_flows();
    if (connection)
        return remote_ = std::make_shared<RemoteBackend>(std::move(connection));
    if (remote_ || (is_named && std::string(named) != kInProcess))
        throw Error(MCOM_INIT_SOCKET_ERROR, absence(path));
    return local_ = std::make_shared<LocalBackend>();
}

// A thread's clock is shared by all its flows: reads of a flow of the next mapid refresh it, too,
// so flows of the old one would never send a request again.
void Library::forsake_flows()
{
    const ReadSection section;
    flows.for_each([](Flow &flow) { flow.close_shortcuts(); });
}

constinit std::atomic<Library *> made_library = nullptr;

namespace
{
// A child of fork() must not read through its parent's shortcuts.
void forsake_parents_flows()
{
    made_library.load()->flows.for_each([](Flow &flow) { flow.close_shortcuts(); });
}
} // namespace

Library &library()
{
    static Library *const instance = [] {
        auto *const library = new Library;
        made_library.store(library, std::memory_order_release);
        pthread_atfork(nullptr, nullptr, forsake_parents_flows);
        return library;
    }();
    return *instance;
}
} // namespace mapi::client
