// SPDX-License-Identifier: MIT
// Service manager: a build without libsystemd knows none.
#include <cstdlib>
#include <stdexcept>

#include "daemon/reporting/service_manager.hpp"

namespace mapi::daemon
{
ipc::Descriptor inherited_socket()
{
    if (std::getenv("LISTEN_FDS"))
        throw std::runtime_error("this mapid was built without libsystemd and cannot take a socket from the service manager");
    return {};
}

void tell_service_manager(const std::string &)
{
}
} // namespace mapi::daemon
