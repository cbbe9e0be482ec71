// SPDX-License-Identifier: MIT
// Service manager: unavailable in a build without libsystemd.
#include <cstdlib>
#include <stdexcept>

#include "daemon/reporting/service_manager.hpp"

namespace mapi::daemon
{
ipc::Descriptor inherited_socket()
{
    if (std::getenv("LISTEN_FDS"))
        throw std::runtime_error(
            "sockets of the service manager are unavailable: built without libsystemd");
    return {};
}

void tell_service_manager(const std::string &) {}
} // namespace mapi::daemon
